"""Claim: an LRU's eigenvalues are uniform on a ring if r², not r, is drawn uniformly (J 5.2).

    r² ~ Unif[a², b²],  φ ~ Unif[0, 2π]    ⇒    P(|λ| ≤ r) = (r² - a²) / (b² - a²)

Measured: √n times the largest distance between that distribution and the moduli of `units`
eigenvalues drawn by the library, and likewise for the phases; the larger of the two. A new layer
must have the eigenvalues of the same draw.
Bound: Kolmogorov's √(log(2/p) / 2) for p = 10⁻⁶, which Massart (1990) proved for all n. An exponent
of 1.8 or 2.2 in place of 2 lies four to five times above it.
The notes draw r itself uniformly, which crowds the inner side, where memories are short. Orvieto et
al. (2023), ICML.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.models.recurrent.lru import LRU, eigenvalues, ring

SMALLEST, LARGEST = 0.2, 0.99
LAYER = 64  # units of the new layer
BOUND = math.sqrt(math.log(2e6) / 2)
Law = Callable[[Tensor], Tensor]


def check(units: int = 100_000, seed: int = 0) -> Verdict:
    """Uniform in area.

    Args:
        units: Eigenvalues drawn.
    """
    return verdict(by_area, units, seed)


def broken() -> Verdict:
    """Uniform in radius, as printed."""
    return verdict(by_radius, 100_000, 0)


def near() -> Near:
    """Other powers of r drawn uniformly, and other limits of the ring and the phases."""

    def powered(power: float) -> Verdict:
        def law(r: Tensor) -> Tensor:
            return (r**power - SMALLEST**power) / (LARGEST**power - SMALLEST**power)

        return verdict(law, 100_000, 0)

    def turned(factor: float) -> Verdict:
        return verdict(by_area, 100_000, 0, largest_phase=2 * math.pi * factor)

    return {
        **ten_percent("the exponent 2", lambda factor: powered(2 * factor)),
        **ten_percent("2π", turned),
    }


def verdict(law: Law, units: int, seed: int, largest_phase: float = 2 * math.pi) -> Verdict:
    """Moduli and phases as drawn, and those of a new layer."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        lam = eigenvalues(*(t.double() for t in ring(units, SMALLEST, LARGEST, 2 * math.pi)))
        torch.manual_seed(seed)
        layer = LRU(1, LAYER, SMALLEST, LARGEST)
        torch.manual_seed(seed)
        drawn = ring(LAYER, SMALLEST, LARGEST, 2 * math.pi)
    same = torch.equal(layer.nu, drawn[0]) and torch.equal(layer.phi, drawn[1])
    r, turn = lam.abs().sort().values, (lam.angle() % (2 * math.pi) / largest_phase).sort().values
    worst = max(distance(law(r)), distance(turn))
    fine = torch.linspace(SMALLEST, LARGEST, 100, dtype=torch.float64)
    shown = slice(units // 40, None, max(1, units // 20))
    shares = torch.linspace(0, 1, units, dtype=torch.float64)
    return Verdict(
        quantity="√n sup |F_n - F| of moduli and phases",
        measured=worst,
        relation="≤",
        bound=BOUND,
        conditions={"a new layer has these eigenvalues": same},
        picture=Picture(
            title="Uniform on the ring: most eigenvalues lie far out, where memories last",
            x_label="radius r",
            y_label="fraction of eigenvalues with |λ| ≤ r",
            curves={
                "r² uniform": (fine.tolist(), by_area(fine).tolist()),
                "r uniform, as printed": (fine.tolist(), by_radius(fine).tolist()),
            },
            points={"as drawn": (r[shown].tolist(), shares[shown].tolist())},
        ),
    )


def by_area(r: Tensor) -> Tensor:
    """(r² - a²) / (b² - a²)."""
    return (r**2 - SMALLEST**2) / (LARGEST**2 - SMALLEST**2)


def by_radius(r: Tensor) -> Tensor:
    """(r - a) / (b - a)."""
    return (r - SMALLEST) / (LARGEST - SMALLEST)


def distance(values: Tensor) -> float:
    """√n sup |F_n - F| of sorted values, F uniform on [0, 1]."""
    n = len(values)
    steps = torch.arange(n + 1, dtype=torch.float64) / n
    gaps = torch.maximum(steps[1:] - values, values - steps[:-1])
    return math.sqrt(n) * gaps.max().item()
