"""Lion: steps by the sign of a momentum, found by program search.

    θ ← θ - η (sgn(β₁ m + (1 - β₁) g) + μ θ)
    m ← β₂ m + (1 - β₂) g

Every parameter moves by η in each step, so η should be three to ten times smaller than for AdamW
and the decay μ larger by the same factor. Chen et al. (2023), arXiv 2302.06675. Notes: A 1.3.11.
"""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from chainrule.arguments import NonNegative, Rate, checked


@checked
class Lion(Optimizer):
    """Lion with one momentum per parameter, updated in a few calls for all tensors of a group.

        θ ← θ - η (sgn(β₁ m + (1 - β₁) g) + μ θ),     m ← β₂ m + (1 - β₂) g

    Args:
        params: Parameters or parameter groups.
        lr: η.
        betas: β₁ and β₂.
        weight_decay: μ.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: NonNegative = 1e-4,
        betas: tuple[Rate, Rate] = (0.9, 0.99),
        weight_decay: NonNegative = 0.0,
    ):
        super().__init__(params, {"lr": lr, "betas": betas, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> None:  # type: ignore[override]
        """Update every parameter that has a gradient."""
        for group in self.param_groups:
            parameters = [p for p in group["params"] if p.grad is not None]
            gradients = [p.grad for p in parameters]
            momenta = [self._momentum(p) for p in parameters]
            rate, (beta_1, beta_2) = group["lr"], group["betas"]
            if not parameters:
                continue
            direction = torch._foreach_lerp(momenta, gradients, 1 - beta_1)
            torch._foreach_sign_(direction)
            torch._foreach_mul_(parameters, 1 - rate * group["weight_decay"])
            torch._foreach_add_(parameters, direction, alpha=-rate)
            torch._foreach_lerp_(momenta, gradients, 1 - beta_2)

    def _momentum(self, p: Tensor) -> Tensor:
        state = self.state[p]
        if "momentum" not in state:
            state["momentum"] = torch.zeros_like(p, memory_format=torch.preserve_format)
        return state["momentum"]
