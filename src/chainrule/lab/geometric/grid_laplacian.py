"""Claim: the Laplacian of a fine grid tends to Δ with an error of h² (J 7.5).

    -L f / h² = Δf + h²/12 Σ_i ∂⁴f/∂x_i⁴ + O(h⁴),       L = D - A of the grid with spacing h

so D - A is -Δ up to a factor: it compares a node with the mean of its neighbors.
Measured: the library's Laplacian of square grids and products f of cosines with wave numbers k, at
the interior nodes; the largest relative error of the h² term, in multiples of (k h)²/30.
Bound: 1, since the next term, h⁴ k⁶/360, bounds the rest of the alternating series; 1 % for
rounding.
J calls Δ the deviation from the mean and L the graph's Laplacian; -L is its counterpart.
"""

from collections.abc import Sequence

import networkx
import torch
from torch import Tensor

from chainrule.graphs import from_networkx
from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.nn.laplacian import laplacian

SIDES = (20, 40, 80)
WAVES = ((1.0, 2.0), (3.0, 1.0), (2.5, 2.5))
BOUND = 1.01


def check(phases: int = 3, seed: int = 0) -> Verdict:
    """f is a product of cosines of random phases.

    Args:
        phases: Random phases for each pair of wave numbers.
    """
    return verdict(phases, seed)


def broken() -> Verdict:
    """+L in place of -L."""
    return verdict(1, 0, sign=1.0)


def near() -> Near:
    """Another coefficient or another power of h."""
    return {
        **ten_percent("1/12", lambda factor: verdict(1, 0, twelfth=factor / 12)),
        **ten_percent("the power 2 of h", lambda factor: verdict(1, 0, power=2 * factor)),
        **ten_percent("Δf", lambda factor: verdict(1, 0, sign=-factor)),
    }


def verdict(
    phases: int, seed: int, sign: float = -1.0, twelfth: float = 1 / 12, power: float = 2.0
) -> Verdict:
    """Grids with halved spacing."""
    generator = torch.Generator().manual_seed(seed)
    worst, errors = 0.0, {}
    for wave in WAVES:
        for _ in range(phases):
            phase = 6.28 * torch.rand(2, generator=generator, dtype=torch.float64)
            found = [compared(side, wave, phase, sign, twelfth, power) for side in SIDES]
            finest = (max(wave) / SIDES[-1]) ** 2 / 30
            worst = max(worst, found[-1][0] / finest)
        errors[f"waves {wave[0]:g} and {wave[1]:g}"] = found
    spacings = [1 / side for side in SIDES]
    return Verdict(
        quantity="error of the h² term, multiples of (k h)²/30",
        measured=worst,
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="Halving the spacing of a grid quarters the error of its Laplacian",
            x_label="spacing h",
            y_label="largest |L f / h² + Δf|",
            curves={
                name: (spacings, [predicted for _, _, predicted in found])
                for name, found in errors.items()
            },
            points={
                name: (spacings, [error for _, error, _ in found]) for name, found in errors.items()
            },
            log="xy",
        ),
    )


def compared(
    side: int,
    wave: Sequence[float],
    phase: Tensor,
    sign: float,
    twelfth: float,
    power: float,
) -> tuple[float, float, float]:
    """Relative error of the h² term; largest error of the Laplacian, and its prediction."""
    h = 1 / side
    k = torch.tensor(wave, dtype=torch.float64)
    grid = networkx.grid_2d_graph(side + 1, side + 1)
    at = h * torch.tensor(list(grid), dtype=torch.float64)
    f = (at * k + phase).cos().prod(1)
    L = laplacian(from_networkx(grid, f[:, None]))
    inside = ((at > h / 2) & (at < 1 - h / 2)).all(1)
    delta = -k.square().sum() * f
    fourth = twelfth * k.pow(4).sum() * f
    error = (sign * (L @ f[:, None])[:, 0] / h**2 - delta)[inside]
    predicted = h**power * fourth[inside]
    off = (error - predicted).abs().max() / (h**2 * k.pow(4).sum() / 12)
    return off.item(), error.abs().max().item(), predicted.abs().max().item()
