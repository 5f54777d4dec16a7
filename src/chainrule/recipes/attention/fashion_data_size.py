"""Fashion-MNIST by a vision transformer and a convolutional network, from few and from many images.

A convolution knows that neighboring pixels belong together; a transformer has to learn it. Both
learn from the same 300 to 10,000 images, without augmentation, and read equally many images in all:
a small set is read more often. The transformer needs about ten times as many images for the same
error, and up to 10,000 of them the gap does not close.
Dosovitskiy et al. (2021), figure 4. Notes: J 6.6 (less inductive bias), L
"Transformers: Properties".
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import nn

from chainrule.data.datasets import fashion_mnist
from chainrule.data.splits import Split, Splits
from chainrule.errors import InputError
from chainrule.learning.metrics import format_metric
from chainrule.learning.tasks import CLASSIFICATION
from chainrule.models.attention.vit import ViT
from chainrule.models.convolution.cnn import CNN
from chainrule.recipes.families.in_turn import Turn, in_turn
from chainrule.runs.recipe import EVERYTHING, BaseRecipe, DataSummary, Metrics, Predictions
from chainrule.training import Progress, Record, Settings, evaluate, iterate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HELD = 1_000  # validation images that are looked at after each epoch


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseRecipe):
    """4 blocks of attention, 64 wide, on 49 patches; 2 × 16, 2 × 32 and 2 × 64 kernels of 3 × 3."""

    reference: ClassVar[str] = "J 6.6"
    unsupported: ClassVar[Mapping[str, str]] = dict.fromkeys(
        (*EVERYTHING, "predict"), "it trains one network for every kind and number of images"
    )

    networks: tuple[str, ...] = ("vit", "cnn")
    """Networks to compare: vit, cnn."""
    sizes: tuple[int, ...] = (300, 1_000, 3_000, 10_000)
    """Numbers of training images."""
    reads: int = 10_000
    """Images read in an epoch, whatever the number of different ones."""
    settings: Settings = Settings(
        epochs=5,
        batch_size=64,
        optimizer="adamw",
        schedule="one-cycle",
        learning_rate=2e-3,
        weight_decay=0.05,
        clip_norm=1.0,
    )

    def __post_init__(self) -> None:
        if not self.sizes or min(self.sizes) < 1 or self.reads < 1:
            raise InputError("`sizes` and `reads` must be numbers of images from 1 on")
        if not self.networks or set(self.networks) - {"vit", "cnn"}:
            raise InputError(f"`networks` must be some of vit, cnn, got {self.networks}")

    def data(self, folder: Path | None) -> Splits:
        return fashion_mnist.load(folder, self.seed)

    def model(self, summary: DataSummary) -> nn.ModuleDict:
        """All networks; those of one kind have the same initial weights for every size."""
        built = nn.ModuleDict()
        for kind, size in self.grid():
            torch.manual_seed(self.seed)
            built[f"{kind}-{size}"] = network(kind, summary)
        return built

    def grid(self) -> list[tuple[str, int]]:
        return [(kind, size) for size in self.sizes for kind in self.networks]

    def few(self, data: Splits, size: int) -> Splits:
        """The first `size` training images, repeated until they make an epoch."""
        rows = torch.arange(self.reads) % min(size, len(data.train.x))
        held = Split(*(t[:HELD] for t in data.validation))
        return replace(data, train=Split(*(t[rows] for t in data.train)), validation=held)

    def fit(
        self, model: nn.ModuleDict, data: Splits, folder: Path | None, device: str
    ) -> Generator[Progress]:
        def turn(kind: str, size: int) -> Turn:
            def start() -> Generator[Progress]:
                return iterate(
                    model[f"{kind}-{size}"],
                    self.few(data, size),
                    task=CLASSIFICATION,
                    settings=self.settings,
                    folder=folder and folder / f"{kind}-{size}",
                    device=device,
                )

            return Turn(start, self.settings.epochs, {"size": size})

        return in_turn([turn(*each) for each in self.grid()])

    def evaluate(self, predictions: Predictions) -> Metrics:
        """The mean over all networks; `breakdown` has each of them."""
        return {"test": {"error": fmean(self.tested(predictions).values())}}

    def tested(self, predictions: Predictions) -> dict[tuple[str, int], float]:
        """The test error of every network."""
        model, test = predictions.model, tuple(predictions.data.test)
        assert isinstance(model, nn.ModuleDict)

        def measure() -> dict[tuple[str, int], float]:
            return {
                (kind, size): evaluate(model[f"{kind}-{size}"], test, CLASSIFICATION)["error"]
                for kind, size in self.grid()
            }

        return predictions.once("tested", measure)

    def breakdown(self, predictions: Predictions) -> dict[str, Metrics]:
        found = self.tested(predictions)
        return {
            kind: {"test": {f"{size} images: error": found[kind, size] for size in self.sizes}}
            for kind in self.networks
        }

    def figures(self, predictions: Predictions) -> "dict[str, Figure]":
        from chainrule.plots.memory import metric_by_length

        found = self.tested(predictions)
        lines = {kind: [found[kind, size] for size in self.sizes] for kind in self.networks}
        drawn = metric_by_length(self.sizes, lines, "error", None, format_metric, "training images")
        return {"by-size": drawn}

    def curves(self, history: Sequence[Record]) -> "Figure":
        from chainrule.plots.memory import learning_curves_by_length

        panels: dict[int, dict[str, list[float]]] = {}
        for record in history:
            kind, size = self.grid()[int(record["network"])]
            course = panels.setdefault(size, {}).setdefault(kind, [])
            course.append(float(record["validation_error"]))
        return learning_curves_by_length(panels, "error", None, format_metric, "images:")


def network(kind: str, summary: DataSummary) -> nn.Module:
    """A new network of this kind."""
    channels, height, width = summary.shape
    if kind == "vit":
        return ViT((height, width), 4, channels, summary.outputs, 64, 4, 4)
    stages = [(filters, filters) for filters in (16, 32, 64)]
    return CNN((channels, height, width), stages, summary.outputs, norm="batch")
