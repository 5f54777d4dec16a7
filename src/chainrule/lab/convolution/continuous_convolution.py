"""Claim: the Fourier transform of a convolution is the product of the transforms (J 4.1).

    (f ∗ h)(u) = ∫ h(u - t) f(t) dt = (h ∗ f)(u),          (ℱf)(u) = ∫ e^{-2πi t u} f(t) dt
    ℱ(f ∗ h) = ℱf · ℱh
    densities of N(μ, σ²) and N(ν, τ²):    f ∗ h = that of N(μ + ν, σ² + τ²), the sum of the two

Measured: convolutions and transforms of mixtures of normal densities, by quadrature; the largest
difference between both sides of the three equations, relative to the largest value.
Bound: 1e-12. With steps of 1/32 and σ ≥ ½ the trapezoidal rule errs by less than e^{-2π² 16²}, what
is left out beyond ±16 is below e^{-49}, and a thousand terms are rounded to 1.1e-16 each.
L "Convolution: Intuitions" for sums of random variables.
"""

from functools import partial

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.nn.integral_operator import (
    continuous_convolution,
    fourier_transform,
    integral_operator,
)

BOUND = 1e-12
EXTENT, STEPS = 16.0, 32  # half the range of integration, points per unit
Mixture = tuple[Tensor, Tensor, Tensor]  # weights, means, standard deviations


def check(components: int = 3, seed: int = 0) -> Verdict:
    """The kernel h(u - t).

    Args:
        components: Normal densities in each mixture.
    """
    return verdict(components, seed)


def broken() -> Verdict:
    """The kernel h(t - u) of a correlation."""
    return verdict(3, 0, sign=-1.0)


def near() -> Near:
    """Factors off by 10 %, and the transform that is an isometry for e^{-itu}."""
    return {
        **ten_percent("ℱf · ℱh", lambda factor: verdict(3, 0, factor=factor)),
        **ten_percent("σ² + τ²", lambda factor: verdict(3, 0, spread=factor)),
        "e^{-itu} / √2π": partial(verdict, 3, 0, factor=(2 * torch.pi) ** -0.5),
        "h(1.1 (u - t))": partial(verdict, 3, 0, sign=1.1),
    }


def verdict(
    components: int, seed: int, sign: float = 1.0, factor: float = 1.0, spread: float = 1.0
) -> Verdict:
    """Both sides of the three equations."""
    generator = torch.Generator().manual_seed(seed)
    first, second = (mixture(components, generator) for _ in range(2))
    f, h = partial(density, first), partial(density, second)
    t = torch.linspace(-EXTENT, EXTENT, int(2 * EXTENT * STEPS) + 1, dtype=torch.float64)
    u = torch.linspace(-1, 1, 41, dtype=torch.float64)

    def convolved(u: Tensor) -> Tensor:
        if sign == 1.0:
            return continuous_convolution(f, h, u, t)
        return integral_operator(lambda u, t: h(sign * (u - t)), f, u, t)

    both = convolved(t)
    closed = density(summed(first, second, spread), t)
    product = factor * fourier_transform(f, u, t) * fourier_transform(h, u, t)
    of_both = fourier_transform(lambda _: both, u, t)
    gaps = {
        "closed form": gap(both, closed),
        "commuted": gap(both, continuous_convolution(h, f, t, t)),
        "theorem": gap(of_both, product),
    }
    shown = slice(3 * len(t) // 8, -3 * len(t) // 8, 2)  # from -4 to 4
    return Verdict(
        quantity="largest relative difference of both sides",
        measured=max(gaps.values()),
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="The density of a sum is the convolution of the densities",
            x_label="u",
            y_label="density",
            curves={
                "density of the sum": (t[shown].tolist(), closed[shown].tolist()),
                "f": (t[shown].tolist(), f(t)[shown].tolist()),
                "h": (t[shown].tolist(), h(t)[shown].tolist()),
            },
            points={"f ∗ h by quadrature": (t[shown][::4].tolist(), both[shown][::4].tolist())},
        ),
        details=gaps,
    )


def mixture(components: int, generator: torch.Generator) -> Mixture:
    """Means between -1 and 1, standard deviations between ½ and 1."""
    draws = torch.rand(3, components, dtype=torch.float64, generator=generator)
    weights, means, deviations = draws[0] + 0.1, 2 * draws[1] - 1, 0.5 + draws[2] / 2
    return weights / weights.sum(), means, deviations


def density(of: Mixture, t: Tensor) -> Tensor:
    """Σ_k w_k N(t; μ_k, σ_k²)."""
    weights, means, deviations = of
    z = (t[..., None] - means) / deviations
    return (torch.exp(-z.square() / 2) * weights / deviations).sum(-1) * (2 * torch.pi) ** -0.5


def summed(first: Mixture, second: Mixture, spread: float) -> Mixture:
    """Of the sum of two independent variables: every pair of components."""
    weights = torch.outer(first[0], second[0]).flatten()
    means = (first[1][:, None] + second[1]).flatten()
    variances = (first[2][:, None].square() + second[2].square()).flatten()
    return weights, means, (spread * variances).sqrt()


def gap(found: Tensor, expected: Tensor) -> float:
    return ((found - expected).abs().max() / expected.abs().max()).item()
