"""Mean squares of the signals in random ReLU networks, for every initialization.

    v_1 = k σ² v_0,    v_{l+1} = ½ k σ² v_l       k = n inputs forward, k = m outputs backward

An exact mean over weights with a symmetric law: given the layers before it, a ReLU is on with
probability ½, however large its weights are. He et al. (2015).
"""

from collections.abc import Callable, Mapping, Sequence

import torch
from scipy.stats import t
from torch import Tensor

from chainrule.errors import InputError
from chainrule.models.feedforward.mlp import MLP
from chainrule.nn.initialization import SIGMA

VARIANCES: dict[str, Callable[[int, int], float]] = {
    "kaiming": lambda n, m: 2 / n,
    "lecun": lambda n, m: 1 / n,
    "xavier": lambda n, m: 2 / (n + m),
    "normal": lambda n, m: SIGMA**2,
    "orthogonal": lambda n, m: 1 / max(n, m),
    "kaiming-uniform": lambda n, m: 2 / n,
    "lecun-uniform": lambda n, m: 1 / n,
    "xavier-uniform": lambda n, m: 2 / (n + m),
    "uniform": lambda n, m: SIGMA**2,
}
DRAWN = ("kaiming", "xavier", "normal")
WIDTHS = (192, 96) * 3 + (192,)  # alternating, so that n and m differ
INPUTS = 32  # signals through each network, which share its weights
LAYERS = [float(layer) for layer in range(len(WIDTHS))]
LEVEL = 1e-6  # one seed in 10⁶ exceeds the bound


def mean_squares(
    signals: Callable[[MLP], Sequence[Tensor]], networks: int, seed: int
) -> dict[str, Tensor]:
    """(networks, layers): v_0, v_1, … of random networks of every initialization."""
    if networks < 10:
        raise InputError(f"`networks` must be at least 10 for a standard error, got {networks}")
    found = {}
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        for name in VARIANCES:
            squares = [
                [signal.square().mean() for signal in signals(network(name))]
                for _ in range(networks)
            ]
            found[name] = torch.tensor(squares, dtype=torch.float64)
    return found


def network(name: str) -> MLP:
    return MLP(WIDTHS[0], WIDTHS[1:-1], WIDTHS[-1], initialization=name)


def predictions(
    sizes: Sequence[tuple[int, int]], count: Callable[[int, int], float], start: float
) -> dict[str, Tensor]:
    """v_0, v_1, … through layers of sizes (n, m); `count` gives the k of each."""
    found = {}
    for name, variance in VARIANCES.items():
        first, *others = [count(n, m) * variance(n, m) for n, m in sizes]
        gains = [1.0, first, *(gain / 2 for gain in others)]
        found[name] = start * torch.tensor(gains, dtype=torch.float64).cumprod(0)
    return found


def distance(
    measured: Mapping[str, Tensor], predicted: Mapping[str, Tensor]
) -> tuple[float, float]:
    """The largest |mean - predicted| of v_1, v_2, … in standard errors, and its bound.

    The errors are those of the networks' own spread; the bound is Student's quantile that all
    layers of all initializations together exceed for one seed in 10⁶.
    """
    worst = 0.0
    for name, v in measured.items():
        error = v.std(0) / len(v) ** 0.5
        worst = max(worst, ((v.mean(0) - predicted[name]).abs() / error)[1:].max().item())
    return worst, float(t.isf(LEVEL / 2 / len(measured) / (len(WIDTHS) - 1), len(v) - 1))


def by_layer(found: Mapping[str, Tensor]) -> dict[str, tuple[list[float], list[float]]]:
    """The series of three initializations."""
    return {name: (LAYERS, found[name].tolist()) for name in DRAWN}
