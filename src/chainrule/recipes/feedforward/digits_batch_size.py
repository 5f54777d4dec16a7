"""Batch size and the curvature of the minimum: small batches end where the loss is flatter.

The same network is trained on the small digits with the same rate and equally many *updates* for
every batch size; then the largest eigenvalue of the Hessian of the training loss is found by power
iteration. Gradient noise of small batches leaves sharp minima (claim `wide-minima` derives when).
Recorded: 0.30, 0.41, 0.43 and 0.44 for batches of 8, 32, 128 and 512 at nearly equal losses; the
test errors do not differ. One seed.
Keskar et al. (2017), ICLR. Notes: A 1.3.8 (wide minima).
"""

from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import nn

from chainrule.autodiff.curvature import flattened, largest_curvature
from chainrule.data.datasets import digits
from chainrule.data.splits import Splits
from chainrule.errors import InputError
from chainrule.learning.losses import cross_entropy
from chainrule.learning.tasks import CLASSIFICATION
from chainrule.models.feedforward.mlp import MLP
from chainrule.recipes.families.in_turn import Turn, in_turn
from chainrule.runs.recipe import EVERYTHING, BaseRecipe, DataSummary, Metrics, Predictions
from chainrule.training import Progress, Settings, evaluate, iterate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TOLERANCE = 0.02  # of the power iteration


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseRecipe):
    """64 pixels → 32 hidden units → 10 digits, once for every batch size."""

    reference: ClassVar[str] = "A 1.3.8"
    unsupported: ClassVar[Mapping[str, str]] = dict.fromkeys(
        (*EVERYTHING, "predict", "batch_size", "patience"),
        "it trains one network for every batch size, with equally many updates",
    )

    batch_sizes: tuple[int, ...] = (8, 32, 128, 512)
    """Batch sizes to compare."""
    hidden: int = 32
    """Hidden units."""
    settings: Settings = Settings(epochs=40, optimizer="sgd", learning_rate=0.2)

    def __post_init__(self) -> None:
        if not self.batch_sizes or min(self.batch_sizes) < 1:
            raise InputError(f"`batch_sizes` must be from 1 on, got {self.batch_sizes}")

    def data(self, folder: Path | None) -> Splits:
        return digits.load(folder, self.seed)

    def model(self, summary: DataSummary) -> nn.ModuleDict:
        """One network for each batch size, all with the same initial weights."""
        built = nn.ModuleDict()
        for size in self.batch_sizes:
            torch.manual_seed(self.seed)
            built[str(size)] = MLP(summary.inputs, [self.hidden], summary.outputs, "tanh")
        return built

    def settings_for(self, size: int, examples: int) -> Settings:
        """As many epochs as give the updates of the smallest batches, or a few more."""
        most, steps = (-(-examples // each) for each in (min(self.batch_sizes), size))
        epochs = -(-self.settings.epochs * most // steps)
        return replace(self.settings, batch_size=size, epochs=epochs)

    def fit(
        self, model: nn.ModuleDict, data: Splits, folder: Path | None, device: str
    ) -> Generator[Progress]:
        def turn(size: int) -> Turn:
            settings = self.settings_for(size, len(data.train.x))
            start = partial(
                iterate,
                model[str(size)],
                data,
                task=CLASSIFICATION,
                settings=settings,
                folder=folder and folder / str(size),
                device=device,
            )
            return Turn(start, settings.epochs, {})

        return in_turn([turn(size) for size in self.batch_sizes])

    def evaluate(self, predictions: Predictions) -> Metrics:
        """The mean over all networks; `breakdown` has each of them."""
        found = [each["test"]["error"] for each in self.breakdown(predictions).values()]
        return {"test": {"error": fmean(found)}}

    def breakdown(self, predictions: Predictions) -> dict[str, Metrics]:
        return predictions.once("breakdown", lambda: self.compared(predictions))

    def compared(self, predictions: Predictions) -> dict[str, Metrics]:
        """Losses, errors and curvature at the end, by batch size."""
        model, data = predictions.model, predictions.data
        assert isinstance(model, nn.ModuleDict)
        x, y = data.train
        found = {}
        for size in self.batch_sizes:
            network = model[str(size)]
            h, theta = flattened(network, lambda f: cross_entropy(f(x), y).mean())
            curvature = largest_curvature(h, theta, TOLERANCE, seed=self.seed).largest
            measured = {
                split: evaluate(network, tuple(getattr(data, split)), CLASSIFICATION)
                for split in ("train", "test")
            }
            measured["train"]["largest curvature"] = curvature
            found[f"batches of {size}"] = measured
        return found

    def figures(self, predictions: Predictions) -> "dict[str, Figure]":
        from chainrule.plots.memory import metric_by_length

        found = self.breakdown(predictions)
        values = [each["train"]["largest curvature"] for each in found.values()]
        drawn = metric_by_length(
            self.batch_sizes,
            {"largest curvature": values},
            "largest curvature",
            None,
            lambda name, value: f"{value:.3g}",
            "batch size",
        )
        return {"curvature": drawn}
