"""Shared by the recipes on sets of digits: the network behind the table of images."""

from collections.abc import Generator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from torch import nn

from chainrule.data.datasets import digit_sets
from chainrule.data.datasets.digit_sets import LARGEST, DigitSets
from chainrule.data.splits import Splits
from chainrule.errors import InputError
from chainrule.learning.metrics import mae, r2, rmse
from chainrule.learning.tasks import NUMBERS, Objective
from chainrule.models.convolution.cnn import CNN
from chainrule.nn.indexed_images import Gallery
from chainrule.runs.recipe import Figures, Trained
from chainrule.runs.transfer import freeze, inherit
from chainrule.training import Progress, outputs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZES = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50)
MEASURED = 500  # sets of each size


@dataclass(frozen=True, kw_only=True)
class OfDigits(Trained):
    """A network of sets of digit images that is trained on places in MNIST's table."""

    target: ClassVar[str] = "sum"

    filters: tuple[int, ...] = (8, 16)
    """Kernels of the convolution of each stage that sees a digit."""
    features: int = 32
    """Kinds between which a digit is shared out before the set is pooled."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.members > 1 or self.teacher:
            raise InputError(
                "--members and --teacher are for one label per image; sets of digits have a "
                "number per set, leave them out"
            )

    def data(self, folder: Path | None) -> Splits:
        return digit_sets.load(folder, self.seed, target=self.target)

    def digit_network(self) -> nn.Module:
        """φ: one image to shares of kinds that the network makes up, as no digit is ever named.

        Shares make a digit one thing or another, where bare numbers would settle in between.
        """
        shares = CNN((1, 28, 28), self.filters, self.features, hidden=(128,), norm="batch")
        return nn.Sequential(shares, nn.Softmax(1))

    def objective(self, data: Splits) -> Objective:
        """The squared loss; the mean absolute error is what is asked for."""
        return replace(NUMBERS, metrics={"mae": mae, "rmse": rmse, "r2": r2})

    def learn(
        self, model: nn.Module, data: Splits, folder: Path | None, device: str
    ) -> Generator[Progress]:
        if self.start:
            inherit(model, Path(self.start))
        if self.freeze:
            freeze(model, self.freeze)
        plain = replace(self, start="", freeze="")
        return Trained.learn(plain, hung(model, data), data, folder, device)

    def measure(self, model: nn.Module, data: Splits) -> Figures:
        return super().measure(hung(model, data), data)

    def pictures(self, model: nn.Module, data: Splits) -> "dict[str, Figure]":
        from chainrule.plots.robustness import error_by_size

        assert isinstance(data, DigitSets)
        behind, errors = hung(model, data), []
        for size in SIZES:
            x, y = digit_sets.with_test_size(data, size, MEASURED, self.target).test
            errors.append((outputs(behind, (x,)).flatten() - y).abs().mean().item())
        drawn = error_by_size(SIZES, errors, LARGEST, f"{self.target} of the digits in a set")
        return super().pictures(behind, data) | {"sizes": drawn}


def hung(model: nn.Module, data: Splits) -> Gallery:
    """The model behind the images of its data."""
    assert isinstance(data, DigitSets)
    return Gallery(model, data.images)
