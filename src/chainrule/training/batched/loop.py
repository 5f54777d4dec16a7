"""Many networks at once: K members of one architecture, trained in one batched program.

    θ_k ← optimizer(θ_k, ∇ ℓ_k(θ_k; batch_k), η_k)        for k = 1 … K in the same operations

Each member has its own initial weights, its own seed (so its own order of examples and its own
masks), rate, decay, dropout, label smoothing and, for cross-validation, its own rows. Member k ends
where `fit` with the same seed and settings ends, up to rounding. The gain: small matrix products of
K networks become large ones, and one call of an operation serves all.
Notes: L "Tuning and model selection".
"""

import math
from collections.abc import Generator, Iterable, Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, cast

import torch
from torch import Tensor, nn

from chainrule.arguments import checked
from chainrule.learning.augmentation import Augment
from chainrule.learning.metrics import ACCURACY, ERROR, misclassified
from chainrule.learning.tasks import Task, task_for
from chainrule.training.batched.run import BatchedProgress, BatchedRun, stack_up
from chainrule.training.batched.stack import Stack
from chainrule.training.batched.state import BatchedState
from chainrule.training.batched.step import update, zero_out
from chainrule.training.checks import Arrays
from chainrule.training.loop import Trainer, run
from chainrule.training.optimizer import optimizer_for
from chainrule.training.progress import History, Record
from chainrule.training.randomness import permutation
from chainrule.training.settings import Settings
from chainrule.training.stopping import EarlyStopping
from chainrule.training.trainer import origin

EVALUATION_NUMBERS = 2**22  # of a cross-validation's held-out rows that are put through together
Folds = Sequence[tuple[Tensor, Tensor]]


@checked
def iterate_many(
    models: Sequence[nn.Module],
    train: Arrays,
    validation: Arrays | None = None,
    settings: Sequence[Settings] = (),
    task: Task | None = None,
    folds: Folds | None = None,
    folder: Path | None = None,
    augment: Augment | None = None,
) -> Generator[BatchedProgress]:
    """Train the models in place, in one program on the CPU; yields progress like `iterate`.

    A member whose loss is no longer finite is dropped; its metrics are infinite from then on.

    Args:
        models: of one architecture; they may differ in dropout.
        train: (input, target).
        validation: the same, or None.
        settings: one for each model; they may differ in seed, learning rate, weight decay and label
            smoothing. By default seeds 0, 1, 2, …
        task: by default what the targets suggest.
        folds: for each model the rows of `train` it trains on and those it is validated on.
        folder: where the run is checkpointed and continued from.
        augment: changes the inputs of a training batch.

    >>> import chainrule as cr
    >>> data = cr.data.moons()
    >>> models = [cr.models.MLP(2, [8], 2) for _ in range(3)]
    >>> for progress in iterate_many(models, (data.train.x, data.train.y)):
    ...     break
    >>> progress.epochs
    20
    """
    task = task or task_for(train[-1])
    batched = stack_up(models, train, validation, settings, task, folds, augment)
    return cast(Generator[BatchedProgress], run(BatchedTrainer(models, batched), folder))


def fit_many(
    models: Sequence[nn.Module], train: Arrays, *rest: Any, **options: Any
) -> list[History]:
    """Train the models in place to the end; one history for each.

    Args:
        models: of one architecture, as for `iterate_many`.
        train: (input, target).
        rest: what `iterate_many` takes after them, such as validation and settings.
        options: the same by name.

    >>> import chainrule as cr
    >>> data = cr.data.moons()
    >>> models = [cr.models.MLP(2, [8], 2) for _ in range(3)]
    >>> histories = fit_many(models, (data.train.x, data.train.y))
    >>> len(histories), len(histories[0])
    (3, 20)
    """
    records: list[list[Record]] = [[] for _ in models]
    stopped = ""
    for progress in iterate_many(models, train, *rest, **options):
        if progress.record:
            stopped = progress.stopped or stopped
            for history, record in zip(records, progress.members, strict=True):
                history.append({"epoch": progress.epoch, **record})
    return [History(history, stopped) for history in records]


class BatchedTrainer(Trainer):
    """All members take their steps together."""

    state: BatchedState

    def __init__(self, models: Sequence[nn.Module], batched: BatchedRun):
        common = batched.common
        self.models, self.batched, self.device = models, batched, torch.device("cpu")
        self.epochs, self.steps = common.epochs, batched.steps
        self.threads = common.threads or torch.get_num_threads()
        self.checkpoint_seconds = common.checkpoint_seconds
        describe = {"examples": len(batched.train[0])}
        self.state = BatchedState(
            batched.stack,
            optimizer_for(batched.optimized, common, rate=1.0, decay=0.0),
            origin={"members": [origin(s, describe) for s in batched.settings]},
            rules=[EarlyStopping(common.patience) for _ in batched.settings],
        )

    def start_epoch(self) -> None:
        self.rows = orders(self.batched, self.state.epoch).split(self.batched.common.batch_size, 1)
        zeros = [0.0] * self.batched.members
        self.totals = torch.tensor(self.state.totals or zeros, dtype=torch.float64)
        self.batched.stack.train()

    def step(self, t: int) -> None:
        self.totals += update(self.state, self.batched, self.rows[self.state.step])
        if not math.isfinite(self.totals.sum().item()):
            for k in (~self.totals.isfinite()).nonzero().flatten().tolist():
                zero_out(self.state, self.batched, k)
                self.totals[k] = 0

    def running_loss(self) -> float:
        self.state.totals = self.totals.tolist()
        rows = sum(map(len, self.batched.rows))
        return sum(self.state.totals) / rows * self.steps / max(self.state.step, 1)

    def finish_epoch(self) -> Record:
        batched, state = self.batched, self.state
        state.totals = self.totals.tolist()
        members = validate(state, batched)
        keep_best(state, batched, members)
        state.totals = []
        means: dict[str, Any] = {
            name: fmean(values) if (values := finite(m[name] for m in members)) else math.inf
            for name in members[0]
        }
        return means | {"members": [members[batched.order.index(k)] for k in range(len(members))]}

    def progress(
        self, step: int, record: Record | None = None, stopped: str = ""
    ) -> BatchedProgress:
        plain = record and {name: value for name, value in record.items() if name != "members"}
        report = super().progress(step, plain, stopped)
        members = tuple(cast(dict[str, Any], record)["members"]) if record else ()
        return BatchedProgress(**vars(report), members=members)

    def out_of_patience(self) -> str:
        common, epoch = self.batched.common, self.state.epoch + 1
        if all(rule.exhausted(epoch) for rule in self.state.rules):
            return (
                f"no better validation {common.monitor} for {common.patience} epochs in any member"
            )
        return ""

    def finish(self) -> None:
        models = [self.models[k] for k in self.batched.order]
        self.batched.stack.unstack(models, self.state.best_weights or None)
        for model in models:
            model.eval()


def finite(values: Iterable[float]) -> list[float]:
    return [value for value in values if math.isfinite(value)]


def orders(batched: BatchedRun, epoch: int) -> Tensor:
    """(G, rows): each group's own order of its own rows, padded with -1."""
    firsts = slice(None, None, batched.members // batched.groups)
    parts = [
        rows[permutation(len(rows), own.seed, epoch)]
        for rows, own in zip(batched.rows[firsts], batched.settings[firsts], strict=True)
    ]
    return nn.utils.rnn.pad_sequence(parts, batch_first=True, padding_value=-1)


def validate(state: BatchedState, batched: BatchedRun) -> list[dict[str, float]]:
    """Each member's training loss, and its metrics on the validation split or its fold."""
    sizes = map(len, batched.rows)
    members = [
        {"train_loss": total / size} for total, size in zip(state.totals, sizes, strict=True)
    ]
    if batched.held_out is not None:
        outputs, targets = zip(*held_out_outputs(batched), strict=True)
        for k, found in enumerate(metrics_of_members(outputs, targets, batched.task)):
            if not math.isfinite(found["loss"]):
                zero_out(state, batched, k)
            members[k] |= {f"validation_{name}": value for name, value in found.items()}
    for k in state.diverged:
        members[k] = dict.fromkeys(members[k], math.inf)
    return members


def metrics_of_members(
    outputs: Sequence[Tensor], targets: Sequence[Arrays], task: Task
) -> Iterator[dict[str, float]]:
    """Loss and metrics of every member; losses and mistakes of all of them in one call each.

    One call for each member would cost more than small networks take to compute.
    """
    every = [torch.cat(parts) for parts in zip(*targets, strict=True)]
    examples = [len(output) for output in outputs]
    losses = task.loss(torch.cat(list(outputs)), *every).double().split(examples)
    mistakes: Sequence[Tensor | None] = [None] * len(examples)
    if ERROR in task.metrics:
        mistakes = misclassified(torch.cat(list(outputs)), *every).double().split(examples)
    for k, part in enumerate(losses):
        found = dict.fromkeys(["loss", *(metric.name for metric in task.metrics)], math.inf)
        if math.isfinite(mean := part.mean().item()):
            found["loss"] = mean
            wrong = mistakes[k]
            share = None if wrong is None else wrong.mean().item()
            for metric in task.metrics:
                if share is not None and metric in (ERROR, ACCURACY):
                    found[metric.name] = share if metric is ERROR else 1 - share
                else:
                    found[metric.name] = metric(outputs[k], *targets[k])
        yield found


def held_out_outputs(batched: BatchedRun) -> Iterator[tuple[Tensor, Arrays]]:
    """Outputs and targets of every member, computed together."""
    batched.stack.eval()
    if isinstance(batched.held_out, tuple):
        for output in outputs_many(batched.stack, batched.held_out[0]):
            yield output, batched.held_out[1:]
    elif batched.held_out is not None:
        x = batched.held_out_inputs
        most = EVALUATION_NUMBERS if x.ndim == 3 else EVALUATION_NUMBERS // 4
        parts = -(-x.numel() * batched.members // (batched.groups * most))
        with torch.inference_mode():
            found = [batched.stack(part, []) for part in x.tensor_split(parts, 1)]
        outputs = torch.cat(found, 1).float().contiguous()
        for output, split in zip(outputs, batched.held_out, strict=True):
            yield output[: len(split[0])], split[1:]


def outputs_many(stack: Stack, x: Tensor, batch_size: int = 1024) -> Tensor:
    """(K, examples, outputs): every member's outputs in evaluation mode."""
    stack.eval()
    with torch.inference_mode():
        return torch.cat([stack(part[None], []) for part in x.split(batch_size)], 1).float()


def keep_best(state: BatchedState, batched: BatchedRun, members: list[dict[str, float]]) -> None:
    """Keep the weights of every member that is better than before, in time."""
    common = batched.common
    if not common.patience:
        return
    monitor = batched.task.metric(common.monitor)
    now = {name: t.clone() for name, t in batched.stack.state_dict().items()}
    state.best_weights = state.best_weights or now
    for k, member in enumerate(members):
        if k in state.diverged:
            continue
        if state.rules[k].update(
            state.epoch + 1, monitor.cost(member[f"validation_{monitor.name}"])
        ):
            for name, t in now.items():
                state.best_weights[name][k] = t[k]
