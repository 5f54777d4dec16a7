"""Adam and AdamW by torch's fused CPU kernel, called directly.

    m ← β₁ m + (1 - β₁) g,      v ← β₂ v + (1 - β₂) g²
    θ ← θ - η m̂ / (√v̂ + ε),     m̂ = m / (1 - β₁ᵗ),  v̂ = v / (1 - β₂ᵗ)

The same numbers, bit for bit, as torch.optim's with fused=True, from which these classes inherit
everything but `step`. For small networks most of that step is Python: looking up state, grouping
tensors, counting. Here the lists are made once (benchmarks/parts.py measures what that gives).
Kingma and Ba (2015); Loshchilov and Hutter (2019).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor


class Lists(NamedTuple):
    """The kernel's arguments for one group of parameters."""

    parameters: list[Tensor]
    m: list[Tensor]
    v: list[Tensor]
    t: list[Tensor]


class QuickAdam(torch.optim.Adam):
    """torch.optim.Adam for parameters on the CPU that all receive gradients in every step."""

    kernel = staticmethod(torch._fused_adam_)

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options, fused=True)
        self.lists: list[Lists] = []

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        super().load_state_dict(state_dict)
        self.lists = []

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> None:  # type: ignore[override]
        if not self.lists:
            self.lists = [self._lists(group["params"]) for group in self.param_groups]
        for group, (parameters, m, v, t) in zip(self.param_groups, self.lists, strict=True):
            t[0].add_(1)
            self.kernel(
                parameters,
                [p.grad for p in parameters],  # type: ignore[misc]
                m,
                v,
                [],
                t,
                lr=group["lr"],
                beta1=group["betas"][0],
                beta2=group["betas"][1],
                weight_decay=group["weight_decay"],
                eps=group["eps"],
                amsgrad=False,
                maximize=False,
            )

    def zero_grad(self, set_to_none: bool = True) -> None:
        for group in self.param_groups:
            for p in group["params"]:
                p.grad = None

    def _lists(self, parameters: list[Tensor]) -> Lists:
        """State of one group; its parameters share one step counter."""
        for p in parameters:
            if p not in self.state:
                zero = torch.zeros_like(p, memory_format=torch.preserve_format)
                self.state[p] = {
                    "step": torch.zeros(()),
                    "exp_avg": zero,
                    "exp_avg_sq": zero.clone(),
                }
        t = self.state[parameters[0]]["step"]
        for p in parameters:
            self.state[p]["step"] = t
        return Lists(
            parameters,
            [self.state[p]["exp_avg"] for p in parameters],
            [self.state[p]["exp_avg_sq"] for p in parameters],
            [t] * len(parameters),
        )


class QuickAdamW(QuickAdam):
    """The same with decoupled decay."""

    kernel = staticmethod(torch._fused_adamw_)


for quick in (QuickAdam, QuickAdamW):
    quick.step.hooked = True  # type: ignore[attr-defined]  # torch would wrap it in a profiler range
