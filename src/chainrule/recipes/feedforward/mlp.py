"""Your own table: a network for the numbers and categories of a CSV file.

    chainrule train mlp --table my.csv --target column

Columns of numbers are standardized, categories become 0/1 columns, gaps are filled in. A target of
words or of few whole numbers is a class, any other a number to be predicted.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from torch import nn

from chainrule.data.readers.table import table
from chainrule.data.splits import Splits
from chainrule.models.feedforward.mlp import MLP
from chainrule.nn.rescaled import Rescaled
from chainrule.runs.recipe import BaseRecipe, DataSummary
from chainrule.training import Settings


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseRecipe):
    """The columns of a table → hidden layers → one of its columns."""

    reference: ClassVar[str] = "J 2.2"
    data_fields: ClassVar[tuple[str, ...]] = ("table", "target", "ignore", "target_type")

    table: str
    """CSV file with a header."""
    target: str
    """The column to predict."""
    ignore: tuple[str, ...] = ()
    """Columns to ignore."""
    target_type: Literal["auto", "classification", "regression"] = "auto"
    """Kind of the target; auto infers it from the column."""
    hidden: tuple[int, ...] = (64, 64)
    """Widths of the hidden layers."""
    dropout: float = 0.1
    """Dropout rate of the hidden layers."""
    settings: Settings = Settings(epochs=200, batch_size=64, weight_decay=1e-4, patience=25)

    def __post_init__(self) -> None:
        # The run must be able to find its table from any folder.
        object.__setattr__(self, "table", str(Path(self.table).resolve()))

    def data(self, folder: Path | None) -> Splits:
        task = None if self.target_type == "auto" else self.target_type
        return table(self.table, self.target, self.seed, task=task, ignore=self.ignore)

    def model(self, summary: DataSummary) -> nn.Module:
        network = MLP(summary.inputs, self.hidden, summary.outputs, dropout=self.dropout)
        return (
            network
            if summary.classes
            else Rescaled(network, summary.target_mean, summary.target_std)
        )
