"""Truncated backpropagation through time: one long text, read by many streams at once.

    the text is cut into B streams of equal length, and step t reads the next T tokens of each:
    ŷ, z = model.decode_step(x, z),  g = ∇ mean loss,  θ ← optimizer(θ, g, η(t)),  z detached

The gradient reaches back T tokens at most, the state z much further: it is handed from step to step
and begins at zero in every epoch. What is left over when B · T does not divide the text is skipped,
at both ends, by an offset that follows from (seed, epoch). Otherwise all is as in `fit`: settings,
records, checkpoints (which hold z as well), and a resumed run ends in the same weights.

Williams and Peng (1990), Neural Computation 2. Notes: J 5.
"""

import math
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.learning.schedules import schedule
from chainrule.learning.tasks import Objective
from chainrule.training import devices
from chainrule.training.checks import Arrays, check_batches, check_monitor, check_text
from chainrule.training.loop import (
    DEFAULTS,
    TICK,
    Progress,
    carried_out,
    collect,
    descend,
    diverged,
    epochs,
    make_state,
)
from chainrule.training.randomness import mix, reseed
from chainrule.training.settings import Settings
from chainrule.training.spec import Job, origin
from chainrule.training.state import State

LISTENERS = 16  # streams in which a text is read to be measured
LONG = 256  # tokens of each that are read at once then


@dataclass(frozen=True)
class Stream(Job):
    """What stays the same during one call of `fit_stream`; piece: tokens of a stream in a step."""

    piece: int = 1

    @property
    def steps(self) -> int:
        return len(self.train[0]) // (self.settings.batch_size * self.piece)


def fit_stream(
    model: nn.Module,
    train: Arrays,
    validation: Arrays | None = None,
    settings: Settings = DEFAULTS,
    piece: int = 128,
    folder: Path | None = None,
    device: str = "auto",
) -> Generator[Progress]:
    """Train the model in place on a text, yielding progress as `fit` does.

    train, validation: (tokens, the next tokens), each of shape (length,).
    model: its `advance(tokens, state)` gives the logits (batch, steps, symbols) and the state after
        them; None is the state before the first token.
    settings.batch_size: how many streams.
    """
    job = prepared_stream(model, train, validation, settings, piece, devices.choose(device))
    state = make_state(model, job)
    state.origin = origin(settings, job.train) | {"piece": piece}
    threads = settings.threads or torch.get_num_threads()
    course = epochs(state, job, pieces, validate)
    yield from carried_out(course, state, job, folder, threads)


def prepared_stream(
    model: nn.Module,
    train: Arrays,
    validation: Arrays | None,
    settings: Settings,
    piece: int,
    device: torch.device,
) -> Stream:
    """Refuse what cannot work, then put model and data in their places."""
    if piece < 1:
        raise InputError(f"expected pieces of one token or more, got {piece}")
    if settings.accumulate > 1 or settings.class_weights != "none" or settings.label_smoothing:
        raise InputError(
            "--accumulate, --class-weights and --label-smoothing are for separate examples; "
            "a text has none, leave them out"
        )
    for name, text, least in (
        ("training", train, settings.batch_size * piece),
        ("validation", validation, LISTENERS),
    ):
        if text is not None:
            check_text(text, name, least, "a smaller --batch-size or --piece, or a longer text")
    objective = Objective()
    check_monitor(settings, validation is not None, objective)
    check_batches(model, len(train[0]), settings)
    devices.autocast(device, settings.precision)
    devices.place(model, device)
    text = devices.resident(train, device)
    return Stream(model, text, validation, settings, objective, device, None, piece=piece)


def laid_out(text: Arrays, streams: int, length: int, start: int) -> tuple[Tensor, Tensor]:
    """Tokens and next tokens of every stream: (streams, length) each."""
    x, y = (t[start : start + streams * length].view(streams, length) for t in text)
    return x, y


def pieces(state: State, job: Job) -> Iterator[None]:
    """The rest of the current epoch, one update per piece; yields about every tenth of a second."""
    assert isinstance(job, Stream)
    settings, steps, on_cpu = job.settings, job.steps, job.device.type == "cpu"
    streams = settings.batch_size
    spare = len(job.train[0]) - streams * steps * job.piece
    offset = mix(settings.seed, -1 - state.epoch) % (spare + 1)
    x, y = laid_out(job.train, streams, steps * job.piece, offset)
    rate = schedule(settings.schedule)
    pending: list[tuple[Tensor, int]] = []
    state.carried = {} if state.step == 0 else on_device(state.carried, job.device)
    state.model.train()
    ticked = time.perf_counter()
    while state.step < steps:
        t = state.epoch * steps + state.step
        reseed(settings.seed, t, on_cpu)
        for group in state.optimizer.param_groups:
            group["lr"] = settings.learning_rate * rate(t / (settings.epochs * steps))
        part = slice(state.step * job.piece, (state.step + 1) * job.piece)
        pending.append((update(state, job, x[:, part], y[:, part]), streams))
        state.step += 1
        due = time.perf_counter() - ticked >= TICK
        if on_cpu or due or state.step == steps:
            collect(pending, state, settings)
        if due:
            ticked = time.perf_counter()
            yield


def update(state: State, job: Job, x: Tensor, y: Tensor) -> Tensor:
    """One step of the optimizer on these pieces; returns their mean loss before the step."""
    state.optimizer.zero_grad(set_to_none=True)
    before = tuple(state.carried.values()) or None
    with devices.autocast(job.device, job.settings.precision):
        logits, after = state.model.decode_step(x, before)  # type: ignore[operator]
    loss = F.cross_entropy(logits.float().flatten(0, 1), y.flatten())
    loss.backward()
    state.carried = {str(k): part.detach() for k, part in enumerate(after)}
    descend(state, job, loss.detach())
    return loss.detach()


def on_device(carried: dict[str, Tensor], device: torch.device) -> dict[str, Tensor]:
    """The carried state in the order in which the model gave it, wherever it was saved."""
    return {name: carried[name].to(device) for name in sorted(carried, key=int)}


def validate(state: State, job: Job) -> dict[str, float]:
    """Loss of the validation text; the weights are kept if they are the best so far."""
    if job.validation is None:
        return {}
    with state.averaged(), devices.autocast(job.device, job.settings.precision):
        loss = stream_loss(state.model, job.validation)
        if not math.isfinite(loss):
            raise diverged("validation loss", loss, state, job.settings)
        state.keep_best(loss)
    return {"validation_loss": loss}


def stream_loss(model: nn.Module, text: Arrays) -> float:
    """Mean loss per token, the text read in 16 streams from zero states."""
    device = next(model.parameters()).device
    length = len(text[0]) // LISTENERS
    x, y = laid_out(text, LISTENERS, length, 0)
    was_training, total, carried = model.training, 0.0, None
    model.eval()
    try:
        with torch.inference_mode():
            for x_t, y_t in zip(x.split(LONG, 1), y.split(LONG, 1), strict=True):
                logits, carried = model.decode_step(x_t.to(device), carried)  # type: ignore[operator]
                flat = logits.float().flatten(0, 1), y_t.to(device).flatten()
                total += F.cross_entropy(*flat, reduction="sum").item()
    finally:
        model.train(was_training)
    return total / y.numel()
