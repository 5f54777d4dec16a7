"""Your own time series: a forecast of the next steps, with a band.

    chainrule train forecast --table sales.csv --time date --target units --group store --horizon 14
    chainrule predict runs/forecast-1 sales.csv

A network reads a window of each series and gives the quantiles 0.1, 0.5 and 0.9 of every step
ahead, trained by the pinball loss; both ends of the band are then moved by how far they were off in
the last hundred forecasts. Windows are split by time and never across a period; every step
of the test period is an origin of a forecast (rolling origin, without training again). Missing
steps are carried forward, marked, and never a target. Beside it stand the last season repeated and
an autoregression. Notes: J 5, L "When to Use Deep Learning" (NYSE).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from torch import Tensor, nn

from chainrule.data.readers.series.series import SeriesOptions, SeriesSplits, series
from chainrule.data.readers.series.series_encoder import QUANTILES
from chainrule.errors import InputError
from chainrule.learning.tasks import Task
from chainrule.models.recurrent.forecaster import CausalEncoder, Forecaster
from chainrule.models.recurrent.layers import recurrent_network
from chainrule.recipes.families.series import (
    FORECASTING,
    banded,
    baseline_metrics,
    by_series,
    encoder_of,
    measured,
    series_figures,
)
from chainrule.runs.bands import band_margins
from chainrule.runs.recipe import SPLITS, BaseRecipe, DataSummary, Metrics, Predictions
from chainrule.training import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NO_CLASSES = dict.fromkeys(
    ("teacher", "class_weights", "label_smoothing"), "a forecast has no classes"
)
CELLS = {"rnn": "elman", "gru": "gru", "lru": "lru"}


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseRecipe):
    """A window of each series → a network → quantiles of the next steps."""

    reference: ClassVar[str] = "J 5, L 'When to Use Deep Learning'"
    data_fields: ClassVar[tuple[str, ...]] = (
        *("table", "time", "target", "group"),
        *("horizon", "context", "season", "step", "covariates", "date_order", "decimal"),
    )
    unsupported: ClassVar[Mapping[str, str]] = NO_CLASSES | {
        "members": "its networks have no batched form",
        "tune": "the folds of cross-validation would mix the past with the future",
    }

    table: str
    """CSV file with a header."""
    time: str
    """The column of dates, or of whole numbers."""
    target: str
    """The column to forecast."""
    group: str = ""
    """The column that tells several series apart."""
    horizon: int = 7
    """Number of steps to forecast."""
    context: int = 0
    """Steps that are read; 0 takes two seasons or two horizons."""
    season: int = 0
    """Steps of a period; 0 takes the usual one, such as a week of days."""
    step: str = ""
    """Distance of two steps, such as day, weekday, 15 minutes or month; by default inferred."""
    covariates: tuple[str, ...] = ()
    """Further columns of numbers, whose past is read beside that of the target."""
    date_order: Literal["auto", "day-first", "month-first"] = "auto"
    """How dates such as 1/3/2024 are read, where nothing else tells."""
    decimal: Literal["auto", ".", ","] = "auto"
    """Decimal mark of the numbers; auto decides for each column by what it holds."""
    model_name: Literal["rnn", "gru", "lru", "transformer"] = "gru"
    """The network."""
    hidden_size: int = 32
    """Hidden units of a layer."""
    num_layers: int = 1
    """Number of layers."""
    num_heads: int = 4
    """Attention heads of the transformer."""
    dropout: float = 0.1
    """Dropout rate between layers."""
    settings: Settings = Settings(
        epochs=40,
        batch_size=64,
        learning_rate=3e-3,
        schedule="one-cycle",
        clip_norm=1.0,
        patience=10,
    )

    def __post_init__(self) -> None:
        # The run must be able to find its table from any folder.
        object.__setattr__(self, "table", str(Path(self.table).resolve()))
        for name in ("horizon", "hidden_size", "num_layers", "num_heads"):
            if getattr(self, name) < 1:
                raise InputError(f"`{name}` must be at least 1, got {getattr(self, name)}")
        if self.model_name == "transformer" and self.hidden_size % self.num_heads:
            raise InputError(
                f"`hidden_size` must be a multiple of the {self.num_heads} `num_heads`, got "
                f"{self.hidden_size}"
            )

    def data(self, folder: Path | None) -> SeriesSplits:
        columns = self.table, self.time, self.target, self.horizon, self.group
        options = SeriesOptions(
            *(self.season, self.step, self.covariates, self.date_order),
            decimal="" if self.decimal == "auto" else self.decimal,
        )
        return series(*columns, self.context, options)

    def summarize(self, data: SeriesSplits) -> DataSummary:
        examples = {name: len(getattr(data, name).x) for name in SPLITS}
        shape = tuple(data.train.x.shape[1:])
        return DataSummary(shape, examples=examples, remarks=data.remarks, encoder=encoder_of(data))

    def model(self, summary: DataSummary) -> nn.Module:
        context, features = summary.shape
        width, layers = self.hidden_size, self.num_layers
        network: nn.Module
        if self.model_name == "transformer":
            network = CausalEncoder(features, width, context, layers, self.num_heads, self.dropout)
        else:
            cell = CELLS[self.model_name]
            network = recurrent_network(cell, features, width, layers, self.dropout)
        return Forecaster(network, self.hidden_size, self.horizon, len(QUANTILES))

    def task(self, data: SeriesSplits) -> Task:
        return FORECASTING

    def outputs(self, model: nn.Module, data: SeriesSplits, split: str) -> Tensor:
        of = super().outputs
        return banded(lambda name: of(model, data, name), data, split)

    def decision(self, predictions: Predictions) -> dict[str, Any]:
        data = predictions.data
        output = super().outputs(predictions.model, data, "validation")
        return {"band": band_margins(output, data.validation.y).tolist()}

    def evaluate(self, predictions: Predictions) -> Metrics:
        return {
            name: measured(predictions.outputs(name), predictions.data, name) for name in SPLITS
        }

    def baselines(self, data: SeriesSplits) -> dict[str, Metrics]:
        return baseline_metrics(data)

    def breakdown(self, predictions: Predictions) -> dict[str, Metrics]:
        return by_series(predictions)

    def figures(self, predictions: Predictions) -> "dict[str, Figure]":
        return series_figures(predictions)
