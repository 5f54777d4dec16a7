"""Claim: a deep ReLU network that folds the plane has R(m) ⌊m/n⌋^{n(L-1)} linear regions (J 2.5).

    fold(x) = p x - 2 (p x - 1)₊ + 2 (p x - 2)₊ - …     p = ⌊m/n⌋ ReLUs: [0, 1] onto itself p times
    R(m, L) ≥ R(m) pⁿ⁽ᴸ⁻¹⁾                              theorem 2.9, for the best weights

All layers but the last fold every coordinate of the unit square, so that pⁿ⁽ᴸ⁻¹⁾ small squares are
mapped onto the same picture; the last layer cuts it by m lines in general position, tangents of a
circle.
Measured: regions counted exactly on the unit square divided by the formula; the smallest ratio for
n = 2, widths 4 and 6 and up to `units` units.
Bound: 1, by the theorem, which covers all of ℝⁿ.
Random weights come nowhere near. Montúfar et al. (2014), NeurIPS.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.models.feedforward.mlp import MLP
from chainrule.nn.regions import montufar, plane_regions, zaslavsky

WIDTHS = (4, 6)


def check(units: int = 18, seed: int = 0) -> Verdict:
    """The folding network; the seed draws the random networks beside it.

    Args:
        units: Largest number of hidden units in all layers together.
    """
    return verdict(folding, units, seed)


def broken() -> Verdict:
    """Random weights instead."""
    return verdict(random, 12, 0)


def near() -> Near:
    """One unit of the last layer that cuts nothing."""

    def dead(m: int, layers: int, seed: int) -> MLP:
        network = folding(m, layers, seed)
        with torch.no_grad():
            network.layers[-2].weight[0] = 0  # type: ignore[operator]
        return network

    return {"one dead unit": lambda: verdict(dead, 8, 0)}


def verdict(build: Callable[[int, int, int], MLP], units: int, seed: int) -> Verdict:
    """Regions on the unit square by the number of units."""
    depths = {m: range(1, max(units // m, 1) + 1) for m in WIDTHS}
    counts = {m: [regions(build(m, L, seed)) for L in depths[m]] for m in WIDTHS}
    formula = {m: [montufar(2, m, L) for L in depths[m]] for m in WIDTHS}
    by_chance = [regions(random(WIDTHS[0], L, seed)) for L in depths[WIDTHS[0]]]
    ratios = [c / f for m in WIDTHS for c, f in zip(counts[m], formula[m], strict=True)]
    x = {m: [float(m * L) for L in depths[m]] for m in WIDTHS}
    one_layer = [float(n) for n in range(WIDTHS[0], max(units, WIDTHS[-1]) + 1)]
    return Verdict(
        quantity="smallest regions / (R(m) ⌊m/n⌋^{n(L-1)})",
        measured=min(ratios),
        relation="≥",
        bound=1.0,
        picture=Picture(
            title="Every folding layer multiplies the number of regions",
            x_label="total hidden units, m L",
            y_label="linear regions on the unit square",
            curves={f"layers of {m}": (x[m], [float(f) for f in formula[m]]) for m in WIDTHS},
            points={
                **{f"layers of {m}": (x[m], [float(c) for c in counts[m]]) for m in WIDTHS},
                f"layers of {WIDTHS[0]}, random weights": (
                    x[WIDTHS[0]],
                    [float(c) for c in by_chance],
                ),
            },
            bounds={
                "most with one layer": (one_layer, [float(zaslavsky(int(n), 2)) for n in one_layer])
            },
            log="y",
        ),
        details={"most regions": float(max(map(max, counts.values())))},
    )


def regions(network: MLP) -> int:
    """Linear regions inside the unit square."""
    center = torch.full((2,), 0.5, dtype=torch.float64)
    return len(plane_regions(list(network.layers), center, torch.eye(2).double(), 0.5))  # type: ignore[arg-type]


def random(m: int, layers: int, seed: int) -> MLP:
    """The library's initial weights around the center of the square."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        network = MLP(2, [m] * layers, 1).double()
    with torch.no_grad():
        first = network.layers[0]
        first.bias.copy_(-first.weight.sum(1) / 2)  # type: ignore[operator]
    return network


@torch.random.fork_rng()
@torch.no_grad()
def folding(m: int, layers: int, seed: int) -> MLP:
    """L - 1 layers that fold, and one that cuts; the seed is not needed."""
    network = MLP(2, [m] * layers, 1).double()
    p = m // 2
    slope = torch.tensor([p] + [2 * p * (-1) ** k for k in range(1, p)]).double()
    rise = torch.arange(p) / p
    read = torch.eye(2).double()  # how a layer reads the folded coordinates from the units below
    for layer in network.layers[:-1]:
        last = layer is network.layers[-2]
        lines, b = tangents(m) if last else (torch.eye(2).double().repeat_interleave(p, 0), None)
        layer.weight.copy_(lines @ read)  # type: ignore[operator]
        layer.bias.copy_(-rise.repeat(2) if b is None else b)  # type: ignore[operator]
        read = torch.block_diag(slope[None], slope[None])
    return network


def tangents(m: int) -> tuple[Tensor, Tensor]:
    """m lines that all cross each other inside the square, no three in one point."""
    angle = math.pi * torch.arange(m).double() / m
    normal = torch.stack([angle.cos(), angle.sin()], 1)
    return normal, -normal.sum(1) / 2 - 0.4 * math.sin(math.pi / 2 / m)
