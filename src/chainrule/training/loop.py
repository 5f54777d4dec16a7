"""The training loop: a generator of progress over any module and any tensors.

    for every epoch e        order = permutation of (seed, e)
        for every batch t    g = ∇ mean loss,   θ ← optimizer(θ, g, η(t))
        validate, keep the best weights, stop when patience runs out

Between two `yield`s the state is whole, so the caller may stop, save or look at any of them. What
is random in step t follows from (seed, t): a resumed run repeats the uninterrupted one bit for bit.
Notes: J 3.4, A 1.3.3, A 1.3.8.
"""

import math
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import torch
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.learning.averaging import MovingAverage
from chainrule.learning.losses import uniform_cross_entropy
from chainrule.learning.optimizers import optimizer as make_optimizer
from chainrule.learning.penalties import shrink
from chainrule.learning.schedules import schedule
from chainrule.learning.tasks import CLASSES, Objective
from chainrule.nn.aux_losses import collect_aux_losses
from chainrule.training import devices
from chainrule.training.checks import Arrays
from chainrule.training.evaluation import evaluate
from chainrule.training.randomness import by_length, permutation, reseed
from chainrule.training.settings import Settings
from chainrule.training.spec import Job, origin, prepare
from chainrule.training.state import LAST, State

TICK = 0.1  # seconds between two reports inside an epoch
DEFAULTS = Settings()


@dataclass(frozen=True)
class Progress:
    """What a reader wants to see. `record` holds the figures of an epoch that has just ended."""

    epoch: int
    epochs: int
    step: int
    steps: int
    loss: float
    record: dict[str, int | float] | None = None
    stopped: str = ""

    @property
    def fraction(self) -> float:
        """Share of the whole run that is done."""
        return (self.epoch - 1 + self.step / self.steps) / self.epochs


P = TypeVar("P", bound=Progress)


def fit(
    model: nn.Module,
    train: Arrays,
    validation: Arrays | None = None,
    settings: Settings = DEFAULTS,
    objective: Objective = CLASSES,
    folder: Path | None = None,
    device: str = "auto",
    lengths: Tensor | None = None,
) -> Generator[Progress]:
    """Train the model in place, yielding progress several times a second and after each epoch.

    `train` and `validation` are tuples (input, target) of equal length. With a folder the run is
    checkpointed there, and continues from a checkpoint found there, first yielding the records of
    the epochs behind it. Closing the iterator early saves. Where the examples are padded sequences,
    their `lengths` bring those of like length into the same batch.
    """
    job = prepare(model, train, validation, settings, objective, devices.choose(device))
    job = replace(job, lengths=lengths)
    state = make_state(model, job)
    threads = settings.threads or devices.threads_for(model, settings.batch_size)
    yield from carried_out(epochs(state, job), state, job, folder, threads)


def carried_out(
    course: Iterator[Progress], state: State, job: Job, folder: Path | None, threads: int
) -> Generator[Progress]:
    """The course, from its checkpoint on if there is one, and the weights it is about.

    The switches and the generator of the process are as before afterwards.
    """
    settings, model = job.settings, state.model
    if folder is not None and (folder / LAST).exists():
        state.restore(folder)
    outer_randomness = torch.get_rng_state()
    with devices.prepared(job.device, threads):
        try:
            yield from saving(course, state, folder, settings.checkpoint_seconds)
        finally:
            torch.set_rng_state(outer_randomness)
    if settings.patience and state.best_weights:
        model.load_state_dict(state.best_weights)
    elif state.average is not None:
        model.load_state_dict(state.average.weights)


def make_state(model: nn.Module, job: Job) -> State:
    """The state before the first step."""
    settings = job.settings
    optimizer = make_optimizer(
        settings.optimizer, model, settings.learning_rate, settings.weight_decay
    )
    average = MovingAverage(settings.averaging) if settings.averaging else None
    return State(model, optimizer, average=average, origin=origin(settings, job.train))


def train(*arguments: object, **options: object) -> list[dict[str, int | float]]:
    """`fit` to its end; returns one record per epoch."""
    return [p.record for p in fit(*arguments, **options) if p.record]  # type: ignore[arg-type]


def saving(progress: Iterator[P], state: State, folder: Path | None, seconds: float) -> Iterator[P]:
    """Pass the progress on, writing a checkpoint when it is time, on leaving, and at the end."""
    if folder is None:
        yield from progress
        return
    saved = time.perf_counter()
    try:
        for now in progress:
            if time.perf_counter() - saved >= seconds:
                state.save(folder)
                saved = time.perf_counter()
            yield now
    except GeneratorExit:
        state.save(folder)
        raise
    state.save(folder)


def epochs(
    state: State,
    job: Job,
    one_pass: Callable[[State, Job], Iterator[None]] | None = None,
    check: Callable[[State, Job], dict[str, float]] | None = None,
) -> Iterator[Progress]:
    """Past records, then epoch after epoch until a reason to stop.

    one_pass, check: what an epoch and its validation are, where they are not `batches` and
        `validate`.
    """
    one_pass, check = one_pass or batches, check or validate
    settings, steps = job.settings, job.steps
    for number, past in enumerate(state.history, 1):
        stopped = state.stopped if number == len(state.history) else ""
        yield Progress(number, settings.epochs, steps, steps, past["train_loss"], past, stopped)
    while not state.stopped:
        began = time.perf_counter()
        for _ in one_pass(state, job):
            yield Progress(state.epoch + 1, settings.epochs, state.step, steps, state.mean_loss())
        record: dict[str, int | float] = {"epoch": state.epoch + 1, "train_loss": state.mean_loss()}
        record |= check(state, job)
        record["seconds"] = time.perf_counter() - began
        state.history.append(record)
        state.stopped = reason_to_stop(state, settings)
        done = Progress(
            state.epoch + 1, settings.epochs, steps, steps, state.mean_loss(), record, state.stopped
        )
        state.next_epoch()
        yield done


def validate(state: State, job: Job) -> dict[str, float]:
    """Figures of the validation split; the weights are kept if they are the best so far."""
    if job.validation is None:
        return {}
    monitor = job.settings.monitor
    with state.averaged(), devices.autocast(job.device, job.settings.precision):
        found = evaluate(state.model, job.validation, job.objective)
        if not math.isfinite(found["loss"]):
            raise diverged("validation loss", found["loss"], state, job.settings)
        state.keep_best(job.objective.cost(monitor, found[monitor]))
    return {f"validation_{name}": value for name, value in found.items()}


def reason_to_stop(state: State, settings: Settings) -> str:
    """Why this epoch was the last, or nothing."""
    if settings.patience and state.epoch + 1 - state.best_epoch >= settings.patience:
        return f"no better validation {settings.monitor} for {settings.patience} epochs"
    return "all epochs done" if state.epoch + 1 >= settings.epochs else ""


def batches(state: State, job: Job) -> Iterator[None]:
    """The rest of the current epoch, one update per batch; yields about every tenth of a second."""
    settings, steps, on_cpu = job.settings, job.steps, job.device.type == "cpu"
    order = permutation(len(job.train[0]), settings.seed, state.epoch)
    if job.lengths is not None:
        order = by_length(order, job.lengths, settings.batch_size, settings.seed, state.epoch)
    order = order.to(job.train[0].device)
    rate = schedule(settings.schedule)
    pending: list[tuple[Tensor, int]] = []
    state.model.train()
    ticked = time.perf_counter()
    for rows in order.split(settings.batch_size)[state.step :]:
        t = state.epoch * steps + state.step
        reseed(settings.seed, t, on_cpu)
        for group in state.optimizer.param_groups:
            group["lr"] = settings.learning_rate * rate(t / (settings.epochs * steps))
        pending.append((update(state, job, rows), len(rows)))
        state.step += 1
        due = time.perf_counter() - ticked >= TICK
        if on_cpu or due or state.step == steps:
            collect(pending, state, settings)
        if due:
            ticked = time.perf_counter()
            yield


def update(state: State, job: Job, rows: Tensor) -> Tensor:
    """One step of the optimizer on these rows; returns their mean loss before the step."""
    state.optimizer.zero_grad(set_to_none=True)
    parts = rows.chunk(job.settings.accumulate) if job.settings.accumulate > 1 else (rows,)
    shares = [share_of_loss(job, part, rows) for part in parts]
    value = shares[0] if len(shares) == 1 else torch.stack(shares).sum()
    descend(state, job, value)
    return value


def descend(state: State, job: Job, value: Tensor) -> None:
    """The step itself, once the gradients are there; a loss that is not finite changes nothing."""
    if job.settings.clip:
        nn.utils.clip_grad_norm_(state.model.parameters(), job.settings.clip)
    if job.device.type != "cpu" or math.isfinite(value.item()):
        state.optimizer.step()
        if job.settings.lasso:
            rate = state.optimizer.param_groups[0]["lr"]
            shrink(state.model, rate * job.settings.lasso)
        if state.average is not None:
            state.average.update(state.model)


def share_of_loss(job: Job, part: Tensor, rows: Tensor) -> Tensor:
    """What part of a batch adds to its mean loss; the gradients are added up on the way."""
    objective = job.objective
    batch = [t.index_select(0, part).to(job.device) for t in job.train]
    if objective.augment is not None:
        batch[0] = objective.augment(batch[0])
    inputs, targets = batch[: objective.inputs], batch[objective.inputs :]
    with devices.autocast(job.device, job.settings.precision), collect_aux_losses() as terms:
        output = job.forward(*inputs)
    if job.settings.precision == "mixed":
        output = output.float()
    losses = objective.minimized(output, *targets)
    if smoothing := job.settings.label_smoothing:
        losses = (1 - smoothing) * losses + smoothing * uniform_cross_entropy(output)
    losses = sum(terms, losses)
    if job.class_weights is None:
        share = losses.mean() if part is rows else losses.sum() / len(rows)
    else:
        w, labels = job.class_weights, job.train[objective.inputs][rows].to(job.device)
        share = (w[targets[0]] * losses).sum() / w[labels].sum()
    share.backward()
    return share.detach()


def collect(pending: list[tuple[Tensor, int]], state: State, settings: Settings) -> None:
    """Add the losses to the running mean; a loss that is not finite ends the run."""
    for loss, number in pending:
        value = loss.item()
        if not math.isfinite(value):
            raise diverged("training loss", value, state, settings)
        state.total_loss += value * number
        state.examples += number
    pending.clear()


def diverged(what: str, value: float, state: State, settings: Settings) -> InputError:
    """What to say when a loss is no longer a number."""
    return InputError(
        f"the {what} became {value} in epoch {state.epoch + 1}, step {state.step}; the last good "
        f"checkpoint, if there is one, is kept. Try a smaller --learning-rate (now "
        f"{settings.learning_rate:g}) or --clip 1"
    )
