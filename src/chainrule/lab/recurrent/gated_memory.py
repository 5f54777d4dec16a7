"""Claim: a gated cell keeps its gradient over T steps where an Elman network's vanishes (J 5.1).

    c_t = f_t ⊙ c_{t-1} + i_t ⊙ g_t,   b_f = -b_i = log T
                                          ⇒   ∂c_T/∂c_0 ≈ σ(log T)ᵀ = (T / (T + 1))ᵀ > 1/e
    z_t = tanh(U z_{t-1} + …),  UᵀU = I   ⇒   ‖∂z_T/∂z_0‖ ≤ ∏ max φ'_t,  falling exponentially

Measured: the norms of ∂c_T/∂c_0 of LSTMs with these biases, of ∂h_T/∂h_0 of GRUs with log T in the
update gate, and of ∂z_T/∂z_0 of Elman networks, for T = 5 … `max_length` Gaussian inputs; the
smallest of the gated ones.
Bound: at least 1/10; Elman's must be below 1/1000 at the largest T. The gates' own inputs, of
standard deviation below 1/2, change 1/e by less than a factor of e; Elman's factor per step is
about 0.7.
Hochreiter and Schmidhuber (1997); for the biases Tallec and Ollivier (2018), ICLR. A 2.4,
L "RNN: Training".
"""

import math

import torch
from torch import Tensor

from chainrule.lab.claim import Picture, Verdict
from chainrule.models.recurrent import GRU, LSTM, Elman
from chainrule.models.recurrent.recurrent import Recurrent, state_tensors

UNITS = 16
KEPT, FORGOTTEN = 0.1, 1e-3


def check(max_length: int = 100, seed: int = 0) -> Verdict:
    """Biases that keep the cell.

    Args:
        max_length: Largest number of steps T.
    """
    return verdict(max_length, seed, sign=1)


def broken() -> Verdict:
    """Biases that make the gates forget."""
    return verdict(60, 0, sign=-1)


def verdict(longest: int, seed: int, sign: int) -> Verdict:
    """Gradient through time by length."""
    lengths = [T for T in (5, 10, 20, 30, 45, 60, 80) if longest > T] + [max(30, longest)]
    norms: dict[str, list[float]] = {"LSTM": [], "GRU": [], "Elman": []}
    for T in lengths:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            layers: dict[str, Recurrent] = {
                "LSTM": LSTM(2, UNITS),
                "GRU": GRU(2, UNITS),
                "Elman": Elman(2, UNITS),
            }
            x, start = torch.randn(1, T, 2).double(), 0.5 * torch.randn(1, UNITS).double()
        for name, layer in layers.items():
            if isinstance(layer, LSTM | GRU):
                bias = layer.kernel.all_weights[0][2].data
                bias[UNITS : 2 * UNITS] = sign * math.log(T)  # what keeps
            if isinstance(layer, LSTM):
                bias[:UNITS] = -sign * math.log(T)  # what lets in
            norms[name].append(through(layer.double(), x, start))
    kept, elman = min(norms["LSTM"] + norms["GRU"]), norms["Elman"][-1]
    times = [float(T) for T in lengths]
    return Verdict(
        quantity="smallest gradient norm of the gated cells",
        measured=kept,
        relation="≥",
        bound=KEPT,
        conditions={"Elman's gradient ≤ 1/1000 at the largest T": elman <= FORGOTTEN},
        picture=Picture(
            title="Gates keep the gradient for as long as their biases are set to",
            x_label="steps T",
            y_label="‖∂ memory after T steps / ∂ memory‖₂",
            curves={
                "a gate by itself, (T / (T + 1))ᵀ": (times, [(T / (T + 1)) ** T for T in times])
            },
            points={name: (times, found) for name, found in norms.items()},
        ),
        details={"Elman at the end": elman},
    )


def through(layer: Recurrent, x: Tensor, start: Tensor) -> float:
    """‖∂(memory at T)/∂(memory at 0)‖₂; memory is the last part of the state: c, h or z."""
    memory = start.repeat(UNITS, 1).requires_grad_()
    rest = [torch.zeros(UNITS, UNITS).double() for _ in layer.state_shapes[1:]]
    state = (*rest, memory) if rest else memory
    _, after = layer(x.expand(UNITS, -1, -1), state)
    (jacobian,) = torch.autograd.grad(state_tensors(after)[-1].diagonal().sum(), memory)
    return torch.linalg.matrix_norm(jacobian, 2).item()
