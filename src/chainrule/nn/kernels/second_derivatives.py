"""Gradients that can be differentiated again, for functions whose own backward pass cannot.

A written-out backward pass works in place, and what it returns looks like a constant to autograd:
a second derivative through it would lack terms without a word. Where a graph of the gradient is
asked for (`create_graph=True`), the function is therefore evaluated again step by step.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor


def differentiable_gradients(
    function: Callable[..., Any], inputs: Sequence[Tensor], gradient: Tensor | Sequence[Tensor]
) -> tuple[Tensor, ...]:
    """Σ ∂f/∂x · gradient for every input x, as a function of all of them."""
    inputs = [t if t.requires_grad else t.clone().requires_grad_() for t in inputs]
    return torch.autograd.grad(function(*inputs), inputs, gradient, create_graph=True)
