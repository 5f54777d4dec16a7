"""Pictures of a trained classifier or regressor, chosen by the shape of its data."""

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn

from chainrule.data.splits import Splits
from chainrule.report.images import worst_mistakes
from chainrule.report.predictions import confusion_matrix, predicted_against_true, roc_curves
from chainrule.report.surfaces import decision_boundary, decision_surface
from chainrule.training import outputs

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def pictures(model: nn.Module, data: Splits) -> "dict[str, Figure]":
    """On the test split: what went wrong, and where."""
    x, y = data.test
    output = outputs(model, (x,)).float()
    if not data.classes:
        return {"predictions": predicted_against_true(y.numpy(), output.flatten().numpy(), "test")}
    probability = output.softmax(1)
    predicted = probability.argmax(1)
    wrong = f"test: {int((predicted != y).sum())} of {len(y)} wrong"
    found = counts(y, predicted, len(data.classes))
    drawn = {"confusion": confusion_matrix(found, data.classes, wrong)}
    if x.ndim == 4:
        confidence = probability.max(1).values
        drawn["mistakes"] = worst_mistakes(
            images(x), y.numpy(), predicted.numpy(), confidence.numpy(), data.classes
        )
    if len(data.classes) == 2 and len(y.unique()) == 2:
        curves = {"test": (y.numpy(), probability[:, 1].numpy())}
        drawn["roc"] = roc_curves(curves, positive=data.classes[1])
    if x.shape[1:] == (2,):
        drawn |= plane(model, data, (predicted != y).numpy())
    return drawn


def plane(model: nn.Module, data: Splits, mistakes: np.ndarray) -> "dict[str, Figure]":
    """Decision boundary and surface over two-dimensional data."""
    x, y = data.test.x.numpy(), data.test.y.numpy()

    def predict(points: np.ndarray) -> np.ndarray:
        inputs = torch.as_tensor(points, dtype=torch.float32)
        return outputs(model, (inputs,)).softmax(1).numpy()

    return {
        "boundary": decision_boundary(predict, x, y, data.classes, mistakes, "test"),
        "surface": decision_surface(predict, x, y, data.classes),
    }


def counts(y: Tensor, predicted: Tensor, classes: int) -> np.ndarray:
    """Confusion matrix: rows are the truth."""
    pairs = torch.bincount(y * classes + predicted, minlength=classes**2)
    return pairs.reshape(classes, classes).numpy()


def images(x: Tensor) -> np.ndarray:
    """(n, h, w) for grey images, (n, h, w, 3) for coloured ones."""
    return (x[:, 0] if x.shape[1] == 1 else x.permute(0, 2, 3, 1)).numpy()
