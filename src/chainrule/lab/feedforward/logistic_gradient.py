"""Claim: the gradient of the logistic loss is (σ(wᵀx) - y) x (J 2.1).

    ℓ(w) = -log σ((2y - 1) wᵀx),   y ∈ {0, 1}      ⇒      ∇ℓ = (σ(wᵀx) - y) x,   -1 < σ - y < 1

Measured: the largest difference between the formula and autograd on the loss, over random weights
and examples with logits up to ±30, relative to ‖x‖∞.
Bound: 1e-14, fifty roundings of numbers below one in double precision.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.models.feedforward.logistic_regression import gradient, loss

ROUNDING = 1e-14


def check(examples: int = 1000, inputs: int = 10, seed: int = 0) -> Verdict:
    """The library's formula.

    Args:
        examples: Random examples.
        inputs: Input dimension.
    """
    return verdict(gradient, examples, inputs, seed)


def broken() -> Verdict:
    """Labels -1 and +1 in the formula for labels 0 and 1."""
    return verdict(lambda w, x, y: gradient(w, x, 2 * y - 1), 100, 10, 0)


def near() -> Near:
    """The whole gradient, or the label, off by 10 %."""
    return {
        **ten_percent(
            "∇ℓ", lambda factor: verdict(lambda w, x, y: factor * gradient(w, x, y), 100, 10, 0)
        ),
        "label 0.9 for 1": lambda: verdict(lambda w, x, y: gradient(w, x, 0.9 * y), 100, 10, 0),
    }


def verdict(
    formula: Callable[[Tensor, Tensor, Tensor], Tensor], examples: int, inputs: int, seed: int
) -> Verdict:
    """The formula against autograd; in the picture, the derivative with respect to the logit."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(examples, inputs, generator=generator, dtype=torch.float64)
    w = torch.randn(inputs, generator=generator, dtype=torch.float64)
    x = x * (30 / (x @ w).abs().max())
    y = torch.randint(0, 2, (examples,), generator=generator)
    wrong = (formula(w, x, y) - automatic(w, x, y)).abs().amax(1) / x.abs().amax(1)
    z = torch.linspace(-6, 6, 60, dtype=torch.float64)[:, None]
    one, zeros, ones = torch.ones(1).double(), torch.zeros(60).long(), torch.ones(60).long()
    slopes = {"y = 0": automatic(one, z, zeros) / z, "y = 1": automatic(one, z, ones) / z}
    shown = z[::5, 0].tolist()
    return Verdict(
        quantity="largest |formula - autograd| / ‖x‖∞",
        measured=wrong.max().item(),
        relation="≤",
        bound=ROUNDING,
        picture=Picture(
            title="The derivative of the logistic loss is the prediction minus the label",
            x_label="logit z = wᵀx",
            y_label="derivative of the loss, dℓ/dz",
            curves={
                "y = 0": (z[:, 0].tolist(), z[:, 0].sigmoid().tolist()),
                "y = 1": (z[:, 0].tolist(), (z[:, 0].sigmoid() - 1).tolist()),
            },
            points={name: (shown, slope[::5, 0].tolist()) for name, slope in slopes.items()},
        ),
        details={"largest logit": (x @ w).abs().max().item()},
    )


def automatic(w: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """∇ℓ of every example: its own copy of the weights."""
    copies = w.expand(len(x), -1).clone().requires_grad_()
    values = [loss(w_i, x_i[None], y_i[None]) for w_i, x_i, y_i in zip(copies, x, y, strict=True)]
    return torch.autograd.grad(torch.cat(values).sum(), copies)[0]
