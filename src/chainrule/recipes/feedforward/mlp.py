"""Your own table: a network for the numbers and categories of a CSV file.

    chainrule train mlp --table my.csv --target column

Columns of numbers are standardized, dates become numbers with their cycles, categories 0/1 columns,
gaps are filled in. A target of words or of few whole numbers is a class, any other a number to be
predicted. The run tells which columns matter, and how.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from torch import nn

from chainrule.data.readers.tables.parquet import is_large
from chainrule.data.readers.tables.table import TableOptions, table
from chainrule.data.readers.tables.table_blocks import table_blocks
from chainrule.data.readers.tables.table_encoder import TableEncoder
from chainrule.data.readers.tables.table_files import is_address
from chainrule.data.readers.tables.word_columns import EmbeddedColumn
from chainrule.data.splits import Encoder, Splits
from chainrule.errors import InputError
from chainrule.learning.tasks import Task, in_units
from chainrule.models.feedforward.mlp import MLP
from chainrule.nn.embedded_columns import EmbeddedColumns
from chainrule.nn.rescaled import Rescaled
from chainrule.recipes.families.class_reports import check_threshold, chosen_decision
from chainrule.recipes.families.tables import (
    table_figures,
    table_texts,
    with_report,
)
from chainrule.runs.predictions import Metrics, Predictions
from chainrule.runs.recipe import BaseRecipe, DataSummary
from chainrule.training import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseRecipe):
    """The columns of a table → hidden layers → one of its columns."""

    reference: ClassVar[str] = "J 2.2"
    data_fields: ClassVar[tuple[str, ...]] = (
        *("table", "target", "ignore", "target_type"),
        *("decimal", "missing", "query", "fold_case", "categories", "date_order", "keep"),
        *("long_tails", "out_of_core"),
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
    categories: Literal["auto", "one-hot", "target", "hashed", "embedding"] = "auto"
    """Encoding of columns with more than 20 words: one feature for each, the mean target of each,
    features shared by hash, or a vector that the network learns; auto is one-hot up to 50 words,
    then by the target."""
    date_order: Literal["auto", "day-first", "month-first"] = "auto"
    """How dates such as 1/3/2024 are read, where nothing else tells."""
    keep: tuple[str, ...] = ()
    """Columns to keep although they look like ids."""
    long_tails: Literal["log", "keep"] = "log"
    """Take log(1 + x/c) of columns from 0 on whose skewness is above 2, or keep them."""
    out_of_core: bool = False
    """Read a Parquet file part by part, so that it may be larger than memory; a folder of Parquet
    files and a file of more than 50,000,000 cells always are."""
    hidden: tuple[int, ...] = (64, 64)
    """Widths of the hidden layers."""
    dropout: float = 0.1
    """Dropout rate of the hidden layers."""
    threshold: Literal["half", "f1", "balanced"] = "half"
    """How `predict` decides between two classes: for the more probable one, or at the probability
    with the largest F1 or balanced accuracy on the validation split."""
    settings: Settings = Settings(epochs=500, batch_size=64, weight_decay=1e-2, patience=25)

    def __post_init__(self) -> None:
        # The run must be able to find its table from any folder.
        if not is_address(self.table):
            object.__setattr__(self, "table", str(Path(self.table).resolve()))

    def data(self, folder: Path | None) -> Splits:
        task = None if self.target_type == "auto" else self.target_type
        if self.out_of_core or (not is_address(self.table) and is_large(self.table)):
            self.check_out_of_core()
            return table_blocks(
                self.table,
                self.target,
                self.seed,
                task=task,
                ignore=self.ignore,
                options=TableOptions(
                    keep=self.keep,
                    date_order=self.date_order,
                    long_tails=self.long_tails == "log",
                ),
            )
        decimal = "" if self.decimal == "auto" else self.decimal
        options = TableOptions(
            decimal=decimal,
            missing=self.missing,
            query=self.query,
            fold_case=self.fold_case,
            categories=self.categories,
            date_order=self.date_order,
            keep=self.keep,
            long_tails=self.long_tails == "log",
        )
        return table(
            self.table, self.target, self.seed, task=task, ignore=self.ignore, options=options
        )

    def check_out_of_core(self) -> None:
        """Refuse what concerns text and databases, which are not read part by part."""
        plain = {"decimal": "auto", "missing": (), "query": "", "fold_case": True}
        plain |= {"categories": "auto"}
        for name, usual in plain.items():
            if getattr(self, name) != usual:
                raise InputError(
                    f"`{name}` cannot be used with a table that is read part by part: its cells "
                    "are taken as they are; leave it out"
                )

    def summarize(self, data: Splits) -> DataSummary:
        check_threshold(self.threshold, data.classes)
        return super().summarize(data)

    def task(self, data: Splits) -> Task:
        usual = super().task(data)
        scale = getattr(data.encoder, "scale", 1.0)
        return usual if data.classes or scale == 1 else in_units(usual, scale)

    def model(self, summary: DataSummary) -> nn.Module:
        words = embedded_words(summary.encoder)
        inputs = EmbeddedColumns.width(summary.inputs, words)
        network: nn.Module = MLP(inputs, self.hidden, summary.outputs, dropout=self.dropout)
        if words:
            network = EmbeddedColumns(network, summary.inputs, words)
        return (
            network
            if summary.classes
            else Rescaled(network, summary.target_mean, summary.target_std)
        )

    def decision(self, predictions: Predictions) -> dict[str, Any]:
        return chosen_decision(predictions, self.threshold)

    def evaluate(self, predictions: Predictions) -> Metrics:
        return with_report(predictions, super().evaluate(predictions), self.threshold)

    def texts(self, predictions: Predictions) -> dict[str, str]:
        return table_texts(predictions, self.threshold)

    def figures(self, predictions: Predictions) -> "dict[str, Figure]":
        return super().figures(predictions) | table_figures(predictions)


def embedded_words(encoder: Encoder | None) -> dict[int, int]:
    """By feature, how many words it numbers."""
    assert encoder is None or isinstance(encoder, TableEncoder)
    found, place = {}, 0
    for column in encoder.columns if encoder else ():
        if isinstance(column, EmbeddedColumn):
            found[place] = len(column.words)
        place += len(column.features)
    return found
