"""LSTM: a cell that keeps what it is told to keep, behind three gates.

    i = σ(W_i x_t + U_i h_{t-1} + b_i)        what of the new is let in
    f = σ(W_f x_t + U_f h_{t-1} + b_f)        what of the old is kept
    g = tanh(W_g x_t + U_g h_{t-1} + b_g)     the new
    o = σ(W_o x_t + U_o h_{t-1} + b_o)        what is shown
    c_t = f ⊙ c_{t-1} + i ⊙ g,   h_t = o ⊙ tanh c_t

The form in use everywhere, computed by torch's kernel; weights exchange with torch.nn.LSTM (see
`exchange`). The forget bias starts at 1, so that a new cell remembers. `notes_lstm` is J's form.

Hochreiter and Schmidhuber (1997), Neural Computation 9; forget gate: Gers, Schmidhuber and Cummins
(2000). Notes: A 2.4 (whose output gate sees C_t in place of x_t), J 5.1.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.models.recurrent.recurrent import Recurrent, State
from chainrule.models.recurrent.sequence_classifier import SequenceClassifier
from chainrule.nn.sequences import packed, unpacked


class LSTM(Recurrent):
    """m cells; the state is (h, c), the output h."""

    def __init__(self, inputs: int, width: int):
        super().__init__(inputs, width, ((width,), (width,)))
        self.kernel = nn.LSTM(inputs, width, batch_first=True)
        for bias in self.kernel.all_weights[0][2:]:
            nn.init.zeros_(bias)
        nn.init.ones_(self.kernel.all_weights[0][2].data[width : 2 * width])

    def forward(
        self,
        x: Float[Tensor, "batch steps inputs"],
        state: State | None = None,
        lengths: Int[Tensor, " batch"] | None = None,
    ) -> tuple[Float[Tensor, "batch steps width"], State]:
        self.check(x, lengths)
        before = self.begin(x, state)
        h, (h_T, c_T) = self.kernel(packed(x, lengths), tuple(s[None] for s in before))
        return unpacked(h, x.shape[1]), (h_T[0], c_T[0])


def lstm_step(
    x: Float[Tensor, "batch n"],
    h: Float[Tensor, "batch m"],
    c: Float[Tensor, "batch m"],
    W: Float[Tensor, "4*m n"],
    U: Float[Tensor, "4*m m"],
    b: Float[Tensor, " 4*m"],
) -> tuple[Float[Tensor, "batch m"], Float[Tensor, "batch m"]]:
    """(h_t, c_t); the rows of W, U and b are those of i, f, g and o in turn."""
    i, f, g, o = (x @ W.T + h @ U.T + b).chunk(4, 1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


def example() -> tuple[SequenceClassifier, Tensor]:
    """Eight cells that read six steps and answer with three classes."""
    return SequenceClassifier(LSTM(4, 8), 3), torch.randn(5, 6, 4)
