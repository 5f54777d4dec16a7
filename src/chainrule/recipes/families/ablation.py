"""Ablation of the spam network: cross-validated and test error of its variants.

Some rows of every fold are held out for early stopping, as in the recipe's own validation split;
variants without early stopping leave them unused.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean, stdev
from typing import TYPE_CHECKING, TypeVar

import torch
from torch import Tensor

from chainrule.data.readers.tables.column_encodings import NumericColumn
from chainrule.data.readers.tables.table_encoder import TableEncoder
from chainrule.data.splits import Split, Splits
from chainrule.errors import InputError
from chainrule.learning.metrics import error
from chainrule.learning.tasks import BINARY
from chainrule.models.feedforward.ensemble import Ensemble
from chainrule.runs.configuration import Configuration
from chainrule.runs.predictions import Metrics
from chainrule.runs.run import build
from chainrule.training import fit_many, outputs
from chainrule.training.batched.run import k_folds
from chainrule.tuning.cross_validation import without_test

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


def worth(variant: "Recipe", data: Splits) -> Metrics:
    """Cross-validated and test error at the variant's best rate, with their standard errors."""
    data = prepared(data, variant.transform, variant.scaling)
    rates = RATES.get(str(variant.settings.optimizer), ADAPTIVE)
    tried = [variant.changed(learning_rate=rate) for rate in rates]
    single = [v.changed(members=1) for v in tried]
    means = [fmean(errors) for errors in cross_validated(single, data)]
    best = tried[min(range(len(tried)), key=lambda i: (means[i], i))]
    (folds,) = cross_validated([best], data)
    runs = tested(best, data)
    return {
        "validation": {"error": fmean(folds), "standard error": error_of_mean(folds)},
        "test": {"error": fmean(runs), "standard error": error_of_mean(runs)},
    }


def cross_validated(variants: "Sequence[Recipe]", data: Splits) -> list[list[float]]:
    """The error of each variant on each fold; all networks are trained in one batch."""
    first, pool = variants[0], without_test(variants[0], data)
    x, y = pool.data.train
    folds = k_folds(len(x), first.table_folds, first.seed)
    parts = [stop_early(learned, held, first.seed) for learned, held in folds]
    members = [member(v, k) for v in variants for _ in folds for k in range(v.members)]
    models = [build(Configuration(each), pool.summary) for each in members]
    rows = [part for _ in variants for part in parts for _ in range(first.members)]
    fit_many(models, (x, y), None, [each.settings for each in members], BINARY, rows)
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
    members = [member(variant, k) for k in range(number)]
    models = [build(Configuration(each), variant.summarize(data)) for each in members]
    settings = [each.settings for each in members]
    fit_many(models, tuple(data.train), tuple(data.validation), settings, BINARY)
    x, y = data.test
    return [
        error(outputs(Ensemble(group), (x,)).float(), y)
        for group in chunks(models, variant.members)
    ]


def member(variant: "Recipe", number: int) -> "Recipe":
    """One network of the ensemble, with its own seed."""
    return variant.changed(seed=variant.seed + number, members=1)


def chunks(values: Sequence[T], size: int) -> list[list[T]]:
    """Parts of equal size, in order."""
    return [list(values[i : i + size]) for i in range(0, len(values), size)]


def error_of_mean(values: Sequence[float]) -> float:
    """std / √n."""
    return stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
