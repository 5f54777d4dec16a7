"""Spam e-mails with ten training techniques, and the ablation of each (ESL exercise 11.7).

Each technique is removed from the full set, and added to a bare network without any: raw
frequencies, plain stochastic gradient descent at a constant rate, no penalty. Every variant gets
the best of four learning rates by cross-validation. In the table `validation` is the
cross-validated error on the 3,065 training e-mails with its standard error over the folds, `test`
the mean over runs with different seeds and its standard error; the finite test set of 1,536 e-mails
adds an uncertainty of 0.5 %. Notes: L exercise 10.6.

The settings come from the training e-mails alone:

    chainrule tune spam-mlp --trials 48 --epochs 40 --space "hidden=64,64|128,128|256,256|256" \\
        learning_rate=5e-4:2e-2:log weight_decay=1e-5:1e-2:log0 dropout=0:0.8 label_smoothing=0:0.2

whose best is 4.70 ± 0.40 % (256-256). 64-64 with 4.99 % lies within that standard error and is the
smallest network tried, so its settings are taken.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from torch import nn

from chainrule.data.datasets import spam
from chainrule.data.splits import Splits
from chainrule.errors import InputError
from chainrule.models.feedforward.mlp import MLP
from chainrule.recipes.families.ablation import prepared, worth
from chainrule.registry import unknown
from chainrule.runs.options import RunOptions
from chainrule.runs.recipe import BaseRecipe, DataSummary, Metrics
from chainrule.training import Settings

OFF: dict[str, dict[str, object]] = {
    "log of the frequencies": {"transform": "none"},
    "standardized inputs": {"scaling": "none"},
    "adam": {"optimizer": "sgd"},
    "one-cycle schedule": {"schedule": "constant"},
    "weight decay": {"weight_decay": 0.0},
    "dropout": {"dropout": 0.0},
    "label smoothing": {"label_smoothing": 0.0},
    "batch normalization": {"norm": "none"},
    "early stopping": {"patience": 0},
    "ensemble": {"members": 1},
}
"""Every trick by the settings that take it away."""


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseRecipe):
    """57 features → hidden layers → spam or not, several times."""

    reference: ClassVar[str] = "L exercise 10.6 (ESL 11.7)"
    data_fields: ClassVar[tuple[str, ...]] = (
        "transform",
        "scaling",
        "tricks",
        "table_folds",
        "repeats",
    )

    options: ClassVar[RunOptions] = RunOptions(members=5)

    hidden: tuple[int, ...] = (64, 64)
    """Widths of the hidden layers."""
    dropout: float = 0.292
    """Dropout rate of the hidden layers."""
    norm: Literal["batch", "none"] = "batch"
    """batch: batch normalization before every nonlinearity; none: without."""
    transform: Literal["log", "none"] = "log"
    """log: log(1 + x / 0.1) of the frequencies; none: the frequencies."""
    scaling: Literal["standard", "none"] = "standard"
    """standard: inputs of mean 0 and variance 1; none: as they are."""
    tricks: tuple[str, ...] = tuple(OFF)
    """Techniques to ablate."""
    table_folds: int = 5
    """Folds of the cross-validation in the table."""
    repeats: int = 3
    """Runs, or ensembles, averaged in the table."""
    members: int = 5
    """Number of networks in the ensemble."""
    settings: Settings = Settings(
        epochs=40,
        schedule="one-cycle",
        learning_rate=0.0169,
        weight_decay=2.16e-4,
        label_smoothing=0.0929,
        patience=10,
    )

    def __post_init__(self) -> None:
        for trick in self.tricks:
            if trick not in OFF:
                raise InputError(unknown("trick", trick, list(OFF)))
        if self.table_folds < 2:
            raise InputError(f"`table_folds` must be at least 2, got {self.table_folds}")
        if self.repeats < 1:
            raise InputError(f"`repeats` must be at least 1, got {self.repeats}")

    def data(self, folder: Path | None) -> Splits:
        return prepared(spam.load(folder, self.seed), self.transform, self.scaling)

    def model(self, summary: DataSummary) -> nn.Module:
        norm = None if self.norm == "none" else self.norm
        return MLP(summary.inputs, self.hidden, summary.outputs, dropout=self.dropout, norm=norm)

    def baselines(self, data: Splits) -> dict[str, Metrics]:
        if (self.transform, self.scaling) != ("log", "standard"):
            return {}  # the variants need the original inputs
        return {name: worth(variant, data) for name, variant in self.variants()}

    def variants(self) -> "Iterator[tuple[str, Recipe]]":
        """The whole set, it without each trick, the bare network, it with each trick."""
        yield "all tricks", self
        for trick in self.tricks:
            yield f"all but {trick}", self.changed(**OFF[trick])
        bare: dict[str, object] = {k: v for off in OFF.values() for k, v in off.items()}
        yield "no trick", self.changed(**bare)
        for trick in self.tricks:
            on = {name: self.value(name) for name in OFF[trick]}
            yield f"only {trick}", self.changed(**bare | on)
