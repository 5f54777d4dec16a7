"""Cross-validation of many settings at once: every point on every fold is one member of a crowd.

    CV(λ) = 1/K Σ_k m(f_k^λ; fold k),      its standard error: std of the K terms / √K

Folds are made of the training and validation rows; the test split is cut off before anything sees
it. All points share folds and starts, so that their differences are their own. With early stopping
the fold that chooses the epoch also measures it, as is usual in tuning.
"""

import inspect
import math
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import torch
from torch import Tensor

from chainrule.data.splits import Split, Splits
from chainrule.errors import InputError
from chainrule.learning.tasks import Objective
from chainrule.runs.recipe import Task, Trained, arrays, task_of
from chainrule.runs.run import build
from chainrule.training import fit, fit_many
from chainrule.training.batched.run import k_folds
from chainrule.tuning.space import NUMERIC, Dimension, changed

MOST_BYTES = 2 * 2**30  # of weights and held-out rows in one program
Record = dict[str, int | float]


@dataclass(frozen=True)
class Pool:
    """The rows to cross-validate on, and what they ask of a model."""

    data: Splits
    task: Task

    @property
    def rows(self) -> tuple[Tensor, Tensor]:
        return arrays(self.data.train)


@dataclass(frozen=True)
class Scores:
    """A look at a running cross-validation: the share done and, after an epoch, the figures.

    values: for every point its metric on every fold, of the weights that would be kept now.
    """

    epoch: int
    fraction: float
    values: list[list[float]] | None = None


def pool_of(recipe: Trained, folder: Path | None) -> Pool:
    """Training and validation rows of the recipe's data, without the test split."""
    return without_test(recipe.data(folder))


def without_test(whole: Splits) -> Pool:
    """The pool of a data set."""
    both = [torch.cat(parts) for parts in zip(whole.train, whole.validation, strict=True)]
    rows = Split(*both)
    none = Split(rows.x[:0], rows.y[:0])
    data = Splits(rows, none, none, whole.classes)
    return Pool(data, task_of(data))


def default_metric(objective: Objective) -> str:
    """The first metric beside the loss: error for classes, rmse for numbers."""
    return next(iter(objective.metrics), "loss")


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """The mean over the folds and its standard error."""
    if not all(map(math.isfinite, values)):
        return values[0] if len(set(values)) == 1 else math.copysign(math.inf, sum(values)), 0.0
    spread = stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    return fmean(values), spread


def groups(points: Sequence[Trained], pool: Pool, folds: int) -> list[list[int]]:
    """Places of the points that are trained together: of one architecture, as memory allows."""
    alike: dict[str, list[int]] = {}
    for place, point in enumerate(points):
        kept = {k: v for k, v in asdict(point).items() if k not in NUMERIC}
        alike.setdefault(repr(sorted(kept.items())), []).append(place)
    found = []
    for places in alike.values():
        most = max(1, MOST_BYTES // bytes_of(points[places[0]], pool, folds))
        found += [places[i : i + most] for i in range(0, len(places), most)]
    return found


def bytes_of(point: Trained, pool: Pool, folds: int) -> int:
    """What one point holds in memory: held-out rows twice, weights five times in every fold."""
    x = pool.data.train.x
    weights = sum(p.numel() * p.element_size() for p in build(alone(point), pool.task).parameters())
    return 2 * x.numel() * x.element_size() + 5 * folds * weights


def alone(point: Trained) -> Trained:
    """One network: an ensemble is tuned by its members."""
    return replace(point, members=1)


def cross_validate(
    points: Sequence[Trained], pool: Pool, folds: int, metric: str, notes: list[str]
) -> Generator[Scores]:
    """Train points of one architecture on all folds, together where the model allows it."""
    rows = k_folds(len(pool.rows[0]), folds, points[0].seed)
    try:
        yield from together(points, pool, rows, metric)
    except InputError as error:  # what a single run refuses too is raised there again
        note = f"trained one after another: {error}"
        if note not in notes:
            notes.append(note)
        yield from one_by_one(points, pool, rows, metric)


def together(
    points: Sequence[Trained], pool: Pool, rows: list[tuple[Tensor, Tensor]], metric: str
) -> Generator[Scores]:
    """One program for all points and folds."""
    first, folds = points[0], len(rows)
    objective = first.objective(pool.data)
    members = [replace(alone(p), seed=p.seed + k) for p in points for k in range(folds)]
    models = [build(member, pool.task) for member in members]
    histories: list[list[Record]] = [[] for _ in members]
    steps = fit_many(models, pool.rows, None, members, objective, rows * len(points))
    with closing(steps):
        for now in steps:
            values = None
            if now.record:
                for history, record in zip(histories, now.members, strict=True):
                    history.append({**record})
                each = [score(history, first, objective, metric) for history in histories]
                values = [each[i : i + folds] for i in range(0, len(each), folds)]
            yield Scores(now.epoch, now.fraction, values)


def one_by_one(
    points: Sequence[Trained], pool: Pool, rows: list[tuple[Tensor, Tensor]], metric: str
) -> Generator[Scores]:
    """Point after point and fold after fold; the figures come at the end."""
    values: list[list[float]] = [[] for _ in points]
    total, done = len(points) * len(rows), 0
    for place, point in enumerate(points):
        objective = point.objective(pool.data)
        for k, (learned, held) in enumerate(rows):
            own = replace(alone(point), seed=point.seed + k)
            train, validation = (tuple(t[r] for t in pool.rows) for r in (learned, held))
            history: list[Record] = []
            try:
                steps = fit(build(own, pool.task), train, validation, own, objective, device="cpu")
                with closing(steps):
                    for now in steps:
                        if now.record:
                            history.append(now.record)
                        yield Scores(0, (done + now.fraction) / total)
            except InputError as error:
                if "became" not in str(error):
                    raise
                history.append({"train_loss": math.inf, f"validation_{metric}": math.inf})
            values[place].append(score(history, point, objective, metric))
            done += 1
    yield Scores(points[0].epochs, 1.0, values)


def score(history: list[Record], recipe: Trained, objective: Objective, metric: str) -> float:
    """The metric of the weights that are kept; the worst there is after a divergence."""
    record = kept(history, recipe, objective)
    value = record[f"validation_{metric}"]
    if not math.isfinite(record["train_loss"]) or math.isnan(value):
        return objective_sign(objective, metric) * math.inf
    return value


def objective_sign(objective: Objective, metric: str) -> int:
    """+1 where less is better, -1 where more is."""
    return -1 if metric in objective.greater else 1


def kept(history: list[Record], recipe: Trained, objective: Objective) -> Record:
    """The record of the last epoch, or with patience of the best one that was waited for."""
    if not recipe.patience or not math.isfinite(history[-1]["train_loss"]):
        return history[-1]
    best, best_epoch = math.inf, 0
    for epoch, record in enumerate(history):
        cost = objective.cost(recipe.monitor, record[f"validation_{recipe.monitor}"])
        if cost < best and epoch - best_epoch < recipe.patience:
            best, best_epoch = cost, epoch + 1
    return history[max(best_epoch - 1, 0)]


def try_out(recipe: Trained, space: Sequence[Dimension], pool: Pool) -> None:
    """Build every listed value and both ends of every range, so that none is refused later."""
    base = {d.name: d.drawn(getattr(recipe, d.name)) for d in space}
    base |= {d.name: d.ends[0] for d in space if base[d.name] is None}
    for dimension in space:
        for end in dimension.ends:
            point = {k: v for k, v in base.items() if v is not None} | {dimension.name: end}
            build(alone(changed(recipe, space, point)), pool.task)


def refuse_kind(name: str, kind: type) -> None:
    """Say which recipes cannot be cross-validated whatever their settings."""
    if not issubclass(kind, Trained):
        raise InputError(
            f"{name} is not trained on splits by the engine, so it cannot be cross-validated"
        )


def refuse(name: str, recipe: Any) -> None:
    """Say what cannot be cross-validated."""
    refuse_kind(name, type(recipe))
    if "teacher" in inspect.unwrap(type(recipe).data).__code__.co_names:
        raise InputError(
            f"{name} needs a teacher, and a recipe that needs one cannot be tuned; tune its "
            "student by a recipe that learns from labels alone, then train with what is found"
        )
    for field, written in (("teacher", "--teacher"), ("start", "--from"), ("freeze", "--freeze")):
        if getattr(recipe, field):
            raise InputError(f"{written} is not for tune; leave it out and add it to train")
