"""Training one network by gradients: its step, its validation, the end of its run.

    g = ∇ mean loss of batch t,   θ ← optimizer(θ, g, η(t))

All random numbers of step t follow from (seed, t), so a resumed run repeats the uninterrupted one
bit for bit. Notes: J 3.4.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import torch
from torch import Tensor, nn

from chainrule.errors import DivergenceError
from chainrule.learning.averaging import MovingAverage
from chainrule.learning.losses import uniform_cross_entropy
from chainrule.learning.penalties import shrink
from chainrule.learning.schedules import rate_factor
from chainrule.learning.tasks import Task
from chainrule.nn.aux_losses import collect_aux_losses
from chainrule.nn.kernels.float_products import worth_onednn
from chainrule.training import devices
from chainrule.training.checks import check_monitor, check_settings, training_mode
from chainrule.training.class_weights import class_weights
from chainrule.training.delta_recursion import DeltaRecursion, delta_recursion
from chainrule.training.evaluation import as_float
from chainrule.training.layers import Layers, check_layers, layers_of, scale_rates, train_last
from chainrule.training.loop import Trainer
from chainrule.training.optimizer import optimizer_for
from chainrule.training.precision import chosen_precision
from chainrule.training.progress import Record
from chainrule.training.randomness import reseed
from chainrule.training.settings import Settings
from chainrule.training.sources.base import Batch, BatchSource, chunks
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
    devices.autocast(device, settings.precision.replace("auto", "full"))
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

    state_type: type[State] = State
    gradients: DeltaRecursion | None = None

    def __init__(self, model: nn.Module, spec: TrainSpec):
        settings = spec.settings
        self.spec, self.device = spec, spec.device
        self.epochs, self.steps = settings.epochs, spec.train.steps(settings)
        work = spec.train.work(settings)
        self.threads = settings.threads or devices.threads_for(model, work)
        self.rows = spec.train.rows(settings, model)
        self.large_products = spec.device.type == "cpu" and worth_onednn(model, self.rows)
        self.checkpoint_seconds = settings.checkpoint_seconds
        self.pending: list[tuple[int, Tensor, int]] = []
        self.state = self.state_type(
            model,
            optimizer_for(model, settings),
            stopping=EarlyStopping(settings.patience),
            average=MovingAverage(settings.ema_decay) if settings.ema_decay else None,
            origin=origin(settings, spec.train.describe()),
        )
        self.layers: Layers = []
        if settings.layer_decay < 1 or settings.unfreeze_every:
            self.layers = self.find_layers()
            check_layers(settings, self.layers)
            scale_rates(self.state.optimizer, self.layers, settings.layer_decay)

    @property
    def precision(self) -> str:
        """The precision of products; one that was chosen is recorded, so a resumed run has it."""
        wanted, origin = self.spec.settings.precision, self.state.origin
        if wanted == "auto" and "products" not in origin:
            origin["products"] = chosen_precision(wanted, self.state.model, self.rows, self.device)
        return origin["products"] if wanted == "auto" else wanted

    def find_layers(self) -> Layers:
        """The layers of the network, in the order in which the first batch uses them."""
        spec, model = self.spec, self.state.model
        inputs = tuple(t.to(self.device) for t in spec.train.epoch(spec.settings, 0)(0).inputs)
        return layers_of(model, lambda: spec.train.forward(model, inputs, {}))

    def start_epoch(self) -> None:
        state, settings = self.state, self.spec.settings
        self.batches = self.spec.train.epoch(settings, state.epoch)
        fresh = state.step == 0
        state.carried = {} if fresh else {k: t.to(self.device) for k, t in state.carried.items()}
        if settings.unfreeze_every:
            train_last(self.layers, 1 + state.epoch // settings.unfreeze_every)
        if self.reports or self.gradients is None:  # else the model is as it was asked before
            training_mode(state.model)
            self.after_report()

    def after_report(self) -> None:
        self.gradients = self.written_out()

    def written_out(self) -> DeltaRecursion | None:
        """The gradients without autograd, where model, batches, loss and settings allow it."""
        spec, model, low = self.spec, self.state.model, self.precision == "mixed"
        usual = type(spec.train).forward is BatchSource.forward and model.training
        if not usual:
            return None
        return delta_recursion(model, spec.task, spec.settings, self.device, low)

    def release(self) -> None:
        train_last(self.layers, len(self.layers))

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
            group["lr"] = self.spec.settings.learning_rate * share * group.get("rate_scale", 1.0)

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
        if self.gradients is not None and self.gradients.takes(part):
            return self.gradients(part)
        output, terms, targets = self.outputs(part)
        losses = sum(terms, self.losses(output, targets))
        loss = self.mean_of(losses, targets, part, batch)
        loss.backward()
        return loss.detach()

    def outputs(self, part: Batch) -> tuple[Any, list[Tensor], tuple[Tensor, ...]]:
        """The model's outputs, the terms its layers add to the loss, and the targets."""
        inputs = tuple(t.to(self.device) for t in part.inputs)
        targets = tuple(t.to(self.device) for t in part.targets)
        with devices.autocast(self.device, self.precision), collect_aux_losses() as terms:
            output = self.forward(inputs)
        if self.precision == "mixed":
            output = as_float(output)
        return output, terms, targets

    def forward(self, inputs: tuple[Tensor, ...]) -> Any:
        """The forward pass, which may hand something on to the next step."""
        spec, state = self.spec, self.state
        output, state.carried = spec.train.forward(spec.forward, inputs, state.carried)
        return output

    def losses(self, output: Any, targets: tuple[Tensor, ...]) -> Tensor:
        """One value per example, or one for all of them."""
        losses = self.spec.task.minimized(output, *targets)
        if smoothing := self.spec.settings.label_smoothing:
            losses = (1 - smoothing) * losses + smoothing * uniform_cross_entropy(output)
        return losses

    def mean_of(
        self, losses: Tensor, targets: tuple[Tensor, ...], part: Batch, batch: Batch
    ) -> Tensor:
        """The share of the losses of a part in the mean of its batch."""
        if losses.ndim == 0:
            return losses if part is batch else losses * (part.size / batch.size)
        if self.spec.class_weights is None:
            return losses.mean() if part is batch else losses.sum() / batch.size
        w, labels = self.spec.class_weights, batch.targets[0].to(self.device)
        return (w[targets[0]] * losses).sum() / w[labels].sum()

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
        with state.averaged(), devices.autocast(self.device, self.precision):
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
