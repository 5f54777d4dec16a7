"""Metrics: one number for a whole split, from its outputs and targets.

    error       share of examples whose most probable class is wrong
    accuracy    1 - error
    auc         probability that a random positive is ranked above a random negative
    r2          1 - Σ (y - f)² / Σ (y - ȳ)²
    rmse, mae   √mean (y - f)²,  mean |y - f|
    mean_iou    mean over classes k of |P_k ∩ Y_k| / |P_k ∪ Y_k|, P_k and Y_k the pixels predicted
                to be and truly of class k; pixel_accuracy is the share of pixels of the right class

A `Metric` also knows which direction is better and how it is printed; nothing else does.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from chainrule.arguments import checked
from chainrule.learning.losses import shaped_like


@checked
@dataclass(frozen=True)
class Metric:
    """A number that sums up a split, its better direction, and how it is printed.

    Args:
        name: as in records, tables and `monitor`.
        function: (output, target …) ↦ a number.
        higher_is_better: the direction of improvement.
        percent: printed as a percentage.

    >>> hits = Metric("hits", lambda output, y: float((output.argmax(1) == y).sum()), True)
    >>> hits.cost(3.0)  # smaller is better
    -3.0
    """

    name: str
    function: Callable[..., float]
    higher_is_better: bool = False
    percent: bool = False

    def __call__(self, output: Tensor, *targets: Tensor) -> float:
        return float(self.function(output, *targets))

    def computed_by(self, function: Callable[..., float]) -> "Metric":
        """The same metric of other outputs, such as those of a masked language model."""
        return replace(self, function=function)

    def cost(self, value: float) -> float:
        """The value with its sign turned where more is better; a NaN is worse than anything."""
        if math.isnan(value):
            return math.inf
        return -value if self.higher_is_better else value


@checked
def predicted_class(output: Float[Tensor, "batch *classes"]) -> Int[Tensor, " batch"]:
    """argmax of the logits; for a single logit, whether it is positive."""
    return output.argmax(-1) if output.ndim > 1 else (output > 0).long()


@checked
def error(output: Float[Tensor, "batch *classes"], y: Int[Tensor, " batch"]) -> float:
    """Share of misclassified examples."""
    return misclassified(output, y).double().mean().item()


@checked
def misclassified(
    output: Float[Tensor, "batch *classes"], y: Int[Tensor, " batch"]
) -> Bool[Tensor, " batch"]:
    """True where the predicted class differs from the label."""
    return predicted_class(output) != y


@checked
def accuracy(output: Float[Tensor, "batch *classes"], y: Int[Tensor, " batch"]) -> float:
    """Share of correctly classified examples."""
    return 1 - error(output, y)


@checked
def auc(output: Float[Tensor, "batch *classes"], y: Int[Tensor, " batch"]) -> float:
    """Area under the ROC curve of a two-class model; NaN where only one class is present."""
    if len(y.unique()) < 2:
        return float("nan")
    from sklearn.metrics import roc_auc_score

    score = output if output.ndim == 1 else output[:, 1] - output[:, 0]
    return float(roc_auc_score(y.numpy(force=True), score.numpy(force=True)))


@checked
def mean_iou(
    output: Float[Tensor, "batch classes *places"], y: Int[Tensor, "batch *places"]
) -> float:
    """Mean over the classes that occur, the pixels of all images taken together."""
    classes = output.shape[1]
    pairs = torch.bincount((y * classes + output.argmax(1)).flatten(), minlength=classes**2)
    both = pairs.view(classes, classes).double()
    intersection, union = both.diagonal(), both.sum(0) + both.sum(1) - both.diagonal()
    return (intersection[union > 0] / union[union > 0]).mean().item()


@checked
def pixel_accuracy(
    output: Float[Tensor, "batch classes *places"], y: Int[Tensor, "batch *places"]
) -> float:
    """Share of pixels of the right class."""
    return (output.argmax(1) == y).double().mean().item()


@checked
def r2(output: Float[Tensor, "batch *outputs"], y: Float[Tensor, "batch *targets"]) -> float:
    """Share of the variance that is explained."""
    f, y = shaped_like(output, y).double(), y.double()
    return (1 - (y - f).square().sum() / (y - y.mean(0)).square().sum()).item()


@checked
def rmse(output: Float[Tensor, "batch *outputs"], y: Float[Tensor, "batch *targets"]) -> float:
    """Root of the mean squared error."""
    return (shaped_like(output, y).double() - y.double()).square().mean().sqrt().item()


@checked
def mae(output: Float[Tensor, "batch *outputs"], y: Float[Tensor, "batch *targets"]) -> float:
    """Mean absolute error."""
    return (shaped_like(output, y).double() - y.double()).abs().mean().item()


def measured_elsewhere(*_: Tensor) -> float:
    """For metrics of what a model writes or does, which a recipe computes itself."""
    raise TypeError("this metric is not a function of outputs and targets")


ERROR = Metric("error", error, percent=True)
ACCURACY = Metric("accuracy", accuracy, higher_is_better=True, percent=True)
AUC = Metric("auc", auc, higher_is_better=True)
RMSE = Metric("rmse", rmse)
MAE = Metric("mae", mae)
R2 = Metric("r2", r2, higher_is_better=True)
MEAN_IOU = Metric("mean_iou", mean_iou, higher_is_better=True)
PIXEL_ACCURACY = Metric("pixel_accuracy", pixel_accuracy, higher_is_better=True, percent=True)
LOSS = Metric("loss", measured_elsewhere)

METRICS = {
    metric.name: metric
    for metric in (
        LOSS,
        ERROR,
        ACCURACY,
        AUC,
        RMSE,
        MAE,
        R2,
        MEAN_IOU,
        PIXEL_ACCURACY,
        Metric("point_accuracy", pixel_accuracy, higher_is_better=True, percent=True),
        Metric("place_accuracy", pixel_accuracy, higher_is_better=True, percent=True),
        Metric("word_accuracy", measured_elsewhere, higher_is_better=True, percent=True),
        Metric("pair_accuracy", measured_elsewhere, higher_is_better=True, percent=True),
        Metric("perplexity", measured_elsewhere),
        Metric("text_perplexity", measured_elsewhere),
        Metric("last_tenth", measured_elsewhere),
        Metric("bleu", measured_elsewhere, higher_is_better=True),
        Metric("precision", measured_elsewhere, higher_is_better=True, percent=True),
        Metric("recall", measured_elsewhere, higher_is_better=True, percent=True),
        Metric("f1", measured_elsewhere, higher_is_better=True, percent=True),
        Metric("exact_match", measured_elsewhere, higher_is_better=True, percent=True),
        Metric("return", measured_elsewhere, higher_is_better=True),
        Metric("average_precision", measured_elsewhere, higher_is_better=True, percent=True),
        Metric("value", measured_elsewhere, higher_is_better=True),
        Metric("overlap", measured_elsewhere, higher_is_better=True),
        Metric("coverage", measured_elsewhere, higher_is_better=True, percent=True),
        Metric("margin", measured_elsewhere, higher_is_better=True),
    )
}
"""Every metric of the course by name: how tables print it and which direction is better."""


HIGHER_IS_BETTER = frozenset(m.name for m in METRICS.values() if m.higher_is_better)


def metric_named(name: str, own: Sequence[Metric] = ()) -> Metric | None:
    """The metric of a column: `validation_error`, `test error`, `length 20: rmse`.

    own: metrics of a user, which come before those of the course.
    """
    for metric in own:
        if name == metric.name or name.endswith((f"_{metric.name}", f" {metric.name}")):
            return metric
    bare = name.split(": ")[-1].split(" ")[-1]
    for prefix in ("train_", "validation_", "test_"):
        bare = bare.removeprefix(prefix)
    return METRICS.get(bare)


def format_metric(name: str, value: float | None, own: Sequence[Metric] = ()) -> str:
    """A number as people write it: rates in percent, else 12,346 or 0.1235, a dash for none."""
    if value is None or math.isnan(value):
        return "–"
    metric = metric_named(name, own)
    if metric is not None and metric.percent:
        return f"{100 * value:.2f} %"
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:.4g}"
