"""Claim: Nesterov's method needs about √κ steps where gradient descent needs κ (J 3.3).

    χ = θ_t + β (θ_t - θ_{t-1}),  θ_{t+1} = χ - η ∇h(χ),   η = 1/L,  β = (√κ - 1)/(√κ + 1),  κ = L/μ
    along an axis of curvature λ, with q = 1 - ηλ:    θ_{t+1} = q ((1 + β) θ_t - β θ_{t-1})
    z² - q (1 + β) z + q β = 0,   z = w = 1 - 1/√κ for λ = μ:   θ_t = (1 + t/√κ) (1 - 1/√κ)ᵗ θ_0
    gradient descent, along the axis of μ:   θ_t = (1 - 1/κ)ᵗ θ_0

Measured: h along the library's optimizers on ½ Σ_i λ_i θ_i², for κ up to `condition`, against the
recursion solved by its roots; the largest relative difference until h is 10⁻⁶ of its start.
Bound: 1e-8. Roots a relative 10⁻⁸ apart, √ of rounding, would be the worst case; the equal roots of
λ = μ have the form of their own above. Steps to 10⁻⁶ must also be within what the theorem allows,
h(θ_t) ≤ (1 - 1/√κ)ᵗ (h(θ⁰) + ½ μ ‖θ⁰‖²).
The optimizer keeps χ; the step from there gives θ. Nesterov (1983), (2004) theorem 2.2.3.
"""

import math

import torch
from torch import Tensor, nn

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.learning.optimizers import optimizer

GOAL = 1e-6
BOUND = 1e-8


def check(condition: int = 1000) -> Verdict:
    """The theorem's β.

    Args:
        condition: Largest condition number κ.
    """
    return verdict(condition)


def broken() -> Verdict:
    """An optimizer with a tenth of that momentum."""
    return verdict(100, taken=0.1)


def near() -> Near:
    """Momentum, rate or the power of κ off by 10 %, and the optimizer's look-ahead point for θ."""
    return {
        **ten_percent("β", lambda factor: verdict(100, momentum=factor)),
        **ten_percent("η", lambda factor: verdict(100, rate=factor)),
        **ten_percent("κ's power ½", lambda factor: verdict(100, power=factor / 2)),
        "heavy ball": lambda: verdict(100, name="momentum"),
    }


def verdict(
    condition: int,
    momentum: float = 1.0,
    rate: float = 1.0,
    power: float = 0.5,
    taken: float = 1.0,
    name: str = "nesterov",
) -> Verdict:
    """Heights and steps by κ, with L = 1; `momentum` and `rate` are those of the formula."""
    kappas = [10.0 ** (k / 2) for k in range(2, 2 * math.ceil(math.log10(max(condition, 100))) + 1)]
    betas = [(k**power - 1) / (k**power + 1) for k in kappas]
    fast = [heights(k, name, momentum=taken * b) for k, b in zip(kappas, betas, strict=True)]
    plain = [heights(k, "gd") for k in kappas]
    roots = [solved(k, len(h), momentum * best(k), rate) for k, h in zip(kappas, fast, strict=True)]
    powers = [solved(k, len(h), 0.0, rate) for k, h in zip(kappas, plain, strict=True)]
    pairs = zip(fast + plain, roots + powers, strict=True)
    off = torch.stack([(a / b - 1).abs().max() for a, b in pairs]).max().item()
    needed, slow = ([len(h) - 1.0 for h in all_heights] for all_heights in (fast, plain))
    limits = [allowed(k) for k in kappas]
    return Verdict(
        quantity="largest |h / formula - 1|",
        measured=off,
        relation="≤",
        bound=BOUND,
        conditions={
            "within the theorem's steps": all(a <= b for a, b in zip(needed, limits, strict=True))
        },
        picture=Picture(
            title="Nesterov's method needs about √κ steps, gradient descent κ",
            x_label="condition κ = L/μ",
            y_label="steps to a millionth of the gap",
            curves={
                "gradient descent": (kappas, [first(solved(k, 10_000, 0.0)) for k in kappas]),
                "Nesterov": (kappas, [first(solved(k, 2000, best(k))) for k in kappas]),
            },
            points={"gradient descent": (kappas, slow), "Nesterov": (kappas, needed)},
            bounds={"Nesterov's bound": (kappas, limits)},
            log="xy",
        ),
        details={
            "saving factor at the largest κ": slow[-1] / needed[-1],
            "share of the theorem's steps used": needed[-1] / limits[-1],
        },
    )


def best(kappa: float) -> float:
    """β = (√κ - 1)/(√κ + 1)."""
    return (math.sqrt(kappa) - 1) / (math.sqrt(kappa) + 1)


def curvatures(kappa: float) -> Tensor:
    """Four of them, from 1 to 1/κ."""
    return torch.logspace(0, -math.log10(kappa), 4, dtype=torch.float64)


def solved(kappa: float, points: int, beta: float, rate: float = 1.0) -> Tensor:
    """h(θ_t) for t = 0 … points - 1 by the roots of the recursion, where all axes start equal."""
    q = (1 - rate * curvatures(kappa)).to(torch.complex128)
    half = q * (1 + beta) / 2
    apart = (half**2 - q * beta).sqrt()
    z, w = half + apart, half - apart
    t = torch.arange(points)[:, None]
    equal = apart.abs() < 1e-6
    a = (q - w) / torch.where(equal, 1.0, z - w)  # θ_0 = 1 and θ_1 = q
    unequal = a * integer_power(z, t) + (1 - a) * integer_power(w, t)
    alike = (1 + t * (q / torch.where(q == 0, 1.0, half) - 1)) * integer_power(half, t)
    return 0.5 * torch.where(equal, alike, unequal).real.square().sum(1)


def integer_power(base: Tensor, t: Tensor) -> Tensor:
    """baseᵗ with 0⁰ = 1; torch's complex powers of 0 are not a number."""
    return torch.where(base == 0, (t == 0).to(base), base**t)


def first(found: Tensor) -> float:
    """Steps until h is a millionth of its start."""
    return float((found > GOAL * found[0]).sum())


def allowed(kappa: float) -> float:
    """Steps t with (1 - 1/√κ)ᵗ (h⁰ + ½ μ ‖θ⁰‖²) ≤ 10⁻⁶ h⁰, where h⁰ = ½ · 4 and θ_i² = 1/λ_i."""
    excess = 1 + (1 / kappa / curvatures(kappa)).sum().item() / 4
    return float(math.ceil(math.log(GOAL / excess) / math.log1p(-1 / math.sqrt(kappa))))


def heights(kappa: float, name: str, **options: float) -> Tensor:
    """h(θ_t) until a millionth of the start, from a point where all axes contribute equally."""
    lambdas = curvatures(kappa)
    chi = nn.Parameter(lambdas**-0.5)
    chosen = optimizer(name, [chi], 1.0, **options)
    found = [height(lambdas, chi.detach())]
    while found[-1] > GOAL * found[0] and len(found) < 100 * kappa:
        chi.grad = lambdas * chi.detach()
        found.append(height(lambdas, chi.detach() - chi.grad))
        chosen.step()
    return torch.tensor(found, dtype=torch.float64)


def height(lambdas: Tensor, theta: Tensor) -> float:
    """½ Σ λ θ²."""
    return 0.5 * (lambdas * theta**2).sum().item()
