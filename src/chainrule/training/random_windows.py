"""Random passages of one long text: how a network with a fixed context learns the next token.

    step t draws B places s of the text, reads x_s … x_{s+T-1} there and guesses x_{s+1} … x_{s+T}
    η_t = η (ρ + (1 - ρ) schedule(t))                              ρ is what the rate ends with

Nothing is carried from step to step, unlike in `fit_stream`: every passage is begun afresh, and the
T guesses of all B are made at once. The places of step t follow from (seed, t). A text is measured
in passages that lie end to end, so that each of the T places counts alike, as it does in the mean
over random ones. Otherwise all is as in `fit`: settings, records, checkpoints.

Radford et al. (2018); the settings by default are those of Karpathy's nanoGPT (2022). Notes: J 6.4.
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
    TICK,
    Progress,
    carried_out,
    collect,
    descend,
    diverged,
    epochs,
    make_state,
)
from chainrule.training.randomness import reseed
from chainrule.training.settings import Settings, check_numbers
from chainrule.training.spec import Job, origin
from chainrule.training.state import State

AT_ONCE = 2**14  # tokens of a text that are measured together


@dataclass(frozen=True, kw_only=True)
class PassageSettings(Settings):
    """How to train on passages; an epoch is so many steps, not a pass over the text."""

    epochs: int = 8
    """Parts of the training; after each of them the validation text is measured."""
    context: int = 64
    """Tokens of a passage, the most that a guess can look back on."""
    epoch_steps: int = 250
    """Updates in one epoch."""
    last_rate: float = 0.1
    """Share of the learning rate that is left when the schedule has come down to nothing."""
    beta_2: float = 0.99
    """How much of its mean of squared gradients Adam keeps in each step."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_numbers(self, {"context": 2, "epoch_steps": 1, "last_rate": 0, "beta_2": 0})
        if self.last_rate > 1 or self.beta_2 >= 1:
            raise InputError(
                f"--last-rate must be at most 1 and --beta-2 below 1, got {self.last_rate} and "
                f"{self.beta_2}"
            )
        if self.accumulate > 1 or self.class_weights != "none" or self.label_smoothing:
            raise InputError(
                "--accumulate, --class-weights and --label-smoothing are for separate examples; "
                "a text has none, leave them out"
            )


@dataclass(frozen=True)
class Passages(Job):
    """What stays the same during one call of `fit_passages`."""

    context: int = 1
    epoch_steps: int = 1

    @property
    def steps(self) -> int:
        return self.epoch_steps


def fit_passages(
    model: nn.Module,
    train: Arrays,
    validation: Arrays | None,
    settings: PassageSettings,
    folder: Path | None = None,
    device: str = "auto",
) -> Generator[Progress]:
    """Train the model in place on a text, yielding progress as `fit` does.

    train, validation: (tokens, the next tokens), each of shape (length,).
    model: tokens (batch, context) ↦ logits of the next ones (batch, context, symbols).
    settings.batch_size: how many passages.
    """
    job = prepared(model, train, validation, settings, devices.choose(device))
    state = make_state(model, job)
    own = ("context", "epoch_steps", "last_rate", "beta_2")
    state.origin = origin(settings, job.train) | {name: getattr(settings, name) for name in own}
    for group in state.optimizer.param_groups:
        if "betas" in group:
            group["betas"] = (group["betas"][0], settings.beta_2)
    tokens = settings.batch_size * settings.context
    threads = settings.threads or devices.threads_for(model, tokens)
    course = epochs(state, job, passages, validate)
    yield from carried_out(course, state, job, folder, threads)


def prepared(
    model: nn.Module,
    train: Arrays,
    validation: Arrays | None,
    settings: PassageSettings,
    device: torch.device,
) -> Passages:
    """Refuse what cannot work, then put model and data in their places."""
    for name, text in (("training", train), ("validation", validation)):
        if text is not None:
            check_text(text, name, settings.context, "a smaller --context or a longer text")
    objective = Objective()
    check_monitor(settings, validation is not None, objective)
    check_batches(model, settings.batch_size, settings)
    devices.autocast(device, settings.precision)
    devices.place(model, device)
    return Passages(
        forward=torch.compile(model) if settings.compile else model,
        train=devices.resident(train, device),
        validation=validation,
        settings=settings,
        objective=objective,
        device=device,
        class_weights=None,
        context=settings.context,
        epoch_steps=settings.epoch_steps,
    )


def passages(state: State, job: Job) -> Iterator[None]:
    """The rest of the current epoch, one update per step; yields about every tenth of a second."""
    assert isinstance(job, Passages) and isinstance(job.settings, PassageSettings)
    settings, steps, on_cpu = job.settings, job.steps, job.device.type == "cpu"
    x, y = job.train
    within = torch.arange(job.context, device=x.device)
    rate, last = schedule(settings.schedule), settings.last_rate
    pending: list[tuple[Tensor, int]] = []
    state.model.train()
    ticked = time.perf_counter()
    while state.step < steps:
        t = state.epoch * steps + state.step
        reseed(settings.seed, t, on_cpu)
        share = last + (1 - last) * rate(t / (settings.epochs * steps))
        for group in state.optimizer.param_groups:
            group["lr"] = settings.learning_rate * share
        starts = torch.randint(len(x) - job.context + 1, (settings.batch_size, 1), device=x.device)
        places = starts + within
        pending.append((update(state, job, x[places], y[places]), settings.batch_size))
        state.step += 1
        due = time.perf_counter() - ticked >= TICK
        if on_cpu or due or state.step == steps:
            collect(pending, state, settings)
        if due:
            ticked = time.perf_counter()
            yield


def update(state: State, job: Job, x: Tensor, y: Tensor) -> Tensor:
    """One step of the optimizer on these passages; returns their mean loss before the step."""
    state.optimizer.zero_grad(set_to_none=True)
    x, y = x.to(job.device), y.to(job.device)
    with devices.autocast(job.device, job.settings.precision):
        logits = job.forward(x)
    loss = F.cross_entropy(logits.float().flatten(0, 1), y.flatten())
    loss.backward()
    descend(state, job, loss.detach())
    return loss.detach()


def validate(state: State, job: Job) -> dict[str, float]:
    """Loss of the validation text; the weights are kept if they are the best so far."""
    if job.validation is None:
        return {}
    assert isinstance(job, Passages)
    with state.averaged(), devices.autocast(job.device, job.settings.precision):
        loss = passage_loss(state.model, job.validation, job.context)
        if not math.isfinite(loss):
            raise diverged("validation loss", loss, state, job.settings)
        state.keep_best(loss)
    return {"validation_loss": loss}


def passage_loss(model: nn.Module, text: Arrays, context: int) -> float:
    """Mean loss per token over passages that lie end to end; what is left over is not read."""
    device = next(model.parameters()).device
    number = len(text[0]) // context
    x, y = (t[: number * context].view(number, context) for t in text)
    rows = max(1, AT_ONCE // context)
    was_training, total = model.training, 0.0
    model.eval()
    try:
        with torch.inference_mode():
            for x_part, y_part in zip(x.split(rows), y.split(rows), strict=True):
                logits = model(x_part.to(device)).float().flatten(0, 1)
                wanted = y_part.to(device).flatten()
                total += F.cross_entropy(logits, wanted, reduction="sum").item()
    finally:
        model.train(was_training)
    return total / y.numel()
