"""Claim: gradients of an Elman network vanish like (α σ₁(U))ᵏ if α σ₁(U) < 1 (J 5).

    ∂z_i/∂z_t = ∏_{j=t+1}^i Φ_j U,   ‖Φ_j‖ ≤ α = max φ'     ⇒     ‖∂z_i/∂z_t‖₂ ≤ (α σ₁(U))^{i-t}
    tanh, ReLU: α = 1      sigmoid: α = 1/4      equality where φ' = α at all steps and UᵀU = σ₁² I

Measured: the norms for all i - t up to `steps`, for the three activations, α σ₁(U) = 0.5, 0.8 and
0.95, orthogonal and Gaussian U, random biases, inputs and z_0: the largest relative excess over the
bound. Also at rest in the steepest point, where b holds every unit (0 for tanh and the sigmoid, 1
for ReLU) and U is orthogonal: there the largest relative distance from the bound.
Bound: 1e-11, the rounding of 60 products of 16 × 16 matrices; norms are submultiplicative.
The notes print that the gradient vanishes if σ₁(U) ≥ 1/α: it does if σ₁(U) < 1/α, and
`exploding-gradient` shows what may happen above. Hochreiter (1991); Pascanu et al. (2013), ICML.
"""

from collections.abc import Callable, Mapping
from functools import partial
from itertools import product
from typing import NamedTuple

import torch

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.lab.helpers.jacobians import network, through
from chainrule.models.recurrent.elman import Elman

BOUND = 1e-11
RATES = (0.5, 0.8, 0.95)
KINDS = ("orthogonal", "gaussian")


class Slope(NamedTuple):
    """α = max φ', and a point p with φ'(p) = α."""

    alpha: float
    steepest: float


SLOPES = {"tanh": Slope(1.0, 0.0), "relu": Slope(1.0, 1.0), "sigmoid": Slope(0.25, 0.0)}


def check(steps: int = 60, hidden_size: int = 16, seed: int = 0) -> Verdict:
    """Recurrent weights below the threshold.

    Args:
        steps: Steps through which gradients are traced.
        hidden_size: Units of the network.
    """
    return verdict(steps, hidden_size, seed, SLOPES)


def broken() -> Verdict:
    """U twice as large, so that α σ₁(U) lies above the threshold, as printed."""
    return verdict(60, 16, 0, SLOPES, lambda sigma: 2.1 * sigma)


def near() -> Near:
    """Other largest slopes, and U slightly larger or smaller than the bound says."""

    def slope(name: str, factor: float) -> Verdict:
        changed = SLOPES[name]._replace(alpha=factor * SLOPES[name].alpha)
        return verdict(20, 16, 0, {name: changed})

    def weights(factor: float) -> Verdict:
        return verdict(20, 16, 0, SLOPES, lambda sigma: factor * sigma)

    violations = ten_percent("σ₁(U)", weights) | {"σ₁(U) × 1.01": partial(weights, 1.01)}
    for name in SLOPES:
        violations |= ten_percent(f"α of {name}", partial(slope, name))
    return violations


def verdict(
    steps: int,
    units: int,
    seed: int,
    slopes: Mapping[str, Slope],
    largest: Callable[[float], float] = lambda sigma: sigma,
) -> Verdict:
    """Norms of products of Jacobians against powers of α σ₁."""
    generator = torch.Generator().manual_seed(seed)
    distances = [float(k + 1) for k in range(steps)]
    excess, lack, points = 0.0, 0.0, {}
    for rate, kind, (name, slope) in product(RATES, KINDS, slopes.items()):
        sigma = rate / SLOPES[name].alpha
        predicted = [(slope.alpha * sigma) ** k for k in distances]
        layer = network(largest(sigma), kind, name, units, generator)
        layer.b.data.normal_(0, 0.3, generator=generator)
        norms, _ = through(layer, steps, 0.3, generator)
        excess = max(excess, *(n / limit - 1 for n, limit in zip(norms, predicted, strict=True)))
        if kind == "orthogonal":
            norms, _ = through(layer, steps, 0.0, generator, hold(layer, slope.steepest))
            lack = max(lack, *(abs(n / p - 1) for n, p in zip(norms, predicted, strict=True)))
            shown = slice(2 * (name == "sigmoid"), None, 4)
            points[f"{name}, {rate:g}"] = (distances[shown], norms[shown])
    drawn = {name: points[name] for name in points if not name.startswith("relu")}
    return Verdict(
        quantity="largest relative distance from (α σ₁(U))^{i-t}",
        measured=max(excess, lack),
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="At its steepest point each activation meets the bound (α σ₁)ᵏ",
            x_label="steps back, k = i - t",
            y_label="‖∂z_i/∂z_t‖₂",
            points=drawn,
            bounds={f"{rate:g}ᵏ": (distances, [rate**k for k in distances]) for rate in RATES},
            log="y",
        ),
        details={"largest excess": excess, "distance at the steepest point": lack},
    )


@torch.no_grad()
def hold(layer: Elman, p: float) -> float:
    """Choose b so that every unit stays at φ(p) without inputs; returns φ(p)."""
    z = float(layer.phi(torch.tensor(p, dtype=torch.float64)))
    layer.b.copy_(p - layer.U.sum(1) * z)
    return z
