"""One long text: truncated backpropagation through time, or random windows of a fixed length."""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.learning.tasks import Task
from chainrule.training import devices
from chainrule.training.checks import check_learnable, check_text
from chainrule.training.evaluation import evaluation_mode
from chainrule.training.randomness import mix
from chainrule.training.settings import Settings
from chainrule.training.sources.base import Arrays, Batch, BatchSource, Carried

EVALUATION_STREAMS = 16  # parallel streams of an evaluated text
EVALUATION_CHUNK = 256  # tokens of each stream per forward pass
EVALUATION_TOKENS = 2**14  # tokens of windows per forward pass
REASON = "a text has no separate examples"


class TextSource(BatchSource):
    """A text as (tokens, next tokens), each of shape (length,)."""

    unsupported = dict.fromkeys(
        ("accumulate", "class_weights", "label_smoothing", "sampling"), REASON
    )

    def __init__(self, text: Arrays):
        self.text = tuple(text)

    def __len__(self) -> int:
        return len(self.text[0])

    def on(self, text: Arrays) -> "TextSource":
        """The same kind of source for another text."""
        raise NotImplementedError

    def prepared(self, task: Task, device: torch.device, training: bool) -> "TextSource":
        text = task.targets(self.text)
        return self.on(devices.resident(text, device) if training else text)


class TruncatedBPTT(TextSource):
    """Truncated backpropagation through time over a text that is cut into B parallel streams.

        ŷ, z = model.decode_step(x, z),   g = ∇ mean loss,   z without its history

    The gradient reaches back T tokens at most, the state z much further: it is handed from step to
    step and is zero at the start of every epoch. The batch size is the number of streams. Tokens
    that B · T does not divide are skipped at both ends, by an offset that follows from (seed,
    epoch). Williams and Peng (1990), Neural Computation 2. Notes: J 5.

    Args:
        text: tokens and the next tokens.
        chunk_length: T, tokens of a stream in one step.
    """

    def __init__(self, text: Arrays, chunk_length: int = 128):
        super().__init__(text)
        if chunk_length < 1:
            raise InputError(f"`chunk_length` must be at least 1, got {chunk_length}")
        self.chunk_length = chunk_length

    def on(self, text: Arrays) -> "TruncatedBPTT":
        return TruncatedBPTT(text, self.chunk_length)

    def steps(self, settings: Settings) -> int:
        return len(self) // (settings.batch_size * self.chunk_length)

    def epoch(self, settings: Settings, epoch: int) -> Callable[[int], Batch]:
        streams, T = settings.batch_size, self.chunk_length
        length = self.steps(settings) * T
        offset = mix(settings.seed, -1 - epoch) % (len(self) - streams * length + 1)
        x, y = as_streams(self.text, streams, length, offset)

        def batch(step: int) -> Batch:
            part = slice(step * T, (step + 1) * T)
            return Batch((x[:, part],), (y[:, part],), streams)

        return batch

    def forward(
        self, model: Callable[..., Any], inputs: Arrays, carried: Carried
    ) -> tuple[Tensor, Carried]:
        before = tuple(carried[name] for name in sorted(carried, key=int)) or None
        logits, after = model.decode_step(*inputs, before)  # type: ignore[attr-defined]
        return logits, {str(k): part.detach() for k, part in enumerate(after)}

    def evaluate(self, model: nn.Module, task: Task) -> dict[str, float]:
        """Mean loss per token, read in 16 streams from zero states."""
        device = next(model.parameters()).device
        x, y = as_streams(self.text, EVALUATION_STREAMS, len(self) // EVALUATION_STREAMS, 0)
        total, state = 0.0, None
        with evaluation_mode(model):
            chunks = zip(x.split(EVALUATION_CHUNK, 1), y.split(EVALUATION_CHUNK, 1), strict=True)
            for x_t, y_t in chunks:
                logits, state = model.decode_step(x_t.to(device), state)  # type: ignore[operator]
                total += summed(logits, y_t.to(device))
        return {"loss": total / y.numel()}

    def check(self, model: nn.Module, task: Task, settings: Settings, name: str) -> None:
        training = name == "training"
        least = settings.batch_size * self.chunk_length if training else EVALUATION_STREAMS
        check_text(self.text, name, least, "a smaller `batch_size` or `chunk_length`")
        check_learnable(model)

    def describe(self) -> dict[str, Any]:
        return super().describe() | {"chunk_length": self.chunk_length}


class RandomWindows(TextSource):
    """Random windows of a text: how a network with a fixed context learns the next token.

        step t draws B positions s, reads x_s … x_{s+T-1} and predicts x_{s+1} … x_{s+T}

    Nothing is carried from step to step: all T predictions of all B windows are made at once. The
    positions of step t follow from (seed, t). A text is evaluated in windows that lie end to end,
    so that each of the T positions counts alike, as it does in the mean over random ones.
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
            positions = torch.randint(last, (size, 1), device=x.device) + within
            return Batch((x[positions],), (y[positions],), size)

        return batch

    def evaluate(self, model: nn.Module, task: Task) -> dict[str, float]:
        """Mean loss per token over windows that lie end to end; a remainder is not read."""
        device = next(model.parameters()).device
        T = self.context_length
        number = len(self) // T
        x, y = (t[: number * T].view(number, T) for t in self.text)
        rows, total = max(1, EVALUATION_TOKENS // T), 0.0
        with evaluation_mode(model):
            for x_part, y_part in zip(x.split(rows), y.split(rows), strict=True):
                total += summed(model(x_part.to(device)), y_part.to(device))
        return {"loss": total / y.numel()}

    def check(self, model: nn.Module, task: Task, settings: Settings, name: str) -> None:
        check_text(self.text, name, self.context_length, "a smaller `context_length`")
        check_learnable(model)

    def describe(self) -> dict[str, Any]:
        own = {"context_length": self.context_length, "epoch_steps": self.epoch_steps}
        return super().describe() | own


def as_streams(text: Arrays, streams: int, length: int, start: int) -> tuple[Tensor, Tensor]:
    """Tokens and next tokens of every stream: (streams, length) each."""
    x, y = (t[start : start + streams * length].view(streams, length) for t in text)
    return x, y


def summed(logits: Tensor, y: Tensor) -> float:
    """Σ -log p of all tokens."""
    flat = logits.float().flatten(0, 1), y.flatten()
    return F.cross_entropy(*flat, reduction="sum").item()
