"""Truncated backpropagation through time: one long text, read in parallel streams."""

from collections.abc import Callable
from typing import Any

from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.learning.tasks import Task
from chainrule.training.checks import check_learnable, check_text
from chainrule.training.evaluation import evaluation_mode
from chainrule.training.randomness import mix
from chainrule.training.settings import Settings
from chainrule.training.sources.base import Arrays, Batch, Carried
from chainrule.training.sources.text import TextSource, summed_loss

STREAMS = 16  # of an evaluated text
CHUNK = 256  # tokens of each stream per forward pass of an evaluation


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
            return Batch((x[:, part].long(),), (y[:, part].long(),), streams)

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
        x, y = as_streams(self.text, STREAMS, len(self) // STREAMS, 0)
        total, state = 0.0, None
        with evaluation_mode(model):
            chunks = zip(x.split(CHUNK, 1), y.split(CHUNK, 1), strict=True)
            for x_t, y_t in chunks:
                logits, state = model.decode_step(x_t.long().to(device), state)  # type: ignore[operator]
                total += summed_loss(logits, y_t.long().to(device))
        return {"loss": total / y.numel()}

    def check(self, model: nn.Module, task: Task, settings: Settings, name: str) -> None:
        training = name == "training"
        least = settings.batch_size * self.chunk_length if training else STREAMS
        check_text(self.text, name, least, "a smaller `batch_size` or `chunk_length`")
        if training:
            check_learnable(model)

    def describe(self) -> dict[str, Any]:
        return super().describe() | {"chunk_length": self.chunk_length}


def as_streams(text: Arrays, streams: int, length: int, start: int) -> tuple[Tensor, Tensor]:
    """Tokens and next tokens of every stream: (streams, length) each."""
    x, y = (t[start : start + streams * length].view(streams, length) for t in text)
    return x, y
