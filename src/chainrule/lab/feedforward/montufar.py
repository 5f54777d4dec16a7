"""Claim: the best deep ReLU network has at least R(m) ⌊m/n⌋^{n(L-1)} linear regions (J 2.5).

    fold(x) = p x - 2 (p x - 1)₊ + 2 (p x - 2)₊ - …     p = ⌊m/n⌋ ReLUs: [0, 1] onto itself p times
    R(m, L) ≥ R(m) pⁿ⁽ᴸ⁻¹⁾,   R(m) = Σ_{i≤n} (m choose i)       theorem 2.9, for the best weights

Domain: the unit cube of ℝⁿ, n = 1, 2, 3. All layers but the last fold every coordinate, so that
pⁿ⁽ᴸ⁻¹⁾ small cubes are mapped onto the whole; the last layer cuts it by m hyperplanes in general
position that all meet inside. So the theorem's number is met exactly on the cube; outside there may
be more.
Measured: the largest relative difference between the formula and the linear regions counted:
maximal connected sets on which the network is one affine map.
Bound: exactly 0; both are whole numbers.
The notes count activation patterns, of which there may be more: where the whole last layer is off,
the network is constant, and if that cell touches a fold its mirror images are one linear region. So
the hyperplanes must be turned such that this cell lies inside the cube. Nor has every network as
many regions: random weights come nowhere near. Montúfar et al. (2014), NeurIPS.
"""

from collections.abc import Mapping
from functools import partial
from itertools import combinations
from typing import NamedTuple

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.models.feedforward.mlp import MLP
from chainrule.nn.box_regions import box_cells, linear_regions
from chainrule.nn.regions import layer_regions, montufar, zaslavsky

Sizes = Mapping[int, tuple[tuple[int, int], ...]]  # by n: width, most layers
SIZES: Sizes = {1: ((3, 3),), 2: ((4, 3), (5, 2)), 3: ((6, 2),)}
SMALL: Sizes = {1: ((3, 2),), 2: ((4, 2),)}
DRAWS = 200


class Weights(NamedTuple):
    """How a network is built."""

    folds: bool = True
    dead_units: int = 0
    constant_cell_inside: bool = True


BEST = Weights()


class Count(NamedTuple):
    """What a network has on the unit cube."""

    n: int
    m: int
    layers: int
    patterns: int
    regions: int


def check(seed: int = 0) -> Verdict:
    """The folding network; the seed draws its last layer and the random networks beside it."""
    return verdict(SIZES, seed)


def broken() -> Verdict:
    """Random weights instead."""
    return verdict(SMALL, 0, Weights(folds=False))


def near() -> Near:
    """Another formula, a unit that cuts nothing, and a constant cell that touches the folds."""
    return {
        **ten_percent("R(m, L)", lambda factor: verdict(SMALL, 0, factor=factor)),
        "one dead unit": partial(verdict, SMALL, 0, Weights(dead_units=1)),
        "patterns that are not regions": partial(
            verdict, SMALL, 0, Weights(constant_cell_inside=False)
        ),
    }


def verdict(
    sizes: Sizes,
    seed: int,
    weights: Weights = BEST,
    factor: float = 1.0,
) -> Verdict:
    """Regions of networks of these sizes against the formula."""
    generator = torch.Generator().manual_seed(seed)
    shapes = [(n, m, L) for n in sizes for m, most in sizes[n] for L in range(1, most + 1)]
    found = [count(n, m, L, weights, generator) for n, m, L in shapes]
    chance = [count(2, 4, L, Weights(folds=False), generator) for L in (1, 2, 3)]
    wrong = [abs(c.regions / (factor * montufar(c.n, c.m, c.layers)) - 1) for c in found]
    return Verdict(
        quantity="largest |linear regions / (R(m) ⌊m/n⌋^{n(L-1)}) - 1|",
        measured=max(wrong),
        relation="≤",
        bound=0.0,
        picture=picture(found, chance),
        details={
            "most linear regions": float(max(c.regions for c in found)),
            "most activation patterns": float(max(c.patterns for c in found)),
            "with random weights, n = 2, m = 4, L = 3": float(chance[-1].regions),
        },
    )


def picture(found: list[Count], chance: list[Count]) -> Picture:
    names = dict.fromkeys(f"n = {c.n}, m = {c.m}" for c in found)
    units = {name: [float(c.m * c.layers) for c in found if named(c) == name] for name in names}
    most = [float(k) for k in range(2, 13)]
    return Picture(
        title="Every folding layer multiplies the number of linear regions",
        x_label="hidden units in all layers, m L",
        y_label="linear regions on the unit cube",
        curves={
            name: (
                units[name],
                [float(montufar(c.n, c.m, c.layers)) for c in found if named(c) == name],
            )
            for name in names
        },
        points={
            **{
                name: (units[name], [float(c.regions) for c in found if named(c) == name])
                for name in names
            },
            "n = 2, m = 4, random weights": (
                [float(c.m * c.layers) for c in chance],
                [float(c.regions) for c in chance],
            ),
        },
        bounds={"most with one layer, n = 2": (most, [float(zaslavsky(int(k), 2)) for k in most])},
        log="y",
    )


def named(c: Count) -> str:
    return f"n = {c.n}, m = {c.m}"


def count(n: int, m: int, layers: int, weights: Weights, generator: torch.Generator) -> Count:
    """Activation patterns and linear regions on the unit cube."""
    build = folding if weights.folds else random
    network = build(n, m, layers, weights, generator)
    zero, one = torch.zeros(n, dtype=torch.float64), torch.ones(n, dtype=torch.float64)
    cells = box_cells(list(network.layers), zero, one)  # type: ignore[arg-type]
    return Count(n, m, layers, len(cells), int(linear_regions(cells).max()) + 1)


@torch.random.fork_rng()
@torch.no_grad()
def random(n: int, m: int, layers: int, weights: Weights, generator: torch.Generator) -> MLP:
    """The library's initial weights around the center of the cube."""
    torch.manual_seed(int(torch.randint(2**31, (), generator=generator)))
    network = MLP(n, [m] * layers, 1).double()
    first = network.layers[0]
    first.bias.copy_(-first.weight.sum(1) / 2)  # type: ignore[operator]
    return network


@torch.random.fork_rng()
@torch.no_grad()
def folding(n: int, m: int, layers: int, weights: Weights, generator: torch.Generator) -> MLP:
    """L - 1 layers that fold, and one that cuts; a remainder of m / n units is not used."""
    network = MLP(n, [m] * layers, 1).double()
    p, left = m // n, m % n
    slope = p * torch.tensor([1] + [2 * (-1) ** k for k in range(1, p)]).double()
    axes, pad = torch.eye(n).double(), torch.zeros(left, n).double()
    read = axes  # how a layer reads the folded coordinates from the units below
    for layer in network.layers[:-2]:
        layer.weight.copy_(torch.cat([axes.repeat_interleave(p, 0), pad]) @ read)  # type: ignore[operator]
        layer.bias.copy_(torch.cat([-(torch.arange(p) / p).repeat(n), pad[:, 0]]))  # type: ignore[operator]
        read = torch.cat([torch.block_diag(*[slope[None]] * n), pad.T], 1)
    W, b = cuts(n, m, weights.constant_cell_inside, generator)
    W[: weights.dead_units] = 0
    network.layers[-2].weight.copy_(W @ read)  # type: ignore[operator]
    network.layers[-2].bias.copy_(b)  # type: ignore[operator]
    outer = 1 + torch.rand(1, m, generator=generator, dtype=torch.float64)
    network.layers[-1].weight.copy_(outer)  # type: ignore[operator]
    return network


def cuts(
    n: int, m: int, constant_cell_inside: bool, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """m hyperplanes in general position that meet within 0.4 of the center, and their sides.

    Of many random draws the one with the nearest corners is kept. The cell on which all units are
    off lies between the hyperplanes, or else extends to infinity.
    """
    W = torch.randn(DRAWS, m, n, generator=generator, dtype=torch.float64)
    W = W / W.norm(dim=2, keepdim=True)
    b = torch.rand(DRAWS, m, generator=generator, dtype=torch.float64) - 0.5
    chosen = torch.tensor(list(combinations(range(m), n)))
    corners = torch.linalg.solve(W[:, chosen], -b[:, chosen][..., None])[..., 0]
    reach = corners.norm(dim=2).amax(1) / b.abs().amin(1)
    best = int(reach.argmin())
    W, b = W[best], b[best] * 0.4 / corners[best].norm(dim=1).max()
    patterns = layer_regions(W, b).patterns
    opposite = (~patterns[:, None] == patterns).all(2).any(1)  # of a cell without end
    off = patterns[opposite != constant_cell_inside][0]
    sign = torch.where(off, -1.0, 1.0).double()
    return sign[:, None] * W, sign * (b - W.sum(1) / 2)
