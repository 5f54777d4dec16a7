"""Random windows of one long text: how a network with a fixed context learns the next token."""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from chainrule.errors import InputError
from chainrule.learning.tasks import Task
from chainrule.training.checks import check_learnable, check_text
from chainrule.training.evaluation import each, evaluation_mode
from chainrule.training.settings import Settings
from chainrule.training.sources.base import Arrays, Batch, shared
from chainrule.training.sources.text import TextSource, summed_loss

TOKENS = 2**14  # of windows per forward pass of an evaluation
EVALUATED = 2**23  # tokens of a text, at most about so many


class RandomWindows(TextSource):
    """Random windows of a text: how a network with a fixed context learns the next token.

        step t draws B positions s, reads x_s … x_{s+T-1} and predicts x_{s+1} … x_{s+T}

    Nothing is carried from step to step: all T predictions of all B windows are made at once. The
    positions of step t follow from (seed, t). A text is evaluated in windows that lie end to end,
    so that each of the T positions counts alike, as it does in the mean over random ones; of a text
    of more than 2²³ tokens some windows are taken, at equal distances.
    Radford et al. (2018); Karpathy (2022), nanoGPT. Notes: J 6.4.

    Args:
        text: tokens and the next tokens.
        context_length: T, tokens of a window.
        epoch_steps: updates per epoch; an epoch is not a pass over the text.
    """

    def __init__(self, text: Arrays, context_length: int = 64, epoch_steps: int = 250):
        super().__init__(text)
        for name, value, least in (
            ("context_length", context_length, 2),
            ("epoch_steps", epoch_steps, 1),
        ):
            if value < least:
                raise InputError(f"`{name}` must be at least {least}, got {value}")
        self.context_length, self.epoch_steps = context_length, epoch_steps

    def on(self, text: Arrays) -> "RandomWindows":
        return RandomWindows(text, self.context_length, self.epoch_steps)

    def steps(self, settings: Settings) -> int:
        return self.epoch_steps

    def work(self, settings: Settings) -> int:
        return settings.batch_size * self.context_length

    def epoch(self, settings: Settings, epoch: int) -> Callable[[int], Batch]:
        x, y = self.text
        within = torch.arange(self.context_length, device=x.device)
        last, size = len(x) - self.context_length + 1, settings.batch_size

        def batch(step: int) -> Batch:
            positions = self.own(torch.randint(last, (size, 1), device=x.device)) + within
            return Batch((x[positions].long(),), (y[positions].long(),), size)

        return batch

    def share(self, rank: int, ranks: int) -> "RandomWindows":
        return shared(self, rank, ranks)

    def evaluate(self, model: nn.Module, task: Task) -> dict[str, float]:
        """Mean loss per token over windows that lie end to end; a remainder is not read."""
        device = next(model.parameters()).device
        T = self.context_length
        number = len(self) // T
        x, y = (t[: number * T].view(number, T)[:: -(-number * T // EVALUATED)] for t in self.text)
        rows = max(1, TOKENS // T)

        def loss(part: Arrays) -> float:
            x_part, y_part = (t.long().to(device) for t in part)
            return summed_loss(model(x_part), y_part)

        with evaluation_mode(model):
            sums = each(loss, zip(x.split(rows), y.split(rows), strict=True))
        total = 0.0
        for part in sums:  # `sum` rounds in another way from Python 3.12 on
            total += part
        return {"loss": total / y.numel()}

    def check(self, model: nn.Module, task: Task, settings: Settings, name: str) -> None:
        check_text(self.text, name, self.context_length, "a smaller `context_length`")
        if name == "training":
            check_learnable(model)

    def describe(self) -> dict[str, Any]:
        own = {"context_length": self.context_length, "epoch_steps": self.epoch_steps}
        return super().describe() | own
