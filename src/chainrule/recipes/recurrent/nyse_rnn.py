"""Tomorrow's trading volume by a recurrent network that reads the last five days.

A GRU over (return, volume, volatility) of each day, and a linear output at the end. It is hardly
better than AR(5), `nyse-ar`: the series is mostly noise. The baseline is yesterday's volume.
ISL 10.9.6. Notes: L "When to Use Deep Learning" (NYSE).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from torch import nn

from chainrule.data.datasets import nyse
from chainrule.data.splits import Splits
from chainrule.models.recurrent.layers import recurrent_layer
from chainrule.models.recurrent.sequence_classifier import SequenceClassifier
from chainrule.recipes.families.forecasting import forecast_figures, persistence
from chainrule.runs.recipe import BaseRecipe, DataSummary, Metrics, Predictions, Published
from chainrule.training import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseRecipe):
    """Five days of three numbers → a GRU → the volume of the next day."""

    reference: ClassVar[str] = "L 'When to Use Deep Learning' (ISL 10.9.6)"
    published: ClassVar[tuple[Published, ...]] = (Published("test r2", 0.42, "ISL 10.9.6, RNN"),)

    unsupported: ClassVar[Mapping[str, str]] = {
        "teacher": "a forecast has no classes",
        "members": "its recurrent layer has no batched form",
    }

    cell: str = "gru"
    """The recurrent layer: gru, lstm, elman, mingru, lru, …"""
    hidden_size: int = 64
    """Hidden units of the layer."""
    settings: Settings = Settings(
        epochs=30, batch_size=64, learning_rate=3e-3, schedule="one-cycle", weight_decay=1e-3
    )

    def data(self, folder: Path | None) -> Splits:
        return nyse.load(folder, self.seed)

    def model(self, summary: DataSummary) -> nn.Module:
        return SequenceClassifier(recurrent_layer(self.cell, summary.shape[1], self.hidden_size), 1)

    def baselines(self, data: Splits) -> dict[str, Metrics]:
        return {"yesterday's volume": persistence(data)}

    def figures(self, predictions: Predictions) -> "dict[str, Figure]":
        return forecast_figures(predictions)
