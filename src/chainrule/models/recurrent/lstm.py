"""LSTM: a cell state that three gates write, keep and expose.

    i = σ(W_i x_t + U_i h_{t-1} + b_i)        input gate
    f = σ(W_f x_t + U_f h_{t-1} + b_f)        forget gate
    g = tanh(W_g x_t + U_g h_{t-1} + b_g)     candidate
    o = σ(W_o x_t + U_o h_{t-1} + b_o)        output gate
    c_t = f ⊙ c_{t-1} + i ⊙ g,   h_t = o ⊙ tanh c_t

The standard form, computed by torch's kernel; `torch_conversion` exchanges weights with
torch.nn.LSTM. The forget bias starts at 1, so that a new cell remembers a few steps: after T steps
0.73ᵀ of its content is left. `remember` spreads the biases for longer times. `notes_lstm` is J's
form.

Hochreiter and Schmidhuber (1997), Neural Computation 9; forget gate: Gers, Schmidhuber and Cummins
(2000); biases: Tallec and Ollivier (2018), ICLR. Notes: A 2.4 (whose output gate sees C_t in place
of x_t), J 5.1.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.arguments import Count, TwoOrMore, checked
from chainrule.models.recurrent.recurrent import Recurrent, State
from chainrule.models.recurrent.sequence_classifier import SequenceClassifier
from chainrule.nn.sequences import pack, unpack


@checked
class LSTM(Recurrent):
    """Long short-term memory.

        i, f, o = σ(W x_t + U h_{t-1} + b)        each with its own W, U, b
        g   = tanh(W_g x_t + U_g h_{t-1} + b_g)
        c_t = f ⊙ c_{t-1} + i ⊙ g
        h_t = o ⊙ tanh c_t

    The state is (h, c), the output h.

    Args:
        input_size: Features of each step.
        hidden_size: Number of cells.

    >>> import torch
    >>> from chainrule.models.recurrent import LSTM
    >>> outputs, (h, c) = LSTM(4, 8)(torch.zeros(2, 5, 4))
    >>> outputs.shape, c.shape
    (torch.Size([2, 5, 8]), torch.Size([2, 8]))
    """

    def __init__(self, input_size: Count, hidden_size: Count):
        super().__init__(input_size, hidden_size, ((hidden_size,), (hidden_size,)))
        self.kernel = nn.LSTM(input_size, hidden_size, batch_first=True)
        for bias in self.kernel.all_weights[0][2:]:
            nn.init.zeros_(bias)
        nn.init.ones_(self.kernel.all_weights[0][2].data[hidden_size : 2 * hidden_size])

    @torch.no_grad()
    def remember(self, max_steps: TwoOrMore) -> None:
        """Draw b_f = log u, u ~ Unif[1, max_steps], and set b_i = -b_f (chrono initialization)."""
        m, bias = self.hidden_size, self.kernel.all_weights[0][2]
        bias[m : 2 * m] = chrono_bias(m, max_steps)
        bias[:m] = -bias[m : 2 * m]

    def forward(
        self,
        x: Float[Tensor, "batch steps input_size"],
        state: State | None = None,
        lengths: Int[Tensor, " batch"] | None = None,
    ) -> tuple[Float[Tensor, "batch steps hidden_size"], State]:
        self.check_input(x, lengths)
        before = self.starting_state(x, state)
        h, (h_T, c_T) = self.kernel(pack(x, lengths), tuple(s[None] for s in before))
        return unpack(h, x.shape[1]), (h_T[0], c_T[0])


def lstm_step(
    x: Float[Tensor, "batch n"],
    h: Float[Tensor, "batch m"],
    c: Float[Tensor, "batch m"],
    W: Float[Tensor, "4*m n"],
    U: Float[Tensor, "4*m m"],
    b: Float[Tensor, " 4*m"],
) -> tuple[Float[Tensor, "batch m"], Float[Tensor, "batch m"]]:
    """(h_t, c_t); the rows of W, U and b belong to i, f, g and o in this order."""
    i, f, g, o = (x @ W.T + h @ U.T + b).chunk(4, 1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


def chrono_bias(units: Count, max_steps: TwoOrMore) -> Float[Tensor, " units"]:
    """log u, u ~ Unif[1, max_steps]: a gate σ(log u) forgets in about u steps."""
    return torch.log(torch.empty(units).uniform_(1, max_steps))


def example() -> tuple[SequenceClassifier, Tensor]:
    """A classifier of six steps into three classes, with eight cells."""
    return SequenceClassifier(LSTM(4, 8), 3), torch.randn(5, 6, 4)
