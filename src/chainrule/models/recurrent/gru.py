"""GRU: one state, and a gate that chooses between keeping and renewing it.

    r = σ(W_r x_t + U_r h_{t-1} + b_r)                  reset gate
    z = σ(W_z x_t + U_z h_{t-1} + b_z)                  update gate
    n = tanh(W_n x_t + b_n + r ⊙ (U_n h_{t-1} + c_n))   candidate
    h_t = z ⊙ h_{t-1} + (1 - z) ⊙ n

The standard form, computed by torch's kernel; `torch_conversion` exchanges weights with
torch.nn.GRU. `remember` spreads the biases of the update gate for long times. The reset gate acts
after the product with U_n; in `notes_gru`, J's form, it acts before.

Cho et al. (2014), EMNLP. Notes: J 5.1 (which mixes in ζ_t, the reset gate, in place of the
candidate), A 2.4.1.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.arguments import Count, TwoOrMore, checked
from chainrule.models.recurrent.lstm import chrono_bias
from chainrule.models.recurrent.recurrent import Recurrent, State
from chainrule.models.recurrent.sequence_classifier import SequenceClassifier
from chainrule.nn.sequences import pack, unpack


@checked
class GRU(Recurrent):
    """Gated recurrent unit.

        r, z = σ(W x_t + U h_{t-1} + b)           each with its own W, U, b
        n    = tanh(W_n x_t + b_n + r ⊙ (U_n h_{t-1} + c_n))
        h_t  = z ⊙ h_{t-1} + (1 - z) ⊙ n

    The state is the output h.

    Args:
        input_size: Features of each step.
        hidden_size: Number of units.

    >>> import torch
    >>> from chainrule.models.recurrent import GRU
    >>> outputs, state = GRU(4, 8)(torch.zeros(2, 5, 4))
    >>> outputs.shape, state.shape
    (torch.Size([2, 5, 8]), torch.Size([2, 8]))
    """

    def __init__(self, input_size: Count, hidden_size: Count):
        super().__init__(input_size, hidden_size)
        self.kernel = nn.GRU(input_size, hidden_size, batch_first=True)
        for bias in self.kernel.all_weights[0][2:]:
            nn.init.zeros_(bias)

    @torch.no_grad()
    def remember(self, max_steps: TwoOrMore) -> None:
        """Draw b_z = log u, u ~ Unif[1, max_steps] (chrono initialization)."""
        m, bias = self.hidden_size, self.kernel.all_weights[0][2]
        bias[m : 2 * m] = chrono_bias(m, max_steps)

    def forward(
        self,
        x: Float[Tensor, "batch steps input_size"],
        state: State | None = None,
        lengths: Int[Tensor, " batch"] | None = None,
    ) -> tuple[Float[Tensor, "batch steps hidden_size"], State]:
        self.check_input(x, lengths)
        (before,) = self.starting_state(x, state)
        h, h_T = self.kernel(pack(x, lengths), before[None])
        return unpack(h, x.shape[1]), h_T[0]


def gru_step(
    x: Float[Tensor, "batch n"],
    h: Float[Tensor, "batch m"],
    W: Float[Tensor, "3*m n"],
    U: Float[Tensor, "3*m m"],
    b: Float[Tensor, " 3*m"],
    c: Float[Tensor, " 3*m"],
) -> Float[Tensor, "batch m"]:
    """h_t; the rows of W, U, b and c belong to r, z and n in this order; r and z add b and c."""
    (r, z, n), (r_h, z_h, n_h) = (x @ W.T + b).chunk(3, 1), (h @ U.T + c).chunk(3, 1)
    r, z = (r + r_h).sigmoid(), (z + z_h).sigmoid()
    return z * h + (1 - z) * (n + r * n_h).tanh()


def example() -> tuple[SequenceClassifier, Tensor]:
    """A classifier of six steps into three classes, with eight units."""
    return SequenceClassifier(GRU(4, 8), 3), torch.randn(5, 6, 4)
