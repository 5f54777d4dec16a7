"""Claim: weight decay μ shrinks the solution by λ/(λ + μ) along each Hessian axis (J 8.2).

    θ ← θ - η (∇ℓ(θ) + μ θ),    ℓ = ½ (θ - θ*)ᵀ H (θ - θ*)   ⇒   q_iᵀθ_μ = λ_i / (λ_i + μ) q_iᵀθ*

with H q_i = λ_i q_i: steep directions are kept, flat ones shrink.
Measured: linear regression of the diabetes data, solved directly, and by descent with weight decay;
the largest distance of q_iᵀθ_μ from the formula, relative to max |θ*|.
Bound: 1e-9. Descent converges linearly to double precision; the flattest axis loses at most six
digits.
J prints ∇ℓ - μ θ, which would drive θ away, and leaves out the ½ of the Taylor expansion. Krogh and
Hertz (1992).
"""

import torch
from torch import Tensor

from chainrule.errors import InputError
from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.lab.helpers.diabetes_regression import centered_diabetes
from chainrule.learning.losses import squared
from chainrule.learning.optimizers import optimizer
from chainrule.models.feedforward.linear_regression import LinearRegression

BOUND = 1e-9
DECAYS = (0.03, 0.3, 3.0)


def check(steps: int = 500) -> Verdict:
    """A Taylor expansion with its ½.

    Args:
        steps: Steps of descent, at least 400.
    """
    if steps < 400:
        raise InputError(f"`steps` must be at least 400 for descent to converge, got {steps}")
    return verdict(steps, half=1.0)


def broken() -> Verdict:
    """The expansion without ½, as printed: every λ doubles."""
    return verdict(500, half=2.0)


def near() -> Near:
    """Curvatures off by 10 %."""
    return ten_percent("λ", lambda factor: verdict(500, half=factor))


def verdict(steps: int, half: float) -> Verdict:
    """θ_μ along the axes, for three μ."""
    x, y = centered_diabetes()
    curvatures, axes = torch.linalg.eigh(x.T @ x / len(x))
    curvatures = half * curvatures
    model = LinearRegression(x.shape[1], bias=False).double()
    model.solve(x, y)
    best = axes.T @ model.weight.detach()[0]
    decayed = {mu: axes.T @ descended(x, y, mu, steps) for mu in DECAYS}
    worst = max(
        (theta - kept(curvatures, mu) * best).abs().max().item() for mu, theta in decayed.items()
    )
    fine = torch.logspace(-2.3, 1, 60, dtype=torch.float64)
    return Verdict(
        quantity="largest |q_iᵀθ_μ - λ_i/(λ_i + μ) q_iᵀθ*| / max |θ*|",
        measured=worst / best.abs().max().item(),
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="Weight decay keeps steep directions and shrinks flat ones",
            x_label="curvature λ of the loss along the axis",
            y_label="fraction of θ* that is kept",
            curves={f"μ = {mu:g}": (fine.tolist(), kept(fine, mu).tolist()) for mu in DECAYS},
            points={
                f"μ = {mu:g}": (curvatures.tolist(), (theta / best).tolist())
                for mu, theta in decayed.items()
            },
            log="x",
        ),
    )


def kept(curvatures: Tensor, mu: float) -> Tensor:
    """λ / (λ + μ)."""
    return curvatures / (curvatures + mu)


def descended(x: Tensor, y: Tensor, mu: float, steps: int) -> Tensor:
    """θ after descent with weight decay μ."""
    model = LinearRegression(x.shape[1], bias=False).double()
    steepest = torch.linalg.matrix_norm(x, 2).item() ** 2 / len(x)
    descent = optimizer("nesterov", model.parameters(), 1 / (steepest + mu), mu)
    for _ in range(steps):
        descent.zero_grad()
        squared(model(x), y).mean().backward()
        descent.step()
    return model.weight.detach()[0]
