"""Functions whose smoothness L is known, for the claims about gradient descent.

    sigmoid unit    h(θ) = 1/N Σ_i ½ (σ(θᵀx_i) - y_i)²         L ≤ 0.0771 ‖XᵀX‖₂ / N, not convex
    Huber           h(θ) = ½ θ² for |θ| ≤ δ, else δ |θ| - ½ δ²      L = 1, convex

0.0771 is the largest |2p² - 5p³ + 3p⁴| for p in [0, 1]: the second derivative of ½ (σ(z) - y)²
with p = σ(z) for y = 0 and p = 1 - σ(z) for y = 1. It is linear in y, so no y between has more.
"""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import huber_loss

from chainrule.autodiff.curvature import Function
from chainrule.learning import losses


class Smooth(NamedTuple):
    """A function with ‖∇²h‖₂ ≤ L and h ≥ 0, and a starting point."""

    h: Function
    start: Tensor
    L: float


def sigmoid_unit(
    generator: torch.Generator, examples: int = 50, inputs: int = 4, realizable: bool = False
) -> Smooth:
    """Random labels, or the outputs of another unit (h* = 0), and a start where h is flat."""
    x = torch.randn(examples, inputs, dtype=torch.float64, generator=generator)
    if realizable:
        teacher = torch.randn(inputs, dtype=torch.float64, generator=generator)
        y = (x @ teacher).sigmoid()
    else:
        y = torch.randint(0, 2, (examples,), generator=generator).double()
    start = 3 * torch.randn(inputs, dtype=torch.float64, generator=generator)
    L = 0.0771 * torch.linalg.matrix_norm(x, 2).item() ** 2 / examples
    return Smooth(lambda theta: losses.squared((x @ theta).sigmoid(), y).mean(), start, L)


def huber(start: float, bend: float) -> Smooth:
    """The gradient has size δ = `bend` until |θ| ≤ δ."""
    zero = torch.zeros((), dtype=torch.float64)
    begin = torch.tensor(start, dtype=torch.float64)
    return Smooth(lambda theta: huber_loss(theta, zero, delta=bend), begin, 1.0)
