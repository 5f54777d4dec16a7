"""Metrics: one number for a whole split, from its outputs and targets.

error       share of examples whose most probable class is wrong
accuracy    1 - error
auc         probability that a random positive is ranked above a random negative
r2          1 - Σ (y - f)² / Σ (y - ȳ)²
rmse, mae   √mean (y - f)²,  mean |y - f|
mean_iou    mean over classes k of |P_k ∩ Y_k| / |P_k ∪ Y_k|, P_k and Y_k the pixels predicted to be
            and truly of class k; pixel_accuracy is the share of pixels of the right class
"""

from collections.abc import Callable, Mapping

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

Metric = Callable[..., float]


def predicted_class(output: Float[Tensor, "batch *classes"]) -> Int[Tensor, " batch"]:
    """argmax of the logits; for a single logit, whether it is positive."""
    return output.argmax(-1) if output.ndim > 1 else (output > 0).long()


def error(output: Float[Tensor, "batch *classes"], y: Int[Tensor, " batch"]) -> float:
    """Share of wrong classes."""
    return wrong(output, y).double().mean().item()


def wrong(
    output: Float[Tensor, "batch *classes"], y: Int[Tensor, " batch"]
) -> Bool[Tensor, " batch"]:
    """Which classes are."""
    return predicted_class(output) != y


def accuracy(output: Float[Tensor, "batch *classes"], y: Int[Tensor, " batch"]) -> float:
    """Share of right classes."""
    return 1 - error(output, y)


def auc(output: Float[Tensor, "batch *classes"], y: Int[Tensor, " batch"]) -> float:
    """Area under the ROC curve of a two-class model; NaN where only one class is present."""
    if len(y.unique()) < 2:
        return float("nan")
    from sklearn.metrics import roc_auc_score

    score = output if output.ndim == 1 else output[:, 1] - output[:, 0]
    return float(roc_auc_score(y.numpy(force=True), score.numpy(force=True)))


def mean_iou(
    output: Float[Tensor, "batch classes *places"], y: Int[Tensor, "batch *places"]
) -> float:
    """Mean over the classes that occur, the pixels of all images taken together."""
    classes = output.shape[1]
    pairs = torch.bincount((y * classes + output.argmax(1)).flatten(), minlength=classes**2)
    both = pairs.view(classes, classes).double()
    intersection, union = both.diagonal(), both.sum(0) + both.sum(1) - both.diagonal()
    return (intersection[union > 0] / union[union > 0]).mean().item()


def pixel_accuracy(
    output: Float[Tensor, "batch classes *places"], y: Int[Tensor, "batch *places"]
) -> float:
    """Share of pixels of the right class."""
    return (output.argmax(1) == y).double().mean().item()


def r2(output: Float[Tensor, "batch *outputs"], y: Float[Tensor, "batch *outputs"]) -> float:
    """Share of the variance that is explained."""
    f, y = output.double(), y.double()
    return (1 - (y - f).square().sum() / (y - y.mean(0)).square().sum()).item()


def rmse(output: Float[Tensor, "batch *outputs"], y: Float[Tensor, "batch *outputs"]) -> float:
    """Root of the mean squared error."""
    return (output.double() - y.double()).square().mean().sqrt().item()


def mae(output: Float[Tensor, "batch *outputs"], y: Float[Tensor, "batch *outputs"]) -> float:
    """Mean absolute error."""
    return (output.double() - y.double()).abs().mean().item()


CLASSIFICATION: Mapping[str, Metric] = {"error": error, "accuracy": accuracy}
TWO_CLASSES: Mapping[str, Metric] = {**CLASSIFICATION, "auc": auc}
REGRESSION: Mapping[str, Metric] = {"rmse": rmse, "mae": mae, "r2": r2}
SEGMENTATION: Mapping[str, Metric] = {"mean_iou": mean_iou, "pixel_accuracy": pixel_accuracy}
GREATER_IS_BETTER = frozenset({"accuracy", "auc", "r2", "mean_iou", "pixel_accuracy"})
SMALLER_IS_BETTER = frozenset({"loss", "error", "rmse", "mae"})
