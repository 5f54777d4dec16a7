"""Claim: Nesterov's method needs about √κ steps where gradient descent needs κ (J 3.3).

    χ = θ_t + β (θ_t - θ_{t-1}),  θ_{t+1} = χ - η ∇h(χ),   η = 1/L,  β = (√κ - 1)/(√κ + 1),  κ = L/μ
    h(θ_t) - h*  ≤  (1 - 1/√κ)ᵗ (h(θ⁰) - h* + ½ μ ‖θ⁰ - θ*‖²)
    gradient descent, along the axis of μ:  h(θ_t) - h* = (1 - 1/κ)²ᵗ (h(θ⁰) - h*)

Measured: steps of the library's optimizers to 10⁻⁶ of the initial gap, on ½ Σ_i λ_i θ_i² for κ up
to `condition`: those of `nesterov` divided by what the theorem allows; the largest ratio.
Bound: 1, by the theorem. `gd` must take as many steps as its formula says, up to one.
The optimizer keeps χ; the step from there gives θ. Nesterov (1983), (2004) theorem 2.2.3.
"""

import math
from functools import partial

import torch
from torch import Tensor, nn

from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.learning.optimizers import optimizer

GOAL = 1e-6


def check(condition: int = 1000) -> Verdict:
    """The theorem's β.

    Args:
        condition: Largest condition number κ.
    """
    return verdict(condition, scale=1.0)


def broken() -> Verdict:
    """A tenth of that momentum."""
    return verdict(100, scale=0.1)


def near() -> Near:
    """Less momentum, or more."""
    return {f"β × {scale}": partial(verdict, 100, scale=scale) for scale in (0.8, 0.9, 1.1)}


def verdict(condition: int, scale: float) -> Verdict:
    """Steps by κ, with L = 1."""
    kappas = [10.0 ** (k / 2) for k in range(2, 2 * math.ceil(math.log10(max(condition, 100))) + 1)]
    betas = [scale * (math.sqrt(k) - 1) / (math.sqrt(k) + 1) for k in kappas]
    accelerated = [steps(k, "nesterov", momentum=b) for k, b in zip(kappas, betas, strict=True)]
    plain = [steps(k, "gd") for k in kappas]
    worst = max(t / allowed(k) for t, k in zip(accelerated, kappas, strict=True))
    off = max(abs(t - descent(k)) for t, k in zip(plain, kappas, strict=True))
    return Verdict(
        quantity="largest steps / the theorem's steps",
        measured=worst,
        relation="≤",
        bound=1.0,
        conditions={"gradient descent matches its formula": off <= 1},
        picture=Picture(
            title="Momentum gains more on ill-conditioned problems: √κ steps against κ",
            x_label="condition κ = L/μ",
            y_label="steps to a millionth of the gap",
            curves={"gradient descent": (kappas, [descent(k) for k in kappas])},
            points={"gradient descent": (kappas, plain), "Nesterov": (kappas, accelerated)},
            bounds={"Nesterov's bound": (kappas, [allowed(k) for k in kappas])},
            log="xy",
        ),
        details={"saving factor at the largest κ": plain[-1] / accelerated[-1]},
    )


def curvatures(kappa: float) -> Tensor:
    """Four of them, from 1 to 1/κ."""
    return torch.logspace(0, -math.log10(kappa), 4, dtype=torch.float64)


def allowed(kappa: float) -> float:
    """Steps t with (1 - 1/√κ)ᵗ (h⁰ + ½ μ ‖θ⁰‖²) ≤ 10⁻⁶ h⁰, where h⁰ = ½ · 4 and θ_i² = 1/λ_i."""
    excess = 1 + (1 / kappa / curvatures(kappa)).sum().item() / 4
    return float(math.ceil(math.log(GOAL / excess) / math.log1p(-1 / math.sqrt(kappa))))


def descent(kappa: float) -> float:
    """Steps t with ¼ (1 - 1/κ)²ᵗ ≤ 10⁻⁶: of four equal parts only the last is left."""
    return float(math.ceil(math.log(4 * GOAL) / (2 * math.log1p(-1 / kappa))))


def steps(kappa: float, name: str, **options: float) -> float:
    """Steps of the optimizer on ½ Σ λ θ², from a point where all axes contribute equally."""
    lambdas = curvatures(kappa)
    chi = nn.Parameter(lambdas**-0.5)
    chosen = optimizer(name, [chi], 1.0, **options)
    start = height(lambdas, chi.detach())
    for step in range(1, 100 * math.ceil(kappa)):
        chi.grad = lambdas * chi.detach()
        theta = chi.detach() - chi.grad
        if height(lambdas, theta) <= GOAL * start:
            return float(step)
        chosen.step()
    return math.inf


def height(lambdas: Tensor, theta: Tensor) -> float:
    """½ Σ λ θ²."""
    return 0.5 * (lambdas * theta**2).sum().item()
