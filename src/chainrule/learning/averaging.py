"""Exponential moving average of the weights during training.

    θ̄_t = Σ_{s ≤ t} β^{t-s} θ_s / Σ_{s ≤ t} β^{t-s}

or recursively θ̄_t = θ̄_{t-1} + w_t (θ_t - θ̄_{t-1}) with w_t = (1 - β) / (1 - βᵗ). The first average
is the first θ, so no bias correction is needed. Polyak and Juditsky (1992).
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from chainrule.arguments import Rate, checked

UPDATES = "updates"


@checked
class MovingAverage:
    """θ̄ of all floating-point parameters and buffers of a model; integer buffers are copied.

    Args:
        decay: β.
    """

    def __init__(self, decay: Rate = 0.999):
        self.decay = decay
        self.updates = 0
        self.weights: dict[str, Tensor] = {}

    @torch.no_grad()
    def update(self, model: nn.Module) -> None:
        """θ̄ ← θ̄ + w_t (θ - θ̄)."""
        current = model.state_dict()
        if not self.weights:
            self.weights = {name: theta.clone() for name, theta in current.items()}
        self.updates += 1
        w = (1 - self.decay) / (1 - self.decay**self.updates)
        real = [name for name, theta in current.items() if theta.is_floating_point()]
        if real:
            averages, thetas = [self.weights[name] for name in real], [current[n] for n in real]
            torch._foreach_lerp_(averages, thetas, w)
        for name in current.keys() - set(real):
            self.weights[name].copy_(current[name])

    @contextmanager
    def applied(self, model: nn.Module) -> Iterator[None]:
        """The model has the averaged weights inside the `with` block, and its own ones after it."""
        own = {name: theta.clone() for name, theta in model.state_dict().items()}
        model.load_state_dict(self.weights)
        try:
            yield
        finally:
            model.load_state_dict(own)

    def state(self) -> dict[str, Tensor]:
        """The tensors to save for `restore`."""
        averages = {f"average.{name}": theta for name, theta in self.weights.items()}
        return {UPDATES: torch.tensor(self.updates), **averages}

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Continue from a saved state."""
        self.updates = int(state[UPDATES])
        self.weights = {
            name.removeprefix("average."): theta.clone()
            for name, theta in state.items()
            if name != UPDATES
        }
