"""Tomorrow's trading volume by a recurrent network that reads the last five days.

A GRU over (return, volume, volatility) of each day, and a linear output at the end. It is worth
little more than AR(5), `nyse-ar`: the series is mostly noise. Yesterday's volume is the straw man.
ISL 10.9.6. Notes: L "When to Use Deep Learning" (NYSE).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from torch import nn

from chainrule.data.datasets import nyse
from chainrule.data.splits import Splits
from chainrule.models.recurrent.layers import recurrent_layer
from chainrule.models.recurrent.sequence_classifier import SequenceClassifier
from chainrule.recipes.families.forecasting import course, straw_man
from chainrule.runs.recipe import Figures, Published, Task, Trained

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class Recipe(Trained):
    """Five days of three numbers → a GRU → the volume of the next day."""

    notes: ClassVar[str] = "L 'When to Use Deep Learning' (ISL 10.9.6)"
    published: ClassVar[tuple[Published, ...]] = (Published("test r2", 0.42, "ISL 10.9.6, RNN"),)

    cell: str = "gru"
    """The recurrent layer: gru, lstm, elman, mingru, lru, …"""
    width: int = 64
    """Its units."""
    epochs: int = 30
    batch_size: int = 64
    learning_rate: float = 3e-3
    schedule: str = "one-cycle"
    weight_decay: float = 1e-3

    def data(self, folder: Path | None) -> Splits:
        return nyse.load(folder, self.seed)

    def model(self, task: Task) -> nn.Module:
        return SequenceClassifier(recurrent_layer(self.cell, task.shape[1], self.width), 1)

    def compare(self, data: Splits) -> dict[str, Figures]:
        return {"yesterday's volume": straw_man(data)}

    def pictures(self, model: nn.Module, data: Splits) -> "dict[str, Figure]":
        return course(model, data)
