"""Claim: the gradients of a convolution are correlations with the output gradient (J 4.2).

    y = f ∗ h,  g = ∂ℓ/∂y   ⇒   ∂ℓ/∂f = h ⋆ g,   ∂ℓ/∂h = f ⋆ g
    y = h ⋆ f,  g = ∂ℓ/∂y   ⇒   ∂ℓ/∂f = g ∗ h,   ∂ℓ/∂h = g ⋆ f

The notes leave them open.
Measured: the largest difference from autograd, over random signals and kernels of one and two
dimensions in all modes, relative to the largest entry of each gradient.
Bound: 1e-12. Both sides add the same few dozen products in double precision in different orders;
each has a relative error of 1.1e-16.
LeCun et al. (1989).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.nn.convolution import (
    MODES,
    convolution,
    convolution_gradients,
    correlation,
    correlation_gradients,
)

BOUND = 1e-12
SHAPES = (((12,), (5,)), ((7, 6), (3, 2)))


class Rule(NamedTuple):
    """An operation and its gradients."""

    operation: Callable[..., Tensor]
    gradients: Callable[..., tuple[Tensor, Tensor]]


def check(trials: int = 3, seed: int = 0) -> Verdict:
    """Both operations, each with its own gradients.

    Args:
        trials: Random signals and kernels for each mode.
    """
    rules = [Rule(convolution, convolution_gradients), Rule(correlation, correlation_gradients)]
    return verdict(rules, trials, seed)


def broken() -> Verdict:
    """The kernel is not flipped in the backward pass."""
    return verdict([Rule(convolution, correlation_gradients)], 1, 0)


def near() -> Near:
    """Gradients off by 10 %."""

    def scaled(factor: float) -> Verdict:
        def gradients(*given: Any) -> tuple[Tensor, Tensor]:
            of_signal, of_kernel = convolution_gradients(*given)
            return of_signal, factor * of_kernel

        return verdict([Rule(convolution, gradients)], 1, 0)

    return ten_percent("∂ℓ/∂h", scaled)


def verdict(rules: list[Rule], trials: int, seed: int) -> Verdict:
    """Entry by entry, by hand and by autograd."""
    generator = torch.Generator().manual_seed(seed)
    found = [
        both(rule, shape, kernel, mode, generator)
        for _ in range(trials)
        for rule in rules
        for shape, kernel in SHAPES
        for mode in MODES
    ]
    pairs = [pair for case in found for pair in case]
    worst = max(((a - b).abs().max() / b.abs().max()).item() for a, b in pairs)
    f = torch.zeros(60, dtype=torch.float64, requires_grad=True)
    places = [float(t) for t in range(len(f))]
    h = torch.exp(-torch.arange(12, dtype=torch.float64) / 4)
    above = torch.zeros(60, dtype=torch.float64).index_fill(0, torch.tensor([20, 45]), 1.0)
    (automatic,) = torch.autograd.grad((convolution(f, h, "same") * above).sum(), f)
    by_hand, _ = rules[0].gradients(f.detach(), h, above, "same")
    return Verdict(
        quantity="largest relative difference from autograd",
        measured=worst,
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="The gradient of a convolution sees the flipped kernel",
            x_label="position in the signal",
            y_label="∂ℓ/∂f, where ℓ depends on two entries of f ∗ h",
            curves={
                "autograd": (places, automatic.tolist()),
                "the kernel without flipping": (places, convolution(above, h, "same").tolist()),
            },
            points={"h ⋆ g by hand": (places, by_hand.tolist())},
        ),
        details={"entries": float(sum(a.numel() for a, _ in pairs))},
    )


def both(
    rule: Rule, shape: tuple[int, ...], kernel: tuple[int, ...], mode: str, g: torch.Generator
) -> list[tuple[Tensor, Tensor]]:
    """(by hand, by autograd) of the signal and of the kernel."""
    f, h = (torch.randn(s, dtype=torch.float64, generator=g) for s in (shape, kernel))
    y = rule.operation(f.requires_grad_(), h.requires_grad_(), mode)
    above = torch.randn(y.shape, dtype=torch.float64, generator=g)
    automatic = torch.autograd.grad((y * above).sum(), (f, h))
    by_hand = rule.gradients(f.detach(), h.detach(), above, mode)
    return list(zip(by_hand, automatic, strict=True))
