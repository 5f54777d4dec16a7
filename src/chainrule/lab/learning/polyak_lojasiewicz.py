"""Claim: on μ-PL functions, convex or not, h - h* falls at least like (1 - μ/L)ᵗ (J 3.2).

    ½ ‖∇h(θ)‖² ≥ μ (h(θ) - h*) for all θ,  η = 1/L   ⇒   h(θ_t) - h* ≤ (1 - μ/L)ᵗ (h(θ⁰) - h*)
    h(θ) = ½ Σ_i r_i² + (1 - cos r_i)²,  r = A θ - b:   L = 2.125 σ₁(A)²,  μ = 0.4 σ_m(A)²,  h* = 0

h is a linear model with more weights than examples, whose loss has second derivatives from -1 to
2.125: its minima form an affine space, and the curvature is negative at the starts. 0.4 is just
below the least ½ ℓ'² / ℓ of a residual's loss ℓ, 0.4028 at r = 3.97.
Measured: along the library's gradient descent from random starts, the largest ratio of h - h* to
the bound, t ≥ 1.
Bound: 1, by the lemma.
J's proof prints h(θᵀ) for h(θᵀ⁻¹). Polyak (1963), Łojasiewicz (1963), Karimi, Nutini and Schmidt
(2016).
"""

from functools import partial

import torch
from torch import Tensor
from torch.func import hessian, vmap

from chainrule.autodiff.curvature import gradient_descent
from chainrule.lab.claim import Near, Picture, Verdict

WEAKEST = 0.3  # σ_m(A), where σ₁(A) = 1
MU = 0.4 * WEAKEST**2


def check(starts: int = 200, steps: int = 240, seed: int = 0) -> Verdict:
    """½ r² + ½ (1 - cos r)²: not convex, but PL.

    Args:
        starts: Random starts.
        steps: Steps of gradient descent.
    """
    return verdict(starts, steps, seed, bend=0.5)


def broken() -> Verdict:
    """½ r² + 3 (1 - cos r)² has local minima, so it is not PL for any μ."""
    return verdict(50, 400, 0, bend=3.0)


def near() -> Near:
    """A little more bending."""
    return {
        f"½ r² + {bend} (1 - cos r)²": partial(verdict, 50, 400, 0, bend=bend)
        for bend in (1.0, 1.5, 2.0)
    }


def verdict(starts: int, steps: int, seed: int, bend: float) -> Verdict:
    """Gaps along the paths against the geometric bound."""
    generator = torch.Generator().manual_seed(seed)
    Q = torch.linalg.qr(torch.randn(6, 3, dtype=torch.float64, generator=generator)).Q
    A = torch.linspace(1, WEAKEST, 3, dtype=torch.float64)[:, None] * Q.T
    b = torch.randn(3, dtype=torch.float64, generator=generator)

    def h(theta: Tensor) -> Tensor:
        r = theta @ A.T - b
        return (0.5 * r**2 + bend * (1 - r.cos()) ** 2).sum(-1)

    begin = 6 * torch.randn(starts, 6, dtype=torch.float64, generator=generator)
    L = 1 + 2.25 * bend
    path = gradient_descent(lambda theta: h(theta).sum(), begin, steps, 1 / L)
    gaps = h(path) / h(begin)
    bound = (1 - MU / L) ** torch.arange(steps + 1, dtype=torch.float64)
    worst = (gaps / bound[:, None])[1:].max().item()
    curvature = torch.linalg.eigvalsh(vmap(hessian(h))(begin)).min().item()
    t = list(range(0, steps + 1, max(1, steps // 40)))
    x = list(map(float, t))
    return Verdict(
        quantity="largest (h - h*) / ((1 - μ/L)ᵗ (h(θ⁰) - h*))",
        measured=worst,
        relation="≤",
        bound=1.0,
        picture=Picture(
            title="Linear convergence needs the PL inequality, not convexity",
            x_label="step t",
            y_label="gap to the minimum, relative to the initial gap",
            points={
                "slowest of all starts": (x, gaps.max(1).values[t].tolist()),
                "median": (x, gaps.median(1).values[t].tolist()),
            },
            bounds={"(1 - μ/L)ᵗ": (x, bound[t].tolist())},
            log="y",
        ),
        details={"smallest curvature at a start": curvature, "mu / L": MU / L},
    )
