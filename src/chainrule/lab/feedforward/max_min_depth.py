"""Claim: a continuous piecewise linear function of several variables is a ReLU network (J 2.5).

    f(x) = max_j min_{i ∈ S_j} (a_i ᵀ x + b_i)      S_j: pieces above f wherever f has piece j
    hidden layers = ⌈log₂ s⌉ + ⌈log₂ k⌉             for k minima of s pieces each

J states Lebesgue's theorem for one variable (`lebesgue`); this is its counterpart in n dimensions.
Measured: the largest difference between the function and its network, relative to the sum of the
network's weights: for functions of the plane with the pieces of random networks on a square, and
for random maxima of minima in 3 and 5 dimensions.
Bound: 1e-13; sums in another order in double precision. The depth must be met exactly.
Tarela and Martínez (1999), Math. Comput. Modelling 30; Arora et al. (2018), ICLR, theorem 2.1.
"""

from functools import partial
from math import ceil, log2

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.models.feedforward.max_min_network import MaxMinNetwork, lattice, max_min
from chainrule.models.feedforward.mlp import MLP
from chainrule.nn.regions import plane_regions

ROUNDING = 1e-13
SIZES = ((3, 2, 2), (3, 3, 4), (5, 5, 3), (5, 8, 4))  # n, k, s
RADIUS = 2.0


def check(functions: int = 5, units: int = 4, seed: int = 0) -> Verdict:
    """Continuous functions.

    Args:
        functions: Random functions of the plane, and of each number of variables.
        units: Hidden units of the networks whose pieces are taken.
    """
    return verdict(functions, units, seed)


def broken() -> Verdict:
    """One piece is raised by 1, so that the function jumps at its border."""
    return verdict(1, 4, 0, jump=1.0)


def near() -> Near:
    """A small jump, another constant for the ½ of the maximum, and another depth."""
    few = partial(verdict, 1, 4, 0)
    return {
        "a jump of 0.001": partial(few, jump=1e-3),
        "a jump of 1e-9": partial(few, jump=1e-9),
        **ten_percent("½ of the last maximum", lambda factor: few(half=factor)),
        "one layer less": partial(few, layers=-1),
    }


@torch.no_grad()
def verdict(
    functions: int, units: int, seed: int, jump: float = 0.0, half: float = 1.0, layers: int = 0
) -> Verdict:
    """Functions against their networks; `half` scales the last layer of the network."""
    generator = torch.Generator().manual_seed(seed)
    worst, deep = 0.0, True
    for _ in range(functions):
        for n, k, s in SIZES:
            slopes = torch.randn(k, s, n, generator=generator, dtype=torch.float64)
            offsets = torch.randn(k, s, generator=generator, dtype=torch.float64)
            x = torch.randn(100, n, generator=generator, dtype=torch.float64)
            f = max_min(slopes, offsets, x)
            network = scaled(slopes, offsets, half)
            worst = max(worst, difference(network, x, f))
            deep &= len(network.layers) - 1 == ceil(log2(s)) + ceil(log2(k)) + layers
        x, f, network = of_the_plane(units, jump, half, generator)
        worst = max(worst, difference(network, x, f))
    return Verdict(
        quantity="largest relative |network - function|",
        measured=worst,
        relation="≤",
        bound=ROUNDING,
        conditions={"⌈log₂ s⌉ + ⌈log₂ k⌉ hidden layers": deep},
        picture=picture(generator),
        details={"hidden layers for the last function": float(len(network.layers) - 1)},
    )


def of_the_plane(
    units: int, jump: float, half: float, generator: torch.Generator
) -> tuple[Tensor, Tensor, MaxMinNetwork]:
    """Points of a square, a function by its pieces, and the network of its maximum of minima."""
    with torch.random.fork_rng():
        torch.manual_seed(int(torch.randint(2**31, (), generator=generator)))
        model = MLP(2, [units], 1).double()
    model.layers[0].bias.copy_(torch.randn(units, generator=generator))  # type: ignore[operator]
    plane = torch.eye(2, dtype=torch.float64)
    pieces = plane_regions(list(model.layers), plane[0] * 0, plane, RADIUS)  # type: ignore[arg-type]
    network = scaled(*lattice(pieces.weights[:, 0], pieces.biases[:, 0], pieces.polygons), half)
    x = RADIUS * (2 * torch.rand(400, 2, generator=generator, dtype=torch.float64) - 1)
    raised = (model.layers[0](x) > 0).eq(pieces.patterns[0]).all(1)
    return x, model(x)[:, 0] + jump * raised, network


def scaled(slopes: Tensor, offsets: Tensor, half: float) -> MaxMinNetwork:
    """The network, with another ½ in its last maximum."""
    network = MaxMinNetwork(slopes, offsets)
    network.layers[-1].weight.mul_(half)  # type: ignore[operator]
    return network


def difference(network: MaxMinNetwork, x: Tensor, f: Tensor) -> float:
    """max |network - f| / Σ |weights|."""
    size = torch.stack([p.abs().sum() for p in network.parameters()]).sum()
    return ((network(x)[:, 0] - f).abs().max() / size).item()


def picture(generator: torch.Generator) -> Picture:
    """Depth and width by the number of pieces."""
    numbers = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32]
    found = []
    for k in numbers:
        slopes = torch.randn(k, 1, 2, generator=generator)
        found.append(float(len(MaxMinNetwork(slopes, torch.zeros(k, 1)).layers) - 1))
    fine = [float(k) for k in range(1, 33)]
    return Picture(
        title="The maximum of k affine functions takes ⌈log₂ k⌉ hidden layers",
        x_label="affine functions k",
        y_label="hidden layers",
        curves={"⌈log₂ k⌉": (fine, [float(ceil(log2(k))) for k in fine])},
        points={"network": ([float(k) for k in numbers], found)},
        log="x",
    )
