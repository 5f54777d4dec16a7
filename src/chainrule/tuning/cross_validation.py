"""Cross-validation of many settings at once: every point on every fold is one network.

    CV(λ) = 1/K Σ_k m(f_k^λ; fold k),      its standard error: std of the K terms / √K

Folds are made of the training and validation rows; the test split is cut off before anything sees
it. All points share folds and initial weights, so only their settings differ. With early stopping
the fold that chooses the epoch also measures it, as is usual in tuning.
"""

import math
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import torch
from torch import Tensor

from chainrule.data.splits import BlockSplits, Split
from chainrule.errors import DivergenceError, InputError, NotBatchableError
from chainrule.learning.metrics import LOSS, Metric
from chainrule.learning.tasks import Task
from chainrule.runs.configuration import Configuration
from chainrule.runs.recipe import BaseRecipe, DataSummary
from chainrule.runs.run import build, initial_model
from chainrule.training import Record, Settings, iterate_many
from chainrule.training.batched.run import k_folds
from chainrule.training.stopping import last_epoch
from chainrule.tuning.space import NUMERIC, Dimension, changed

MOST_BYTES = 2 * 2**30  # of weights and held-out rows in one program


@dataclass(frozen=True)
class Pool:
    """The data to cross-validate on, all of them in the training split, and their summary."""

    data: Any
    summary: DataSummary

    def part(self, rows: Tensor) -> Split:
        """Some of the rows as a split."""
        return Split(*(t[rows] for t in self.data.train))


@dataclass(frozen=True)
class Scores:
    """Progress of a cross-validation: the fraction done and, after an epoch, the metrics.

    values: for every point its metric on every fold, with the weights that would be kept now.
    """

    epoch: int
    fraction: float
    values: list[list[float]] | None = None


def pool_of(recipe: BaseRecipe, folder: Path | None) -> Pool:
    """Training and validation rows of the recipe's data, without the test split."""
    return without_test(recipe, recipe.data(folder))


def without_test(recipe: BaseRecipe, whole: Any) -> Pool:
    """The pool of a data set."""
    if isinstance(whole, BlockSplits):
        raise InputError(
            "settings are searched with all rows in memory, and these are on the disk; tune on a "
            "smaller table, then train on the large one"
        )
    both = [torch.cat(parts) for parts in zip(whole.train, whole.validation, strict=True)]
    rows = Split(*both)
    none = Split(rows.x[:0], rows.y[:0])
    data = replace(whole, train=rows, validation=none, test=none)
    return Pool(data, recipe.summarize(data))


def default_metric(task: Task) -> Metric:
    """The first metric beside the loss: error for classes, rmse for numbers."""
    return task.metrics[0] if task.metrics else LOSS


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """The mean over the folds and its standard error."""
    if not all(map(math.isfinite, values)):
        return values[0] if len(set(values)) == 1 else math.copysign(math.inf, sum(values)), 0.0
    spread = stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    return fmean(values), spread


def groups(points: Sequence[BaseRecipe], pool: Pool, folds: int) -> list[list[int]]:
    """Indices of points that are trained together: of one architecture, as memory allows."""
    alike: dict[str, list[int]] = {}
    for place, point in enumerate(points):
        values = Configuration(point).values()
        kept = {k: v for k, v in values.items() if k not in NUMERIC}
        alike.setdefault(repr(sorted(kept.items())), []).append(place)
    found = []
    for places in alike.values():
        most = max(1, MOST_BYTES // bytes_of(points[places[0]], pool, folds))
        found += [places[i : i + most] for i in range(0, len(places), most)]
    return found


def bytes_of(point: BaseRecipe, pool: Pool, folds: int) -> int:
    """Memory of one point: held-out rows twice, and weights five times in every fold."""
    x = pool.data.train.x
    weights = sum(
        p.numel() * p.element_size() for p in build(Configuration(point), pool.summary).parameters()
    )
    return 2 * x.numel() * x.element_size() + 5 * folds * weights


def cross_validate(
    points: Sequence[BaseRecipe], pool: Pool, folds: int, metric: Metric, remarks: list[str]
) -> Generator[Scores]:
    """Train points of one architecture on all folds, together where the model allows it."""
    rows = k_folds(len(pool.data.train.x), folds, points[0].seed)
    try:
        yield from together(points, pool, rows, metric)
    except NotBatchableError as error:
        remark = f"trained one after another: {error}"
        if remark not in remarks:
            remarks.append(remark)
        yield from one_by_one(points, pool, rows, metric)


def together(
    points: Sequence[BaseRecipe], pool: Pool, rows: list[tuple[Tensor, Tensor]], metric: Metric
) -> Generator[Scores]:
    """One program for all points and folds."""
    first, folds = points[0], len(rows)
    if "members" in first.unsupported:
        raise NotBatchableError(first.unsupported["members"])
    task = first.task(pool.data)
    members = [p.changed(seed=p.seed + k) for p in points for k in range(folds)]
    models = [build(Configuration(member), pool.summary) for member in members]
    histories: list[list[Record]] = [[] for _ in members]
    steps = iterate_many(
        models,
        tuple(pool.data.train),
        None,
        [member.settings for member in members],
        task,
        rows * len(points),
        augment=first.augmentation(),
    )
    with closing(steps):
        for now in steps:
            values = None
            if now.record:
                for history, record in zip(histories, now.members, strict=True):
                    history.append({**record})
                each = [score(history, first, task, metric) for history in histories]
                values = [each[i : i + folds] for i in range(0, len(each), folds)]
            yield Scores(now.epoch, now.fraction, values)


def one_by_one(
    points: Sequence[BaseRecipe], pool: Pool, rows: list[tuple[Tensor, Tensor]], metric: Metric
) -> Generator[Scores]:
    """Point after point and fold after fold; the metrics come at the end."""
    values: list[list[float]] = [[] for _ in points]
    total, done = len(points) * len(rows), 0
    for place, point in enumerate(points):
        task = point.task(pool.data)
        for k, (learned, held_out) in enumerate(rows):
            own = point.changed(seed=point.seed + k)
            data = replace(pool.data, train=pool.part(learned), validation=pool.part(held_out))
            history: list[Record] = []
            try:
                model = initial_model(Configuration(own), pool.summary, data)
                steps = own.fit(model, data, None, "cpu")
                with closing(steps):
                    for now in steps:
                        if now.record:
                            history.append(now.record)
                        yield Scores(0, (done + now.fraction) / total)
            except DivergenceError:
                history.append({"train_loss": math.inf, f"validation_{metric.name}": math.inf})
            values[place].append(score(history, point, task, metric))
            done += 1
    yield Scores(points[0].settings.epochs, 1.0, values)


def score(history: list[Record], recipe: BaseRecipe, task: Task, metric: Metric) -> float:
    """The metric of the weights that are kept; the worst there is after a divergence."""
    record = kept(history, recipe.settings, task)
    value = record[f"validation_{metric.name}"]
    if not math.isfinite(record["train_loss"]) or math.isnan(value):
        return -math.inf if metric.higher_is_better else math.inf
    return value


def kept(history: list[Record], settings: Settings, task: Task) -> Record:
    """The record of the epoch whose weights are kept: the last, or with patience the best."""
    if not settings.patience or not math.isfinite(history[-1]["train_loss"]):
        return history[-1]
    monitor = task.metric(settings.monitor)
    costs = (monitor.cost(record[f"validation_{monitor.name}"]) for record in history)
    best, _ = last_epoch(costs, settings.patience)
    return history[best - 1]


def try_out(recipe: BaseRecipe, space: Sequence[Dimension], pool: Pool) -> None:
    """Build every listed value and both ends of every range, so that none is refused later."""
    base = {d.name: d.drawn(recipe.value(d.name)) for d in space}
    base |= {d.name: d.ends[0] for d in space if base[d.name] is None}
    for dimension in space:
        for end in dimension.ends:
            point = {k: v for k, v in base.items() if v is not None} | {dimension.name: end}
            build(Configuration(changed(recipe, space, point)), pool.summary)
