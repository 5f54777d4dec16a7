"""Claim: gradients of an Elman network vanish like (α σ₁(U))ᵏ if α σ₁(U) < 1 (J 5).

    ∂z_i/∂z_t = ∏_{j=t+1}^i Φ_j U,   ‖Φ_j‖ ≤ α = max φ'     ⇒     ‖∂z_i/∂z_t‖₂ ≤ (α σ₁(U))^{i-t}

Measured: the largest ratio of the norm to the bound over all i - t up to `steps`, for tanh and ReLU
(α = 1), σ₁(U) = 0.5, 0.8 and 0.95, orthogonal and Gaussian directions of U, random inputs, z_0 and
b.
Bound: 1 + 1e-12, by submultiplicativity; a product of a hundred factors has a smaller error.
The notes print that the gradient vanishes if σ₁(U) ≥ 1/α: it does if σ₁(U) < 1/α, and
`exploding-gradient` shows what may happen above. Hochreiter (1991); Pascanu et al. (2013), ICML.
"""

from collections.abc import Callable
from functools import partial
from itertools import product

import torch

from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.lab.helpers.jacobians import network, through

BOUND = 1 + 1e-12
LARGEST = (0.5, 0.8, 0.95)
KINDS = ("orthogonal", "gaussian")


def check(steps: int = 60, hidden_size: int = 16, seed: int = 0) -> Verdict:
    """Recurrent weights below the threshold.

    Args:
        steps: Steps through which gradients are traced.
        hidden_size: Units of the network.
    """
    return verdict(steps, hidden_size, seed, lambda sigma: sigma)


def broken() -> Verdict:
    """Above the threshold, as printed: U with σ₁ = 1/0.5 … in place of 0.5 …"""
    return verdict(60, 16, 0, lambda sigma: 1 / sigma)


def near() -> Near:
    """U slightly larger than the bound says."""

    def scaled(factor: float) -> Verdict:
        return verdict(20, 16, 0, lambda sigma: factor * sigma)

    return {f"σ₁(U) × {factor}": partial(scaled, factor) for factor in (1.1, 1.01)}


def verdict(steps: int, units: int, seed: int, largest: Callable[[float], float]) -> Verdict:
    """Norms of products of Jacobians against powers of σ₁."""
    generator = torch.Generator().manual_seed(seed)
    distances = [float(k + 1) for k in range(steps)]
    worst, points = 0.0, {}
    for sigma, kind, activation in product(LARGEST, KINDS, ("tanh", "relu")):
        layer = network(largest(sigma), kind, activation, units, generator)
        norms, _ = through(layer, steps, 0.3, generator)
        ratios = [norm / sigma**k for norm, k in zip(norms, distances, strict=True)]
        worst = max(worst, *ratios)
        if (kind, activation) == ("orthogonal", "tanh"):
            points[f"σ₁ = {sigma:g}"] = (distances[::3], norms[::3])
    return Verdict(
        quantity="largest ‖∂z_i/∂z_t‖ / (α σ₁(U))^{i-t}",
        measured=worst,
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="Gradients through time decay like σ₁ᵏ, or faster",
            x_label="steps back, k = i - t",
            y_label="‖∂z_i/∂z_t‖₂",
            curves={
                f"bound {sigma:g}ᵏ": (distances, [sigma**k for k in distances]) for sigma in LARGEST
            },
            points=points,
            log="y",
        ),
    )
