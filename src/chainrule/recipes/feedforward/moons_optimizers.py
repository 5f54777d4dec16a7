"""One network, several optimizers, one picture: their paths over the loss (A, figure 1.8).

All of them start from the same weights and see the same batches. The picture shows the training
loss on the plane in which the paths lie as far as a plane can hold them: their two principal
directions around the end of the last one. Notes: A 1.3.10 (figure 1.8), J 3.3.
"""

from collections.abc import Generator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector

from chainrule.autodiff.curvature import flattened
from chainrule.autodiff.landscape import plane, principal_directions
from chainrule.data.datasets import moons
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

GRID = 41  # points along each side of the plane
MARGIN = 0.25  # around the paths, as a share of their extent


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseRecipe):
    """Two coordinates → 16 hidden units → two moons, trained once by each optimizer."""

    reference: ClassVar[str] = "A 1.3.10, J 3.3"
    unsupported: ClassVar[Mapping[str, str]] = dict.fromkeys(
        (*EVERYTHING, "predict", "optimizer", "learning_rate"),
        "it trains one network with every optimizer, each at a rate of its own",
    )

    optimizers: tuple[str, ...] = ("sgd", "momentum", "rmsprop", "adam")
    """Optimizers to compare."""
    rates: tuple[float, ...] = (0.1, 0.05, 0.005, 0.01)
    """Learning rate of each of them."""
    hidden: int = 16
    """Hidden units."""
    settings: Settings = Settings(epochs=40, batch_size=32)

    def __post_init__(self) -> None:
        if not self.optimizers or len(self.optimizers) != len(self.rates):
            raise InputError(
                f"expected one of `rates` for each of `optimizers`, got {len(self.rates)} for "
                f"{len(self.optimizers)}"
            )

    def data(self, folder: Path | None) -> Splits:
        return moons.load(folder, self.seed)

    def model(self, summary: DataSummary) -> nn.ModuleDict:
        """One network for each optimizer, all with the same initial weights, and their paths."""
        built = nn.ModuleDict()
        for name in self.optimizers:
            torch.manual_seed(self.seed)
            built[name] = MLP(summary.inputs, [self.hidden], summary.outputs, "tanh")
        weights = parameters_to_vector(built[self.optimizers[0]].parameters()).numel()
        paths = torch.zeros(len(self.optimizers), self.settings.epochs + 1, weights)
        built.register_buffer("paths", paths)
        return built

    def fit(
        self, model: nn.ModuleDict, data: Splits, folder: Path | None, device: str
    ) -> Generator[Progress]:
        def traced(place: int, name: str, rate: float) -> Generator[Progress]:
            path = model.get_buffer("paths")[place]
            path[0] = weights_of(model[name])
            settings = replace(self.settings, optimizer=name, learning_rate=rate)
            # Without checkpoints, which would not hold the path: a killed run starts again.
            with closing(
                iterate(model[name], data, task=CLASSIFICATION, settings=settings, device=device)
            ) as steps:
                for now in steps:
                    if now.record:
                        path[now.epoch] = weights_of(model[name])
                    yield now

        plans = enumerate(zip(self.optimizers, self.rates, strict=True))
        return in_turn(
            [Turn(partial(traced, place, *plan), self.settings.epochs, {}) for place, plan in plans]
        )

    def evaluate(self, predictions: Predictions) -> Metrics:
        """The mean over all networks; `breakdown` has each of them."""
        found = [each["test"]["error"] for each in self.breakdown(predictions).values()]
        return {"test": {"error": fmean(found)}}

    def breakdown(self, predictions: Predictions) -> dict[str, Metrics]:
        model, data = predictions.model, predictions.data
        assert isinstance(model, nn.ModuleDict)
        return {
            name: {
                split: evaluate(model[name], tuple(getattr(data, split)), CLASSIFICATION)
                for split in ("train", "test")
            }
            for name in self.optimizers
        }

    def figures(self, predictions: Predictions) -> "dict[str, Figure]":
        from chainrule.plots.landscape import loss_landscape

        model, (x, y) = predictions.model, predictions.data.train
        assert isinstance(model, nn.ModuleDict)
        paths = model.get_buffer("paths")
        h, _ = flattened(model[self.optimizers[-1]], lambda f: cross_entropy(f(x), y).mean())
        center = paths[-1, -1]
        directions = principal_directions(torch.cat([*paths]))
        on_plane = (paths - center) @ directions.T
        a, b = (around(on_plane[..., k]) for k in (0, 1))
        loss = plane(h, center, directions, a, b)
        drawn = {name: path.numpy() for name, path in zip(self.optimizers, on_plane, strict=True)}
        title = "Training loss, and ways down from one start"
        return {"landscape": loss_landscape(a.numpy(), b.numpy(), loss.numpy(), drawn, title)}


def weights_of(model: nn.Module) -> Tensor:
    """All parameters in one vector."""
    return parameters_to_vector(model.parameters()).detach().cpu()


def around(values: Tensor) -> Tensor:
    """Equally spaced points that reach a little beyond these values."""
    low, high = values.min().item(), values.max().item()
    margin = MARGIN * max(high - low, 1e-6)
    return torch.linspace(low - margin, high + margin, GRID)
