"""Mean squares of the signals in random ReLU networks, for every initialization.

    v_1 = k σ² v_0,    v_{l+1} = ½ k σ² v_l       k = n inputs forward, k = m outputs backward

An exact mean over weights with a symmetric law: given the layers before it, a ReLU is on with
probability ½, however large its weights are. He et al. (2015).
"""

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

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
LAYERS = [float(layer) for layer in range(len(WIDTHS))]
ERRORS = 8.0  # standard errors, which one mean of these skewed values exceeds for one seed in 10⁷


def mean_squares(
    signals: Callable[[MLP], Sequence[Tensor]], networks: int, seed: int
) -> dict[str, Tensor]:
    """v_0, v_1, … of every initialization, over random networks."""
    found = {}
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        for name in VARIANCES:
            squares = [
                [signal.square().mean() for signal in signals(network(name))]
                for _ in range(networks)
            ]
            found[name] = torch.tensor(squares, dtype=torch.float64).mean(0)
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
    measured: Mapping[str, Tensor], predicted: Mapping[str, Tensor], networks: int
) -> float:
    """The largest |v / predicted - 1| in standard errors √((Π_l (1 + 5/n_l) - 1) / N).

    Those of Gaussian weights: 5 = E r⁴ / (E r²)² - 1 for r = max(0, z), z normal. Uniform and
    orthogonal ones vary less. Hanin and Nica (2019).
    """
    growth = torch.tensor([1 + 5 / n for n in WIDTHS]).cumprod(0) - 1
    error = (growth / networks).sqrt()
    return max(
        ((v / predicted[name] - 1).abs() / error).max().item() for name, v in measured.items()
    )


def by_layer(found: Mapping[str, Tensor]) -> dict[str, tuple[list[float], list[float]]]:
    """The series of three initializations."""
    return {name: (LAYERS, found[name].tolist()) for name in DRAWN}
