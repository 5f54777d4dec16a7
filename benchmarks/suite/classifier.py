"""What a row of classifiers says: data, networks, batch."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from benchmarks.suite.contract import Ready
from benchmarks.suite.synthetic import Labeled
from benchmarks.suite.tuning import alike, count


@dataclass(frozen=True)
class Classifier:
    """What is learned, from what, and by which network in each library."""

    data: Labeled
    """All of it is learned once where quality is compared."""
    count: int
    """Examples in a timed unit, the first of the data."""
    ours: Callable[[], nn.Module]
    plain: Callable[[], nn.Module]
    keras: Callable[[], Any] | None = None
    batch: int = 128
    rate: float = 1e-3
    studied: int = 0
    """The batch where quality is compared, so that few examples make many steps; 0: the same."""

    @property
    def timed(self) -> "Classifier":
        """With the examples of a unit."""
        x, y, *held = self.data
        return replace(self, data=Labeled(x[: self.count], y[: self.count], *held))

    @property
    def learned(self) -> "Classifier":
        """As quality is compared."""
        return replace(self, batch=self.studied or self.batch)

    @property
    def images(self) -> bool:
        return self.data.x.ndim == 4

    def own(self, seed: int = 0) -> nn.Module:
        """Our network with the initial weights that PyTorch's has for this seed."""
        model = self.ours()
        torch.manual_seed(seed)
        return alike(model, self.plain())

    def laid_out(self, model: nn.Module) -> nn.Module:
        """Channels last, which convolutions like."""
        return model.to(memory_format=torch.channels_last) if self.images else model

    def loss(self, model: nn.Module) -> float:
        """Mean cross-entropy of what was held back."""
        model.eval()
        with torch.no_grad():
            parts = [
                F.cross_entropy(model(x), y, reduction="sum")
                for x, y in zip(
                    self.data.held_x.split(500), self.data.held_y.split(500), strict=True
                )
            ]
        model.train()
        return float(sum(parts)) / self.data.held_y.numel()


def epochs(
    given: Classifier, start: Callable[[Classifier], tuple[nn.Module, Callable[[], Any]]]
) -> Ready:
    """Ready from a function that starts a network and its epochs."""
    model, epoch = start(given.timed)

    def quality(seed: int) -> float:
        torch.manual_seed(seed)
        fresh, run = start(given.learned)
        run()
        return given.loss(fresh)

    return Ready(epoch, quality, count(model))
