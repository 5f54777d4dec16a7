"""GRU: one state, and a gate that chooses between keeping and renewing it.

    r = σ(W_r x_t + U_r h_{t-1} + b_r)                  reset: what of the old the new may see
    z = σ(W_z x_t + U_z h_{t-1} + b_z)                  update: what is kept
    n = tanh(W_n x_t + b_n + r ⊙ (U_n h_{t-1} + c_n))   the new
    h_t = z ⊙ h_{t-1} + (1 - z) ⊙ n

The form in use everywhere, computed by torch's kernel; weights exchange with torch.nn.GRU (see
`exchange`). Its reset gate acts behind the product with U_n; `notes_gru`, J's form, has it before.

Cho et al. (2014), EMNLP. Notes: J 5.1 (which mixes in ζ_t, the reset gate, in place of the
candidate), A 2.4.1.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.models.recurrent.recurrent import Recurrent, State
from chainrule.models.recurrent.sequence_classifier import SequenceClassifier
from chainrule.nn.sequences import packed, unpacked


class GRU(Recurrent):
    """m units; the state is the output."""

    def __init__(self, inputs: int, width: int):
        super().__init__(inputs, width)
        self.kernel = nn.GRU(inputs, width, batch_first=True)
        for bias in self.kernel.all_weights[0][2:]:
            nn.init.zeros_(bias)

    def forward(
        self,
        x: Float[Tensor, "batch steps inputs"],
        state: State | None = None,
        lengths: Int[Tensor, " batch"] | None = None,
    ) -> tuple[Float[Tensor, "batch steps width"], State]:
        self.check(x, lengths)
        (before,) = self.begin(x, state)
        h, h_T = self.kernel(packed(x, lengths), before[None])
        return unpacked(h, x.shape[1]), h_T[0]


def gru_step(
    x: Float[Tensor, "batch n"],
    h: Float[Tensor, "batch m"],
    W: Float[Tensor, "3*m n"],
    U: Float[Tensor, "3*m m"],
    b: Float[Tensor, " 3*m"],
    c: Float[Tensor, " 3*m"],
) -> Float[Tensor, "batch m"]:
    """h_t; the rows of W, U, b and c are those of r, z and n in turn (b and c of a gate add up)."""
    (r, z, n), (r_h, z_h, n_h) = (x @ W.T + b).chunk(3, 1), (h @ U.T + c).chunk(3, 1)
    r, z = (r + r_h).sigmoid(), (z + z_h).sigmoid()
    return z * h + (1 - z) * (n + r * n_h).tanh()


def example() -> tuple[SequenceClassifier, Tensor]:
    """Eight units that read six steps and answer with three classes."""
    return SequenceClassifier(GRU(4, 8), 3), torch.randn(5, 6, 4)
