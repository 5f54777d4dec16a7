"""Claim: m hyperplanes in general position cut ℝⁿ into Σ_{i≤n} C(m, i) regions (J 2.5).

    R(m) = Σ_{i=0}^{min(n, m)} C(m, i)  ≤  2ᵐ            general position; otherwise fewer

Measured: the largest difference between R(m) and the number of regions of a ReLU layer with random
weights, found one by one by linear programs, for n = 1 … `dimensions` and m = 1, 3, … `units`.
Bound: exactly 0; Gaussian weights are in general position with probability 1.
Zaslavsky (1975).
"""

from collections.abc import Callable

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.nn.regions import layer_regions, zaslavsky

Arrange = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]


def check(dimensions: int = 3, units: int = 7, seed: int = 0) -> Verdict:
    """Hyperplanes in general position.

    Args:
        dimensions: Largest input dimension n.
        units: Largest number of units m.
    """
    return verdict(dimensions, units, seed, lambda W, b: (W, b))


def broken() -> Verdict:
    """All hyperplanes pass through the origin."""
    return verdict(2, 5, 0, lambda W, b: (W, 0 * b))


def near() -> Near:
    """One hyperplane that is not in general position to the others."""

    def parallel(W: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
        return torch.cat([W[:-1], W[:1]]), b

    def through(W: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
        return torch.cat([W[:-1], W[:2].sum(0)[None]]), torch.cat([b[:-1], b[:2].sum()[None]])

    return {
        "two parallel lines": lambda: verdict(2, 3, 0, parallel),
        "three lines through a point": lambda: verdict(2, 3, 0, through),
    }


def verdict(dimensions: int, units: int, seed: int, arrange: Arrange) -> Verdict:
    """Regions counted one by one against the formula."""
    generator = torch.Generator().manual_seed(seed)
    sizes = range(1, units + 1, 2)
    counted = {
        n: [regions(m, n, arrange, generator) for m in sizes] for n in range(1, dimensions + 1)
    }
    worst = max(
        abs(count - zaslavsky(m, n))
        for n, counts in counted.items()
        for m, count in zip(sizes, counts, strict=True)
    )
    m_axis = [float(m) for m in sizes]
    return Verdict(
        quantity="|regions counted - Σ_{i≤n} C(m, i)|",
        measured=float(worst),
        relation="=",
        bound=0.0,
        picture=Picture(
            title="A layer of ReLUs has far fewer regions than on-off patterns",
            x_label="units of the layer, m",
            y_label="regions",
            curves={f"n = {n}": (m_axis, [float(zaslavsky(m, n)) for m in sizes]) for n in counted},
            points={
                f"n = {n}": (m_axis, [float(c) for c in counts]) for n, counts in counted.items()
            },
            bounds={"2ᵐ patterns": (m_axis, [2.0**m for m in sizes])},
            log="y",
        ),
        details={"regions found": float(sum(map(sum, counted.values())))},
    )


def regions(m: int, n: int, arrange: Arrange, generator: torch.Generator) -> int:
    W = torch.randn(m, n, generator=generator, dtype=torch.float64)
    b = torch.randn(m, generator=generator, dtype=torch.float64)
    return len(layer_regions(*arrange(W, b)))
