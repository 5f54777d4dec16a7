"""A network that learns while one watches: its steps, and its loss as a curve."""

from collections.abc import Generator
from typing import Any

from torch import nn

from chainrule.studio.activity import Json, rounded
from chainrule.training import Progress, iterate

EPOCHS = 100_000  # nobody waits for the end


class Learner:
    """Training that is asked for one step at a time; an epoch is one point of the curve.

    Args:
        model: the network.
        data: what it learns from, as `iterate` takes it.
        options: of `iterate`.
    """

    def __init__(self, model: nn.Module, data: Any, **options: Any):
        self.progress: Generator[Progress] = iterate(
            model, data, tick=0.0, epochs=EPOCHS, threads=1, **options
        )
        self.step = 0
        self.steps: list[int] = []
        self.losses: list[float] = []

    def advance(self) -> None:
        """One update of the weights; where it begins an epoch, the one before gets its point."""
        now = next(self.progress)
        if now.record is not None:
            self.steps.append(self.step)
            self.losses.append(now.record["train_loss"])
            next(self.progress)
        self.step += 1

    def drawn(self) -> Json:
        """The step, and the curve so far."""
        return {"step": self.step, "curve": [self.steps, rounded(self.losses)]}
