"""What a variant of the spam network is worth: cross-validated and on the test split.

Every fold keeps some of its rows aside for early stopping, as the recipe's own validation split
does; they are used by the variants that stop early and left alone by the others.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import fmean, stdev
from typing import TYPE_CHECKING, TypeVar

import torch
from torch import Tensor

from chainrule.data.readers.table_encoder import NumericColumn, TableEncoder
from chainrule.data.splits import Split, Splits
from chainrule.errors import InputError
from chainrule.learning.metrics import error
from chainrule.learning.tasks import TWO_CLASSES
from chainrule.models.feedforward.ensemble import Ensemble
from chainrule.runs.recipe import Figures, Trained, arrays, task_of
from chainrule.runs.run import build
from chainrule.training import Progress, fit_many, outputs
from chainrule.training.batched.run import k_folds
from chainrule.tuning.cross_validation import alone, without_test

if TYPE_CHECKING:
    from chainrule.recipes.tricks.spam_tuned import Recipe

RATES = {"sgd": (1e-3, 1e-2, 1e-1, 5e-1)}
ADAPTIVE = (1e-3, 3e-3, 1e-2, 3e-2)
ASIDE = 0.075  # share of a fold's rows for early stopping: 230 of 3,065
SINGLE = 5  # networks without an ensemble are cheap: so many times more of them
T = TypeVar("T")


def prepared(data: Splits, transform: str, scaling: str) -> Splits:
    """The inputs with or without the logarithm and the standardization of the encoder."""
    if (transform, scaling) == ("log", "standard"):
        return data
    encoder = data.encoder
    if not isinstance(encoder, TableEncoder):
        raise InputError("expected inputs that are standardized logarithms")
    numbers = [column for column in encoder.columns if isinstance(column, NumericColumn)]
    mean, std, c = (
        torch.tensor([getattr(n, name) for n in numbers], dtype=torch.float64)
        for name in ("mean", "std", "log")
    )

    def plain(x: Tensor) -> Tensor:
        z = x.double() * std + mean
        return z if transform == "log" else c * z.expm1()

    x_train = plain(data.train.x)
    center, spread = torch.zeros_like(mean), torch.ones_like(std)
    if scaling == "standard":
        center, spread = x_train.mean(0), x_train.std(0)
        spread[spread < 1e-9] = 1.0  # a column of equal values
    train, validation, test = (
        Split(((plain(split.x) - center) / spread).float(), split.y)
        for split in (data.train, data.validation, data.test)
    )
    return replace(data, train=train, validation=validation, test=test, encoder=None)


def worth(variant: "Recipe", data: Splits) -> Figures:
    """Cross-validated and test error at the variant's best rate, with their standard errors."""
    data = prepared(data, variant.transform, variant.scaling)
    rates = RATES.get(variant.optimizer, ADAPTIVE)
    tried = [replace(variant, learning_rate=rate) for rate in rates]
    means = [fmean(errors) for errors in cross_validated([single(v) for v in tried], data)]
    best = tried[min(range(len(tried)), key=lambda i: (means[i], i))]
    (folds,) = cross_validated([best], data)
    runs = tested(best, data)
    return {
        "validation": {"error": fmean(folds), "standard error": error_of_mean(folds)},
        "test": {"error": fmean(runs), "standard error": error_of_mean(runs)},
    }


def single(variant: "Recipe") -> "Recipe":
    """The variant with one member: rates are chosen by single networks."""
    return replace(variant, members=1)


def cross_validated(variants: "Sequence[Recipe]", data: Splits) -> list[list[float]]:
    """For every variant its error on each fold; all folds, members and variants in one program."""
    first, pool = variants[0], without_test(data)
    x, y = pool.rows
    folds = k_folds(len(x), first.table_folds, first.seed)
    parts = [stop_early(learned, held, first.seed) for learned, held in folds]
    crowd = [member(v, k) for v in variants for _ in folds for k in range(v.members)]
    models = [build(each, pool.task) for each in crowd]
    rows = [part for _ in variants for part in parts for _ in range(first.members)]
    run(fit_many(models, (x, y), None, crowd, TWO_CLASSES, rows))
    groups = chunks(models, first.members)
    found = [
        error(outputs(Ensemble(group), (x[held],)).float(), y[held])
        for group, (_, held) in zip(groups, folds * len(variants), strict=True)
    ]
    return chunks(found, len(folds))


def stop_early(learned: Tensor, held: Tensor, seed: int) -> tuple[Tensor, Tensor]:
    """The rows of a fold to learn from, and those set aside for early stopping; never `held`."""
    order = torch.randperm(len(learned), generator=torch.Generator().manual_seed(seed))
    aside = round(ASIDE * len(learned))
    return learned[order[aside:]], learned[order[:aside]]


def tested(variant: "Recipe", data: Splits) -> list[float]:
    """The test error of every run: an ensemble, or each single network."""
    number = variant.repeats * (variant.members if variant.members > 1 else SINGLE)
    crowd = [member(variant, k) for k in range(number)]
    models = [build(each, task_of(data)) for each in crowd]
    run(fit_many(models, arrays(data.train), arrays(data.validation), crowd, TWO_CLASSES))
    x, y = data.test
    return [
        error(outputs(Ensemble(group), (x,)).float(), y)
        for group in chunks(models, variant.members)
    ]


def member(variant: "Recipe", number: int) -> Trained:
    """One network with a start of its own."""
    return replace(alone(variant), seed=variant.seed + number)


def run(steps: Iterable[Progress]) -> None:
    """To the end."""
    for _ in steps:
        pass


def chunks(values: Sequence[T], size: int) -> list[list[T]]:
    """Parts of equal size, in order."""
    return [list(values[i : i + size]) for i in range(0, len(values), size)]


def error_of_mean(values: Sequence[float]) -> float:
    """std / √n."""
    return stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
