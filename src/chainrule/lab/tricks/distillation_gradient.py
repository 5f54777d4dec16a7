"""Claim: the gradient of the distillation loss is (q - p)/T (J 8.9).

    ℓ = -Σ_y p_y log q_y,   p = softmax(F/T), q = softmax(G/T)   ⇒   ∂ℓ/∂G = (q - p)/T
    T → ∞   ⇒   T² ∂ℓ/∂G → ((G - Ḡ) - (F - F̄)) / K        K classes, means over them

Measured: the largest difference from autograd over random logits and temperatures, relative to the
largest entry.
Bound: 1e-12, about a thousand times the rounding of double precision.
J prints loss and gradient without the minus sign: descent would drive the student away from its
teacher. Nor is the gradient a difference of tempered logits: it is one of probabilities, and tends
to that of the centered logits only for large T. Hinton, Vinyals and Dean (2015).
"""

from collections.abc import Callable

import torch
from torch import Tensor

from chainrule.errors import InputError
from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.learning.distillation import distillation, distillation_gradient

BOUND = 1e-12
Formula = Callable[[Tensor, Tensor, float], Tensor]
TEMPERATURES = [10 ** (k / 5) for k in range(-2, 12)]


def check(examples: int = 200, classes: int = 10, seed: int = 0) -> Verdict:
    """(q - p)/T.

    Args:
        examples: Random logits of student and teacher.
        classes: Classes K.
    """
    if classes < 2:
        raise InputError(f"`classes` must be at least 2, got {classes}")
    return verdict(examples, classes, seed, sign=1.0)


def broken() -> Verdict:
    """(p - q)/T, as printed, is not the gradient of a loss."""
    return verdict(20, 10, 0, sign=-1.0)


def near() -> Near:
    """A gradient off by 10 %, and the difference of tempered logits."""
    return {
        **ten_percent("(q - p)/T", lambda factor: verdict(20, 10, 0, sign=factor)),
        "as printed: tempered logits": lambda: verdict(20, 10, 0, formula=of_logits),
    }


def verdict(
    examples: int,
    classes: int,
    seed: int,
    sign: float = 1.0,
    formula: Formula = distillation_gradient,
) -> Verdict:
    """Formula against autograd by temperature."""
    generator = torch.Generator().manual_seed(seed)
    F, G = 3 * torch.randn(2, examples, classes, dtype=torch.float64, generator=generator)
    formulas = [sign * formula(G, F, T) for T in TEMPERATURES]
    found = [automatic(G, F, T) for T in TEMPERATURES]
    worst = max(
        ((a - b).abs().max() / b.abs().max()).item() for a, b in zip(formulas, found, strict=True)
    )
    limit = size(of_logits(G, F, 1.0))
    return Verdict(
        quantity="largest relative difference from autograd",
        measured=worst,
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="At high temperature the student matches the teacher's logits",
            x_label="temperature T",
            y_label="T² × gradient (root mean square)",
            curves={"T (q - p)": (TEMPERATURES, by_temperature(formulas))},
            points={"autograd": (TEMPERATURES, by_temperature(found))},
            bounds={"limit, difference of logits / K": (TEMPERATURES, [limit] * len(found))},
            log="x",
        ),
    )


def of_logits(student: Tensor, teacher: Tensor, temperature: float) -> Tensor:
    """((G - Ḡ) - (F - F̄)) / (K T²), the limit for large T."""
    apart = student - teacher
    return (apart - apart.mean(1, keepdim=True)) / apart.shape[1] / temperature**2


def automatic(student: Tensor, teacher: Tensor, temperature: float) -> Tensor:
    """∂ℓ/∂G by autograd."""
    G = student.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(distillation(G, teacher, temperature).sum(), G)
    return gradient


def by_temperature(gradients: list[Tensor]) -> list[float]:
    return [T**2 * size(g) for T, g in zip(TEMPERATURES, gradients, strict=True)]


def size(gradient: Tensor) -> float:
    """Root mean square."""
    return gradient.square().mean().sqrt().item()
