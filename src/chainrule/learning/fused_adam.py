"""Adam and AdamW by torch's fused CPU kernel, called directly.

    m ← β₁ m + (1 - β₁) g,      v ← β₂ v + (1 - β₂) g²
    θ ← θ - η m̂ / (√v̂ + ε),     m̂ = m / (1 - β₁ᵗ),  v̂ = v / (1 - β₂ᵗ)

Bit for bit equal to torch.optim's with fused=True, from which these classes inherit everything but
`step`. For small networks most of that step is Python that looks up state and groups tensors. Here
the lists are made once (`chainrule bench parts` measures the gain).
Kingma and Ba (2015); Loshchilov and Hutter (2019).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from chainrule.errors import InputError


class TensorLists(NamedTuple):
    """The kernel's arguments for one group of parameters."""

    parameters: list[Tensor]
    m: list[Tensor]
    v: list[Tensor]
    t: list[Tensor]


class FusedAdam(torch.optim.Adam):
    """torch.optim.Adam for parameters on the CPU."""

    kernel = staticmethod(torch._fused_adam_)

    def __init__(self, params: Any, lr: float = 1e-3, **options: Any) -> None:
        if options.get("amsgrad") or options.get("maximize"):
            raise InputError(
                "FusedAdam supports neither amsgrad nor maximize; use torch.optim.Adam"
            )
        super().__init__(params, lr, fused=True, **options)
        self.lists: list[TensorLists] = []

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        super().load_state_dict(state_dict)
        self.lists = []

    def step(self, closure: Callable[[], Any] | None = None) -> None:  # type: ignore[override]
        if not self.lists:
            self.lists = [self._tensor_lists(group["params"]) for group in self.param_groups]
        with torch.no_grad():
            self._step([self._used(lists) for lists in self.lists])

    def _used(self, lists: TensorLists) -> TensorLists:
        """The part of a group that has a gradient."""
        used = [i for i, p in enumerate(lists.parameters) if p.grad is not None]
        if len(used) == len(lists.parameters):
            return lists
        return TensorLists(*([part[i] for i in used] for part in lists))

    def _step(self, every: list[TensorLists]) -> None:
        counts = [t for lists in every for t in lists.t]
        if counts:
            torch._foreach_add_(counts, 1)
        for group, lists in zip(self.param_groups, every, strict=True):
            if not lists.parameters:
                continue
            self.kernel(
                lists.parameters,
                [p.grad for p in lists.parameters if p.grad is not None],
                lists.m,
                lists.v,
                [],
                lists.t,
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

    def _tensor_lists(self, parameters: list[Tensor]) -> TensorLists:
        """The state of one group, created where there is none yet."""
        for p in parameters:
            if p not in self.state:
                zero = torch.zeros_like(p, memory_format=torch.preserve_format)
                self.state[p] = {
                    "step": torch.zeros(()),
                    "exp_avg": zero,
                    "exp_avg_sq": zero.clone(),
                }
        m, v, t = (
            [self.state[p][key] for p in parameters] for key in ("exp_avg", "exp_avg_sq", "step")
        )
        return TensorLists(parameters, m, v, t)


class FusedAdamW(FusedAdam):
    """torch.optim.AdamW for parameters on the CPU."""

    kernel = staticmethod(torch._fused_adamw_)


for fused in (FusedAdam, FusedAdamW):
    fused.step.hooked = True  # type: ignore[attr-defined]  # torch would wrap it in a profiler range
