"""Claim: above α σ₁(U) = 1 the gradient of an Elman network may explode, but need not (J 5).

    ‖∂z_i/∂z_t‖₂ ≤ ∏_j σ₁(U) max φ'_j ≤ (α σ₁(U))^{i-t},     with equality for z = 0, UᵀU = σ₁² I

Measured: tanh networks (α = 1) with σ₁(U) = 1.25 after `steps` steps, from rest to strong inputs;
the relative excess of the norm over the first bound, and at rest with U orthogonal its relative
distance below the second.
Bound: 1e-10 for both, rounding in a hundred factors. The gradient must also grow at rest and vanish
under the strongest inputs, which saturate the units.
With Gaussian U it vanishes even at rest: there the spectral radius matters, half of σ₁ in large
matrices. Bengio et al. (1994); Pascanu et al. (2013), ICML. The notes leave this side to an
analogy.
"""

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.lab.helpers.jacobians import network, through

BOUND = 1e-10
LARGEST = 1.25
SIZES = (0.0, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.3, 1.6, 2.0, 2.5, 3.0)


def check(steps: int = 60, hidden_size: int = 16, seed: int = 0) -> Verdict:
    """The slope of tanh is 1 at 0 and falls from there.

    Args:
        steps: Steps through which gradients are traced.
        hidden_size: Units of the network.
    """
    return verdict(max(10, steps), hidden_size, seed, alpha=1.0)


def broken() -> Verdict:
    """α = 1/4, the sigmoid's: too small for tanh."""
    return verdict(60, 16, 0, alpha=0.25)


def near() -> Near:
    """Another largest slope."""
    return ten_percent("α", lambda factor: verdict(20, 16, 0, alpha=factor))


def verdict(steps: int, units: int, seed: int, alpha: float) -> Verdict:
    """Growth per step by the size of the inputs."""
    generator = torch.Generator().manual_seed(seed)
    growth: dict[str, list[float]] = {"orthogonal": [], "gaussian": []}
    limits, excess = [], 0.0
    for kind, found in growth.items():
        layer = network(LARGEST, kind, "tanh", units, generator)
        for size in SIZES:
            norms, z = through(layer, steps, size, generator)
            found.append(norms[-1] ** (1 / steps))
            limits.append(limit(z, alpha))
            excess = max(excess, found[-1] / limits[-1] - 1)
    lack = 1 - growth["orthogonal"][0] / (alpha * LARGEST)
    worst = max(excess, abs(lack))
    both_sides = growth["orthogonal"][-1] < 1 < growth["orthogonal"][0]
    sizes = list(SIZES)
    return Verdict(
        quantity="largest relative excess over the bound",
        measured=worst,
        relation="≤",
        bound=BOUND,
        conditions={"grows at rest, vanishes when saturated": both_sides},
        picture=Picture(
            title="σ₁ = 1.25: gradients explode near rest, vanish in saturation",
            x_label="standard deviation of the inputs",
            y_label="growth of ‖∂z_i/∂z_t‖ per step",
            points={
                "U orthogonal": (sizes, growth["orthogonal"]),
                "U Gaussian": (sizes, growth["gaussian"]),
            },
            bounds={
                "σ₁ × largest slope": (sizes, limits[: len(sizes)]),
                "neither": ([sizes[0], sizes[-1]], [1.0, 1.0]),
            },
        ),
    )


def limit(z: Tensor, alpha: float) -> float:
    """The geometric mean over time of σ₁ max φ'_j, where φ'_j = 1 - z_j² ≤ α."""
    slopes = (1 - z.square()).amax(1).clamp(max=alpha)
    return LARGEST * slopes.log().mean().exp().item()
