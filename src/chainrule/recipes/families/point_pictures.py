"""Figures of networks on point clouds."""

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from chainrule.data.splits import Splits
from chainrule.plots.points import (
    MAX_CLOUDS,
    MAX_COLUMNS,
    cloud_predictions,
    critical_points,
    segmented_clouds,
)
from chainrule.plots.robustness import accuracy_by_missing
from chainrule.runs.predictions import Predictions
from chainrule.training import outputs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MISSING = (0.0, 0.25, 0.5, 0.75, 0.875, 0.95, 0.98)
TESTED = 1_000  # clouds whose points are taken away
SEED = 0


def classification_figures(predictions: Predictions) -> "dict[str, Figure]":
    """Test clouds with their answers, the points that decide, and what missing points cost."""
    model, data = predictions.model, predictions.data
    x, y = data.test
    found = predictions.outputs("test").argmax(1)
    firsts = one_of_each(y)
    wrong = (found != y).nonzero()[:, 0]
    shown = torch.cat([firsts, wrong[~torch.isin(wrong, firsts)]])[:MAX_CLOUDS]
    few = firsts[:MAX_COLUMNS]
    names = [data.classes[int(k)] for k in y[few]]
    title = f"test: {len(wrong)} of {len(y)} wrong; in red, → what was answered"
    clouds, truth, answers = (t[shown].numpy() for t in (x, y, found))
    drawn = {
        "clouds": cloud_predictions(clouds, truth, answers, data.classes, title),
        "robustness": robustness(model, data),
    }
    if hasattr(model, "critical_points"):
        decide = critical(model, x[few]).numpy()
        drawn["critical"] = critical_points(x[few].numpy(), decide, names)
    return drawn


def segmentation_figures(predictions: Predictions) -> "dict[str, Figure]":
    """Test clouds with the true and the predicted part of every point."""
    data = predictions.data
    x, y = (t[:MAX_COLUMNS] for t in data.test)
    found = predictions.outputs("test")[:MAX_COLUMNS].argmax(1)
    drawn = segmented_clouds(x.numpy(), y.numpy(), found.numpy(), data.classes)
    return {"segmentation": drawn}


def robustness(model: nn.Module, data: Splits) -> "Figure":
    """Accuracy when points are missing at random, and when the farthest from a side are cut off."""
    generator = torch.Generator().manual_seed(SEED)
    rows = torch.randperm(len(data.test.y), generator=generator)[:TESTED]
    x, y = data.test.x[rows], data.test.y[rows]
    by_chance = torch.rand(x.shape[:2], generator=generator).argsort(1)
    from_a_side = side(x, generator).argsort(1)
    ways = {"at random": by_chance, "all from one side": from_a_side}
    accuracies = {
        name: [accuracy(model, kept(x, order, share), y) for share in MISSING]
        for name, order in ways.items()
    }
    return accuracy_by_missing(MISSING, accuracies, y.bincount().max().item() / len(y))


def side(x: Tensor, generator: torch.Generator) -> Tensor:
    """Coordinate of every point along a random direction of its cloud."""
    dimensions = min(3, x.shape[2])
    direction = torch.randn(len(x), dimensions, 1, generator=generator)
    return (x[..., :dimensions] @ direction)[..., 0]


def kept(x: Tensor, order: Tensor, missing: float) -> Tensor:
    """The first points of each cloud in this order, without the share that is missing."""
    number = max(1, round((1 - missing) * x.shape[1]))
    return x.gather(1, order[:, :number, None].expand(-1, -1, x.shape[2]))


def accuracy(model: nn.Module, x: Tensor, y: Tensor) -> float:
    return (outputs(model, (x,)).argmax(1) == y).double().mean().item()


def one_of_each(y: Tensor) -> Tensor:
    """The row of the first example of every class."""
    return torch.stack([(y == k).nonzero()[0, 0] for k in y.unique()])


def critical(model: nn.Module, x: Tensor) -> Tensor:
    """(clouds, points): whether a point is critical, in evaluation mode."""
    was_training = model.training
    model.eval()
    try:
        return model.critical_points(x)  # type: ignore[operator]
    finally:
        model.train(was_training)
