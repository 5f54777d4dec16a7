"""Claim: before batch normalization only the direction of w matters, not its length (J 8.5).

    BN(wᵀx) = μ + γ wᵀ(x - E x) / ‖w‖_Σ,    ‖w‖²_Σ = wᵀ Σ w,   Σ = Cov x
    BN((c w)ᵀx) = BN(wᵀx)   ⇒   ∇ℓ(c w) = ∇ℓ(w) / c,   ∇ℓ(w) ⟂ w

Measured: for lengths c from 10⁻³ to 10³, the largest of three: the difference between layer and
formula, the relative difference between c ∇ℓ(c w) and ∇ℓ(w), and the cosine between ∇ℓ and w.
Bound: 1e-11, about ten thousand times the rounding of double precision; ε = 0 here.
J prints Σ = E xxᵀ, which is right only for E x = 0. Ioffe and Szegedy (2015), van Laarhoven (2017).
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from chainrule.errors import InputError
from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.learning.losses import squared
from chainrule.nn.normalization import BatchNorm

BOUND = 1e-11
LENGTHS = torch.logspace(-3, 3, 13, dtype=torch.float64)


def check(inputs: int = 10, batch: int = 100, seed: int = 0) -> Verdict:
    """The covariance of x.

    Args:
        inputs: Input dimension, at least 2.
        batch: Examples in the batch, at least 3.
    """
    if inputs < 2 or batch < 3:
        raise InputError(
            f"`inputs` must be at least 2 and `batch` at least 3 for a gradient of w, got {inputs} "
            f"and {batch}"
        )
    return verdict(inputs, batch, seed, center=1.0)


def broken() -> Verdict:
    """E xxᵀ of inputs whose mean is not 0, as printed."""
    return verdict(10, 100, 0, center=0.0)


def near() -> Near:
    """Second moments about a point beside the mean."""
    return ten_percent("E x", lambda factor: verdict(10, 100, 0, center=factor))


def verdict(inputs: int, batch: int, seed: int, center: float) -> Verdict:
    """Outputs and gradients by the length of w."""
    generator = torch.Generator().manual_seed(seed)
    x = 1 + torch.randn(batch, inputs, dtype=torch.float64, generator=generator)
    y = torch.randn(batch, 1, dtype=torch.float64, generator=generator)
    w = torch.randn(1, inputs, dtype=torch.float64, generator=generator)
    found = [output_and_gradient(c * w, x, y) for c in LENGTHS]
    about = x - center * x.mean(0)
    length = (w @ (about.T @ about / batch) @ w.T).sqrt()
    formula = (x - x.mean(0)) @ w.T / length
    outputs = max((output - formula).abs().max().item() for output, _ in found)
    _, gradient = output_and_gradient(w, x, y)
    scaled = torch.cat([c * g for c, (_, g) in zip(LENGTHS, found, strict=True)])
    gradients = ((scaled - gradient).abs().max() / gradient.abs().max()).item()
    cosine = F.cosine_similarity(scaled, w).abs().max().item()
    worst = max(outputs, gradients, cosine)
    size = gradient.norm().item()
    return Verdict(
        quantity="largest error of output, gradient and angle",
        measured=worst,
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="With batch normalization a longer w means a smaller gradient",
            x_label="multiple c of the length of w",
            y_label="multiple of the value at c = 1",
            curves={
                "gradient": (LENGTHS.tolist(), (1 / LENGTHS).tolist()),
                "loss": (LENGTHS.tolist(), [1.0] * len(LENGTHS)),
            },
            points={
                "gradient": (LENGTHS.tolist(), [g.norm().item() / size for _, g in found]),
                "loss": (
                    LENGTHS.tolist(),
                    [(loss(f, y) / loss(formula, y)).item() for f, _ in found],
                ),
            },
            log="xy",
        ),
    )


def output_and_gradient(w: Tensor, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """BN(x wᵀ), and ∇ℓ(w) of the squared loss."""
    w = w.clone().requires_grad_()
    output = BatchNorm(1, eps=0.0).double()(F.linear(x, w))
    (gradient,) = torch.autograd.grad(loss(output, y), w)
    return output.detach(), gradient


def loss(output: Tensor, y: Tensor) -> Tensor:
    return squared(output, y).mean()
