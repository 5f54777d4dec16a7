"""Claim: an LSTM's output gate depends on the input and the last output, not on its cell (A 2.4).

    o_t = σ(W_o [h_{t-1}, x_t] + b_o),   h_t = o_t ⊙ tanh C_t         A prints σ(W_o [h_{t-1}, C_t])

Measured: the library's layer takes one step from many cell states C_{t-1}; the largest difference
between h_t / tanh C_t and the formula.
Bound: 1e-12; a quotient of numbers in double precision has an error of a few 1.1e-16.
With C_t the gate would change with the cell. A gate that sees the cell in addition to x_t is the
peephole of Gers and Schmidhuber (2000). Hochreiter and Schmidhuber (1997).
"""

from functools import partial

import torch

from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.models.recurrent import LSTM

BOUND = 1e-12
WIDTH = 6


def check(states: int = 61, seed: int = 0) -> Verdict:
    """The gate computed from [h, x].

    Args:
        states: Cell states between -4 and 4.
    """
    return verdict(states, seed, printed=False)


def broken() -> Verdict:
    """The gate computed from [h, C], as printed."""
    return verdict(61, 0, printed=True)


def near() -> Near:
    """A peephole: the gate sees a little of the cell as well."""
    return {f"[h, x + {share} C]": partial(verdict, 61, 0, peephole=share) for share in (0.1, 1e-3)}


def verdict(states: int, seed: int, printed: bool = False, peephole: float = 0.0) -> Verdict:
    """One step from cells between -4 and 4, all else equal."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        layer = LSTM(WIDTH, WIDTH).double()
        x, h = torch.randn(2, 1, WIDTH, dtype=torch.float64).tanh().unbind()
    cells = torch.linspace(-4, 4, states, dtype=torch.float64)[:, None].expand(-1, WIDTH)
    x, h = x.expand(states, -1), h.expand(states, -1)
    with torch.no_grad():
        _, (h_t, c_t) = layer(x[:, None], (h, cells.contiguous()))
        W, U, b, c = (t[3 * WIDTH :] for t in layer.kernel.all_weights[0])
        right, wrong = (
            torch.sigmoid(seen @ W.T + h @ U.T + b + c) for seen in (x + peephole * c_t, c_t)
        )
    gate = h_t / c_t.tanh()
    worst = (gate - (wrong if printed else right)).abs().max().item()
    along, one = c_t[:, 0].tolist(), (slice(None), 0)
    return Verdict(
        quantity="largest |h_t / tanh C_t - o_t|",
        measured=worst,
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="The output gate does not depend on the cell state",
            x_label="cell state C_t",
            y_label="output gate o_t = h_t / tanh C_t",
            curves={
                "from [h, x]": (along, right[one].tolist()),
                "from [h, C], as printed": (along, wrong[one].tolist()),
            },
            points={"the library's layer": (along[::2], gate[one].tolist()[::2])},
        ),
    )
