"""Claim: on μ-PL functions, convex or not, h - h* falls by (2L - 2μ)/(2L + μ) a step (J 3.2).

    ½ ‖∇h(θ)‖² ≥ μ (h(θ) - h*) along the path,  η = 1/L
    h(θ_t) - h(θ_{t+1}) ≥ (½ ‖∇h(θ_t)‖² + ¼ ‖∇h(θ_{t+1})‖²)/L           for any L-smooth h
    ⇒   h(θ_t) - h*  ≤  ((2L - 2μ)/(2L + μ))ᵗ (h(θ⁰) - h*)  ≤  (1 - μ/L)ᵗ (h(θ⁰) - h*)

The last is J's lemma 3.4, whose proof drops the ¼ (and prints h(θᵀ) for h(θᵀ⁻¹)).
Measured: along the library's gradient descent, the largest ratio of h - h* to the bound, t ≥ 1, on
    ½ Σ_i r_i² + (1 - cos r_i)²,  r = A θ - b:   L = 2.125 σ₁(A)²,  μ = 0.4 σ_m(A)²,  h* = 0
and on a function of one variable that meets ½ h'² = μ h at every iterate and loses no more than it
must. The first is a linear model with more weights than examples: its minima form an affine space,
and its curvature is negative at the starts. 0.4 is just below the least ½ ℓ'² / ℓ of a residual's
loss ℓ, 0.4028 at r = 3.97.
Bound: 1, with 1e-9 for rounding; the function of one variable must attain it.
Polyak (1963), Łojasiewicz (1963), Abbaszadehpeivasti, de Klerk and Zamani (2023).
"""

import torch
from torch import Tensor
from torch.func import grad, jacrev, vmap

from chainrule.autodiff.curvature import Function, gradient_descent
from chainrule.lab.claim import Near, Picture, Verdict, ten_percent

WEAKEST = 0.3  # σ_m(A), where σ₁(A) = 1
MU = 0.4 * WEAKEST**2
WORST_MU, WORST_STEPS = 0.1, 30  # of the function of one variable, where L = 1
ROUNDING = 1e-9


def check(starts: int = 200, steps: int = 240, seed: int = 0) -> Verdict:
    """½ r² + ½ (1 - cos r)²: not convex, but PL.

    Args:
        starts: Random starts.
        steps: Steps of gradient descent.
    """
    return verdict(starts, steps, seed)


def broken() -> Verdict:
    """½ r² + 3 (1 - cos r)² has local minima, so it is not PL for any μ."""
    return verdict(50, 400, 0, bend=3.0)


def near() -> Near:
    """Constants off by 10 %, J's rate as if it were attained, and more bending."""
    return {
        **ten_percent("μ", lambda factor: verdict(20, 40, 0, mu=factor)),
        **ten_percent("L", lambda factor: verdict(20, 40, 0, mu=1 / factor)),
        "1 - μ/L attained": lambda: verdict(20, 40, 0, quarter=0.0),
        "½ r² + 2 (1 - cos r)²": lambda: verdict(50, 400, 0, bend=2.0),
    }


def verdict(
    starts: int, steps: int, seed: int, bend: float = 0.5, mu: float = 1.0, quarter: float = 1.0
) -> Verdict:
    """Gaps along the paths against the geometric bound, with μ times `mu`."""
    generator = torch.Generator().manual_seed(seed)
    h, L = cosines(bend, generator), 1 + 2.25 * bend
    begin = 6 * torch.randn(starts, 6, dtype=torch.float64, generator=generator)
    path = gradient_descent(lambda theta: h(theta).sum(), begin, steps, 1 / L)
    gaps = h(path) / h(begin)
    t = torch.arange(steps + 1, dtype=torch.float64)
    bound = rate(mu * MU / L, quarter) ** t
    worst_gaps = worst_case(WORST_STEPS)
    worst_bound = rate(mu * WORST_MU, quarter) ** t[: WORST_STEPS + 1]
    share = worst_gaps / worst_bound
    shown = list(range(0, steps + 1, max(1, steps // 40)))
    x, z = list(map(float, shown)), list(map(float, range(WORST_STEPS + 1)))
    return Verdict(
        quantity="largest (h - h*) / (ρᵗ (h(θ⁰) - h*)), ρ = (2L-2μ)/(2L+μ)",
        measured=max((gaps / bound[:, None])[1:].max().item(), share[1:].max().item()),
        relation="≤",
        bound=1 + ROUNDING,
        conditions={"attained by the worst function": share.min().item() >= 1 - ROUNDING},
        picture=Picture(
            title="Linear convergence needs the PL inequality, not convexity",
            x_label="step t",
            y_label="gap to the minimum, relative to the initial gap",
            points={
                "worst function, μ = L/10": (z, worst_gaps.tolist()),
                "cosines, slowest of all starts": (x, gaps.max(1).values[shown].tolist()),
                "cosines, median": (x, gaps.median(1).values[shown].tolist()),
            },
            bounds={
                "ρᵗ of the worst function": (z, worst_bound.tolist()),
                "ρᵗ of the cosines": (x, bound[shown].tolist()),
                "J's (1 - μ/L)ᵗ, worst function": (z, [(1 - mu * WORST_MU) ** k for k in z]),
            },
            log="y",
        ),
        details={
            "smallest curvature at a start": smallest_curvature(h, begin),
            "share of the bound used, cosines": (gaps / bound[:, None])[1:].max().item(),
            "share of J's bound used after one step": worst_gaps[1].item() / (1 - mu * WORST_MU),
        },
    )


def rate(ratio: float, quarter: float = 1.0) -> float:
    """(2L - 2μ)/(2L + μ) for ratio = μ/L; 1 - μ/L without the quarter."""
    return (2 - 2 * ratio) / (2 + quarter * ratio)


def cosines(bend: float, generator: torch.Generator) -> Function:
    """Σ_i ½ r_i² + bend (1 - cos r_i)² for r = A θ - b, one value per row of θ."""
    Q = torch.linalg.qr(torch.randn(6, 3, dtype=torch.float64, generator=generator)).Q
    A = torch.linspace(1, WEAKEST, 3, dtype=torch.float64)[:, None] * Q.T
    b = torch.randn(3, dtype=torch.float64, generator=generator)

    def h(theta: Tensor) -> Tensor:
        r = theta @ A.T - b
        return (0.5 * r**2 + bend * (1 - r.cos()) ** 2).sum(-1)

    return h


def smallest_curvature(h: Function, theta: Tensor) -> float:
    """Of the first starts; where it is negative, h is not convex."""
    return torch.linalg.eigvalsh(vmap(jacrev(grad(h)))(theta[:50])).min().item()


def worst_case(steps: int) -> Tensor:
    """h(θ_t)/h(θ⁰) on the function whose slope falls from g to ½ g' and rises to g' in each step.

    L = 1, so that a step has the length of its slope g. With g'² = ρ g², h falls from g²/2μ to
    g'²/2μ, by ½ g² + ¼ g'².
    """
    slopes = rate(WORST_MU) ** (0.5 * torch.arange(steps + 1, dtype=torch.float64))
    places = torch.cat([torch.zeros(1, dtype=torch.float64), slopes.cumsum(0)])

    def h(theta: Tensor) -> Tensor:
        cell = (torch.searchsorted(places, theta.detach() + 1e-9) - 1).clamp(0, steps - 1)
        g, after, u = slopes[cell], slopes[cell + 1], theta - places[cell]
        turn = g - 0.5 * after  # where the slope is least
        falling = g * u - 0.5 * u**2
        rising = 0.5 * after * (u - turn) + 0.5 * (u - turn) ** 2
        lost = torch.where(u <= turn, falling, g * turn - 0.5 * turn**2 + rising)
        return 0.5 * g**2 / WORST_MU - lost

    path = gradient_descent(h, torch.zeros((), dtype=torch.float64), steps, 1.0)
    return vmap(h)(path) / h(path[0])
