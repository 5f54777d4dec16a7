"""Training one network by gradients: its step, its validation, the end of its run.

    g = ∇ mean loss of batch t,   θ ← optimizer(θ, g, η(t))

All random numbers of step t follow from (seed, t), so a resumed run repeats the uninterrupted one
bit for bit. Notes: J 3.4.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import torch
from torch import Tensor, nn

from chainrule.errors import DivergenceError, InputError
from chainrule.learning.averaging import MovingAverage
from chainrule.learning.losses import uniform_cross_entropy
from chainrule.learning.optimizers import optimizer as make_optimizer
from chainrule.learning.penalties import shrink
from chainrule.learning.schedules import rate_factor
from chainrule.learning.tasks import Task
from chainrule.nn.aux_losses import collect_aux_losses
from chainrule.training import devices
from chainrule.training.checks import check_monitor, check_settings, training_mode
from chainrule.training.loop import Trainer
from chainrule.training.progress import Record
from chainrule.training.randomness import reseed
from chainrule.training.settings import Settings
from chainrule.training.sources.base import Batch, BatchSource
from chainrule.training.state import State
from chainrule.training.stopping import EarlyStopping


@dataclass(frozen=True)
class TrainSpec:
    """What stays the same during a run: forward pass, data, task, settings, device."""

    forward: Callable[..., Any]
    train: BatchSource
    validation: BatchSource | None
    settings: Settings
    task: Task
    device: torch.device
    class_weights: Tensor | None


def prepare(
    model: nn.Module,
    train: BatchSource,
    validation: BatchSource | None,
    settings: Settings,
    task: Task,
    device: torch.device,
) -> TrainSpec:
    """Check everything, then move model and data to the device."""
    model.to("cpu")
    check_settings(settings, train.unsupported, train.whole)
    devices.check_threads(settings.threads)
    for name, source in (("training", train), ("validation", validation)):
        if source is not None:
            source.check(model, task, settings, name)
    check_monitor(settings, validation is not None, task)
    weights = class_weights(train, task).to(device) if settings.class_weights != "none" else None
    devices.autocast(device, settings.precision)
    devices.place(model, device)
    return TrainSpec(
        forward=torch.compile(model) if settings.compile else model,
        train=train.prepared(task, device, training=True),
        validation=validation and validation.prepared(task, device, training=False),
        settings=settings,
        task=task,
        device=device,
        class_weights=weights,
    )


def class_weights(train: BatchSource, task: Task) -> Tensor:
    """Balanced weights for the classes of a training source."""
    arrays = getattr(train, "arrays", None)
    if arrays is None:
        raise InputError("`class_weights` needs the labels in memory; pass tensors")
    return balanced(task.targets(arrays)[task.inputs])


def balanced(y: Tensor) -> Tensor:
    """w_k = N / (K N_k): every class has the same weight in the mean loss."""
    if y.is_floating_point() or y.ndim != 1:
        raise InputError("`class_weights` needs one class per example as the target")
    counts = y.bincount().float()
    return counts.sum() / (len(counts) * counts.clamp_min(1))


def origin(settings: Settings, source: Mapping[str, Any]) -> dict[str, Any]:
    """Settings and data that a checkpoint must share with the run that resumes it."""
    free = {"checkpoint_seconds"}
    values = {f.name: getattr(settings, f.name) for f in fields(Settings) if f.name not in free}
    plain = {
        k: getattr(v, "__qualname__", type(v).__name__) if callable(v) else v
        for k, v in values.items()
    }
    return plain | dict(source)


class NetworkTrainer(Trainer):
    """Trains one network."""

    def __init__(self, model: nn.Module, spec: TrainSpec):
        settings = spec.settings
        self.spec, self.device = spec, spec.device
        self.epochs, self.steps = settings.epochs, spec.train.steps(settings)
        work = spec.train.work(settings)
        self.threads = settings.threads or devices.threads_for(model, work)
        self.checkpoint_seconds = settings.checkpoint_seconds
        self.pending: list[tuple[int, Tensor, int]] = []
        self.state = State(
            model,
            optimizer_for(model, settings),
            stopping=EarlyStopping(settings.patience),
            average=MovingAverage(settings.ema_decay) if settings.ema_decay else None,
            origin=origin(settings, spec.train.describe()),
        )

    def start_epoch(self) -> None:
        state, settings = self.state, self.spec.settings
        self.batches = self.spec.train.epoch(settings, state.epoch)
        fresh = state.step == 0
        state.carried = {} if fresh else {k: t.to(self.device) for k, t in state.carried.items()}
        training_mode(state.model)

    def step(self, t: int) -> None:
        settings, on_cpu = self.spec.settings, self.device.type == "cpu"
        reseed(settings.seed, t, on_cpu)
        share = rate_factor(settings.schedule, t, self.epochs * self.steps)
        self.set_rate(settings.final_rate + (1 - settings.final_rate) * share)
        batch = self.batches(self.state.step)
        step = self.state.step + 1
        self.pending.append((step, self.update(batch), batch.size))
        if on_cpu or step == self.steps:
            self.collect()

    def set_rate(self, share: float) -> None:
        """The learning rate of this step, as a share of its peak."""
        for group in self.state.optimizer.param_groups:
            group["lr"] = self.spec.settings.learning_rate * share

    def update(self, batch: Batch) -> Tensor:
        """One step of the optimizer on a batch; its mean loss before the step."""
        self.state.optimizer.zero_grad(set_to_none=True)
        number = self.spec.settings.accumulate
        parts = [batch] if number == 1 else chunks(batch, number)
        losses = [self.accumulate_loss(part, batch) for part in parts]
        loss = losses[0] if len(losses) == 1 else torch.stack(losses).sum()
        self.optimizer_step(loss)
        return loss

    def accumulate_loss(self, part: Batch, batch: Batch) -> Tensor:
        """The share of a part in the mean loss of its batch; its gradient is accumulated."""
        spec, state = self.spec, self.state
        inputs = tuple(t.to(self.device) for t in part.inputs)
        targets = tuple(t.to(self.device) for t in part.targets)
        with devices.autocast(self.device, spec.settings.precision), collect_aux_losses() as terms:
            output, state.carried = spec.train.forward(spec.forward, inputs, state.carried)
        if spec.settings.precision == "mixed":
            output = output.float()
        losses = spec.task.minimized(output, *targets)
        if smoothing := spec.settings.label_smoothing:
            losses = (1 - smoothing) * losses + smoothing * uniform_cross_entropy(output)
        losses = sum(terms, losses)
        if losses.ndim == 0:
            loss = losses if part is batch else losses * (part.size / batch.size)
        elif spec.class_weights is None:
            loss = losses.mean() if part is batch else losses.sum() / batch.size
        else:
            w, labels = spec.class_weights, batch.targets[0].to(self.device)
            loss = (w[targets[0]] * losses).sum() / w[labels].sum()
        loss.backward()
        return loss.detach()

    def optimizer_step(self, loss: Tensor) -> None:
        """Clip and update; a loss that is not finite changes nothing."""
        state, settings = self.state, self.spec.settings
        if settings.clip_norm:
            nn.utils.clip_grad_norm_(state.model.parameters(), settings.clip_norm)
        if self.device.type != "cpu" or math.isfinite(loss.item()):
            state.optimizer.step()
            if settings.lasso:
                rate = state.optimizer.param_groups[0]["lr"]
                shrink(state.model, rate * settings.lasso)
            if state.average is not None:
                state.average.update(state.model)

    def collect(self) -> None:
        """Add the losses to the running mean; a loss that is not finite ends the run."""
        for step, loss, number in self.pending:
            value = loss.item()
            if not math.isfinite(value):
                raise self.diverged("training loss", value, step)
            self.state.total_loss += value * number
            self.state.examples += number
        self.pending.clear()

    def running_loss(self) -> float:
        self.collect()
        return self.state.mean_loss()

    def diverged(self, what: str, value: float, step: int) -> DivergenceError:
        """The error that ends a run whose loss is no longer finite."""
        return DivergenceError(
            f"the {what} became {value} in epoch {self.state.epoch + 1}, step {step}; the last "
            "good checkpoint, if there is one, is kept. Try a smaller `learning_rate` (now "
            f"{self.spec.settings.learning_rate:g}) or `clip_norm` 1"
        )

    def finish_epoch(self) -> Record:
        return {"train_loss": self.state.mean_loss()} | self.validate()

    def validate(self) -> dict[str, float]:
        """Metrics of the validation split; keeps the weights if they are the best so far."""
        spec, state = self.spec, self.state
        if spec.validation is None:
            return {}
        monitor = spec.task.metric(spec.settings.monitor)
        with state.averaged(), devices.autocast(self.device, spec.settings.precision):
            found = spec.validation.evaluate(state.model, spec.task)
            if not math.isfinite(found["loss"]):
                raise self.diverged("validation loss", found["loss"], self.steps)
            state.keep_best(monitor.cost(found[monitor.name]))
        return {f"validation_{name}": value for name, value in found.items()}

    def kept_epoch(self) -> int | None:
        stopping = self.state.stopping
        return stopping.best_epoch if stopping.patience and stopping.best_epoch else None

    def out_of_patience(self) -> str:
        settings = self.spec.settings
        if self.state.stopping.exhausted(self.state.epoch + 1):
            return f"no better validation {settings.monitor} for {settings.patience} epochs"
        return ""

    def finish(self) -> None:
        state = self.state
        if self.spec.settings.patience and state.best_weights:
            state.model.load_state_dict(state.best_weights)
        elif state.average is not None:
            state.model.load_state_dict(state.average.weights)


def optimizer_for(
    parameters: nn.Module | Iterable[nn.Parameter],
    settings: Settings,
    rate: float | None = None,
    decay: float | None = None,
) -> torch.optim.Optimizer:
    """The optimizer of the settings; batched runs handle rate and decay themselves."""
    made = make_optimizer(
        settings.optimizer,
        parameters,
        settings.learning_rate if rate is None else rate,
        settings.weight_decay if decay is None else decay,
    )
    if settings.beta2:
        adaptive = [group for group in made.param_groups if "betas" in group]
        if not adaptive:
            raise InputError("`beta2` is for adam, adamw and lion; leave it out")
        for group in adaptive:
            group["betas"] = (group["betas"][0], settings.beta2)
    return made


def chunks(batch: Batch, number: int) -> list[Batch]:
    """A batch in this many parts."""
    inputs = zip(*(t.chunk(number) for t in batch.inputs), strict=True)
    targets = zip(*(t.chunk(number) for t in batch.targets), strict=True)
    return [Batch(i, t, len(i[0])) for i, t in zip(inputs, targets, strict=True)]
