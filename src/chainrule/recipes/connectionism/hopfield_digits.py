"""A Hopfield network stores handwritten digits and restores them from noisy copies.

Each stored digit is presented with some of its pixels flipped; recall lowers the energy until no
unit changes. The denser memories of the chapter recall the same cues. Notes: J 1.4.
"""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import Tensor

from chainrule.data.datasets.digits import prototypes
from chainrule.data.splits import Split, Splits
from chainrule.errors import InputError
from chainrule.models.connectionism.dense_hopfield import DenseHopfield
from chainrule.models.connectionism.exponential_hopfield import ExponentialHopfield
from chainrule.models.connectionism.hopfield import Hopfield
from chainrule.runs.recipe import (
    SPLITS,
    BaseRecipe,
    DataSummary,
    Metrics,
    Predictions,
    one_step,
    only_gradients,
)
from chainrule.training import Progress

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseRecipe):
    """64 units of ±1, one per pixel."""

    reference: ClassVar[str] = "J 1.4"

    unsupported: ClassVar[Mapping[str, str]] = only_gradients("stores patterns by Hebb's rule") | {
        "predict": "it restores the patterns that it has stored"
    }

    seed: int = 0
    """Determines the flipped pixels."""
    digits: tuple[int, ...] = (3, 4, 6)
    """Digits to store; only a few, as they are too similar for Hebb's rule."""
    flipped: float = 0.1
    """Share of pixels flipped in each cue."""
    cues: int = 50
    """Noisy copies of each stored digit."""

    def data(self, folder: Path | None) -> Splits:
        return cued(prototypes(self.digits), self.digits, self.flipped, self.cues, self.seed)

    def model(self, summary: DataSummary) -> Hopfield:
        return Hopfield(summary.inputs)

    def fit(
        self, model: Hopfield, data: Splits, folder: Path | None, device: str
    ) -> Generator[Progress]:
        model.store(data.train.x)
        yield one_step(recalled(model.recall, data, data.train), "stored by Hebb's rule")

    def evaluate(self, predictions: Predictions) -> Metrics:
        model, data = predictions.model, predictions.data
        assert isinstance(model, Hopfield)
        return {name: recalled(model.recall, data, getattr(data, name)) for name in SPLITS}

    def baselines(self, data: Splits) -> dict[str, Metrics]:
        cubic = DenseHopfield(data.train.x, degree=3)
        exponential = ExponentialHopfield(data.train.x)
        return {
            "dense memory, degree 3": {"test": recalled(cubic.recall, data, data.test)},
            "exponential memory": {"test": recalled(exponential.recall, data, data.test)},
        }

    def figures(self, predictions: Predictions) -> "dict[str, Figure]":
        from chainrule.plots.images import recalled_patterns

        model, data = predictions.model, predictions.data
        assert isinstance(model, Hopfield)
        rows = torch.arange(0, len(data.test.x), self.cues)
        cues = data.test.x[rows]
        stored = data.train.x[data.test.y[rows]]
        found = model.recall(cues)
        drawn = recalled_patterns(stored.numpy(), cues.numpy(), found.numpy(), shape=(8, 8))
        return {"recall": drawn}


def cued(patterns: Tensor, names: tuple[int, ...], flipped: float, cues: int, seed: int) -> Splits:
    """The patterns to store, and spoilt copies of them whose label is the pattern's number."""
    if not 0 <= flipped <= 1 or cues < 1:
        raise InputError(f"expected a share from 0 to 1 and some cues, got {flipped} and {cues}")
    generator = torch.Generator().manual_seed(seed)
    y = torch.arange(len(patterns)).repeat_interleave(cues)

    def spoilt() -> Split:
        flips = torch.rand(len(y), patterns.shape[1], generator=generator) < flipped
        return Split(torch.where(flips, -patterns[y], patterns[y]), y)

    stored = Split(patterns, torch.arange(len(patterns)))
    test = spoilt()
    return Splits(stored, spoilt(), test, tuple(map(str, names)))


def recalled(recall: Callable[[Tensor], Tensor], data: Splits, split: Split) -> dict[str, float]:
    """Share of states restored without one wrong pixel, and the mean overlap 1/n Σ x_i y_i."""
    target = data.train.x[split.y]
    found = recall(split.x)
    return {
        "accuracy": (found == target).all(1).double().mean().item(),
        "overlap": (found * target).mean().item(),
    }
