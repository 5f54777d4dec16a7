"""Your own table: a network for the numbers and categories of a CSV file.

    chainrule train mlp --table my.csv --target column

Columns of numbers are standardized, categories become 0/1 columns, gaps are filled in. A target of
words or of few whole numbers is a class, any other a number to be predicted.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from torch import nn

from chainrule.data.readers.table import TableOptions, table
from chainrule.data.readers.table_files import is_address
from chainrule.data.splits import Splits
from chainrule.learning.tasks import Task, in_units
from chainrule.models.feedforward.mlp import MLP
from chainrule.nn.rescaled import Rescaled
from chainrule.runs.decisions import decision
from chainrule.runs.predictions import Predictions
from chainrule.runs.recipe import BaseRecipe, DataSummary
from chainrule.training import Settings


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseRecipe):
    """The columns of a table → hidden layers → one of its columns."""

    reference: ClassVar[str] = "J 2.2"
    data_fields: ClassVar[tuple[str, ...]] = (
        *("table", "target", "ignore", "target_type"),
        *("decimal", "missing", "query", "fold_case"),
    )

    table: str
    """CSV file with a header, gzipped or not; a Parquet, Feather, .xlsx or SQLite file; or the
    address of a database."""
    target: str
    """The column to predict."""
    ignore: tuple[str, ...] = ()
    """Columns to ignore."""
    target_type: Literal["auto", "classification", "regression"] = "auto"
    """Kind of the target; auto infers it from the column."""
    decimal: Literal["auto", ".", ","] = "auto"
    """Decimal mark of the numbers; auto decides for each column by what it holds."""
    missing: tuple[str, ...] = ()
    """Marks for a missing value, besides empty cells, NA, nan, null, none and ?."""
    query: str = ""
    """SQL that selects the rows, where the table is in a database."""
    fold_case: bool = True
    """Read words that differ in upper and lower case only, such as yes and Yes, as one."""
    hidden: tuple[int, ...] = (64, 64)
    """Widths of the hidden layers."""
    dropout: float = 0.1
    """Dropout rate of the hidden layers."""
    threshold: Literal["half", "f1", "balanced"] = "half"
    """How `predict` decides between two classes: for the more probable one, or at the probability
    with the largest F1 or balanced accuracy on the validation split."""
    settings: Settings = Settings(epochs=200, batch_size=64, weight_decay=1e-4, patience=25)

    def __post_init__(self) -> None:
        # The run must be able to find its table from any folder.
        if not is_address(self.table):
            object.__setattr__(self, "table", str(Path(self.table).resolve()))

    def data(self, folder: Path | None) -> Splits:
        task = None if self.target_type == "auto" else self.target_type
        decimal = "" if self.decimal == "auto" else self.decimal
        options = TableOptions(
            decimal=decimal, missing=self.missing, query=self.query, fold_case=self.fold_case
        )
        return table(
            self.table, self.target, self.seed, task=task, ignore=self.ignore, options=options
        )

    def task(self, data: Splits) -> Task:
        usual = super().task(data)
        scale = getattr(data.encoder, "scale", 1.0)
        return usual if data.classes or scale == 1 else in_units(usual, scale)

    def model(self, summary: DataSummary) -> nn.Module:
        network = MLP(summary.inputs, self.hidden, summary.outputs, dropout=self.dropout)
        return (
            network
            if summary.classes
            else Rescaled(network, summary.target_mean, summary.target_std)
        )

    def decision(self, predictions: Predictions) -> dict[str, Any]:
        return decision(predictions, self.threshold)
