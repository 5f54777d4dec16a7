"""Shared by the recipes on sets of digits, whose examples are indices into a table of images."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from torch import nn

from chainrule.data.datasets import digit_sets
from chainrule.data.datasets.digit_sets import LARGEST, DigitSets
from chainrule.data.splits import Splits
from chainrule.learning.metrics import MAE, R2, RMSE
from chainrule.learning.tasks import REGRESSION, Task
from chainrule.models.convolution.cnn import CNN
from chainrule.nn.indexed_images import IndexedImages
from chainrule.runs.recipe import BaseRecipe, Predictions
from chainrule.training import Settings, outputs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZES = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50)
MEASURED = 500  # sets of each size


@dataclass(frozen=True, kw_only=True)
class DigitSetRecipe(BaseRecipe):
    """A network on sets of MNIST images, given by their indices."""

    unsupported: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("members", "teacher", "class_weights", "label_smoothing"), "a set has a number, no label"
    ) | {"predict": "its inputs are indices into MNIST"}
    target: ClassVar[str] = "sum"

    filters: tuple[int, ...] = (8, 16)
    """Number of filters of each convolutional stage."""
    features: int = 32
    """Size of a digit's feature vector, which is pooled over the set."""
    settings: Settings = Settings(
        batch_size=64,
        optimizer="adamw",
        schedule="one-cycle",
        learning_rate=2e-3,
        weight_decay=0.01,
    )

    def data(self, folder: Path | None) -> Splits:
        return digit_sets.load(folder, self.seed, target=self.target)

    def digit_network(self) -> nn.Module:
        """φ: an image to probabilities of learned categories, as no digit is ever labeled.

        The softmax keeps the categories apart, where real-valued features would blend them.
        """
        shares = CNN((1, 28, 28), self.filters, self.features, hidden=(128,), norm="batch")
        return nn.Sequential(shares, nn.Softmax(1))

    def task(self, data: Splits) -> Task:
        """Squared loss; the main metric is the mean absolute error."""
        return replace(REGRESSION, metrics=(MAE, RMSE, R2))

    def network(self, model: nn.Module, data: Splits) -> nn.Module:
        return with_images(model, data)

    def figures(self, predictions: Predictions) -> "dict[str, Figure]":
        from chainrule.plots.robustness import error_by_size

        data = predictions.data
        assert isinstance(data, DigitSets)
        network, errors = with_images(predictions.model, data), []
        for size in SIZES:
            x, y = digit_sets.with_test_size(data, size, MEASURED, self.target).test
            errors.append((outputs(network, (x,)).flatten() - y).abs().mean().item())
        drawn = error_by_size(SIZES, errors, LARGEST, f"{self.target} of the digits in a set")
        return super().figures(predictions) | {"sizes": drawn}


def with_images(model: nn.Module, data: Splits) -> IndexedImages:
    """The model behind the images of its data."""
    assert isinstance(data, DigitSets)
    return IndexedImages(model, data.images)
