"""Tasks: what is minimized, what is measured, what a target looks like, how outputs are answered.

`fit`, recipes, estimators and `predict` share them. One of your own takes three lines:

    def absolute(output, y): return (output - y).abs().mean(1)      # one value per example
    task = Task("absolute error", absolute, (MAE,), target=column)
    fit(model, data, task=task)
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from chainrule.arguments import checked
from chainrule.errors import InputError
from chainrule.learning import losses
from chainrule.learning.losses import Loss
from chainrule.learning.metrics import (
    ACCURACY,
    AUC,
    ERROR,
    LOSS,
    MAE,
    MEAN_IOU,
    PIXEL_ACCURACY,
    R2,
    RMSE,
    Metric,
)

Answer = dict[str, Any]
Decode = Callable[[Tensor, Sequence[str]], list[Answer]]
SMALLEST_SHARE = 0.005  # of an image, below which a class is not worth naming


def unchanged(y: Tensor) -> Tensor:
    return y


def class_index(y: Tensor) -> Tensor:
    """Class indices as int64, which the losses take."""
    if y.is_floating_point():
        change = "y.argmax(1), if they are one-hot rows" if y.ndim > 1 else "y.long()"
        raise InputError(
            "expected class indices as integers, got floating-point targets; convert them with "
            f"{change}, or use the REGRESSION task for real targets"
        )
    return y.long()


def column(y: Tensor) -> Tensor:
    """Real targets of one dimension as a column, like the output they are compared with."""
    y = y if y.is_floating_point() else y.float()
    return y[:, None] if y.ndim == 1 else y


def decode_classes(output: Tensor, classes: Sequence[str]) -> list[Answer]:
    """The most probable class and all probabilities."""
    if output.ndim == 1:
        output = torch.stack([torch.zeros_like(output), output], 1)
    p = output.softmax(1)
    return [
        {
            "prediction": classes[k],
            "probability": row[k],
            "probabilities": dict(zip(classes, row, strict=True)),
        }
        for k, row in zip(p.argmax(1).tolist(), p.tolist(), strict=True)
    ]


def decode_numbers(output: Tensor, classes: Sequence[str]) -> list[Answer]:
    """A number, or several where the target has several columns."""
    rows = output.reshape(len(output), -1).tolist()
    return [{"prediction": row[0] if len(row) == 1 else row} for row in rows]


def decode_segments(output: Tensor, classes: Sequence[str]) -> list[Answer]:
    """What an image or cloud holds, the largest class first, and every class's share of it.

    Class 0 of an image is its background and not named; a cloud of points has none.
    """
    answers = []
    for found in output.argmax(1):
        share = (found.flatten().bincount(minlength=len(classes)) / found.numel()).tolist()
        named = dict(zip(classes, share, strict=True))
        shown = classes if found.ndim == 1 else classes[1:]
        seen = sorted((k for k in shown if named[k] >= SMALLEST_SHARE), key=named.__getitem__)
        answers.append({"prediction": ", ".join(reversed(seen)) or "nothing", "shares": named})
    return answers


@checked
@dataclass(frozen=True)
class Task:
    """A loss, the metrics beside it, the form of a target, and what an output means.

    Args:
        name: for messages.
        loss: (output, target …) ↦ one value per example, or one mean value for the batch.
        metrics: numbers measured on a whole split.
        target: brings a target into the form that loss and metrics take, or refuses it.
        decode: (outputs, class names) ↦ one answer per example.
        training_loss: minimized in place of `loss` where the training split has further targets,
            such as a teacher's logits.
        inputs: how many tensors of a split go into the model; the others are targets.

    >>> import torch
    >>> absolute = Task("absolute", lambda output, y: (output - y).abs().mean(1))
    >>> absolute.loss(torch.zeros(2, 1), torch.ones(2, 1))
    tensor([1., 1.])
    """

    name: str
    loss: Loss
    metrics: tuple[Metric, ...] = ()
    target: Callable[[Tensor], Tensor] = unchanged
    decode: Decode = decode_numbers
    training_loss: Loss | None = None
    inputs: int = 1

    @property
    def minimized(self) -> Loss:
        return self.training_loss or self.loss

    def metric(self, name: str) -> Metric:
        """A metric of this task by name; the loss is one of them."""
        known = {metric.name: metric for metric in (LOSS, *self.metrics)}
        if name not in known:
            raise InputError(
                f"{name} is not measured for {self.name}; expected one of: {', '.join(known)}"
            )
        return known[name]

    def targets(self, arrays: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """The arrays with their first target in the form the loss takes."""
        if len(arrays) <= self.inputs or not isinstance(arrays[self.inputs], Tensor):
            return arrays
        first = self.target(arrays[self.inputs])
        return (*arrays[: self.inputs], first, *arrays[self.inputs + 1 :])


CLASSIFICATION = Task(
    "classification", losses.cross_entropy, (ERROR, ACCURACY), class_index, decode_classes
)
BINARY = Task(
    "binary classification",
    losses.cross_entropy,
    (ERROR, ACCURACY, AUC),
    class_index,
    decode_classes,
)
REGRESSION = Task("regression", losses.squared, (RMSE, MAE, R2), column, decode_numbers)
SEGMENTATION = Task(
    "segmentation",
    losses.pixel_cross_entropy,
    (MEAN_IOU, PIXEL_ACCURACY),
    class_index,
    decode_segments,
)


def in_units(task: Task, scale: float) -> Task:
    """The task with its errors in units of the target, where y is held as y / scale."""

    def scaled(metric: Metric) -> Metric:
        return metric.computed_by(lambda output, y: scale * metric.function(output, y))

    metrics = tuple(m if m.name == R2.name else scaled(m) for m in task.metrics)
    return replace(task, metrics=metrics)


LANGUAGE_MODELING = Task("language modeling", losses.token_cross_entropy, target=class_index)


def one_hot(y: Tensor) -> bool:
    """Whether each of several rows is zero but for a single one."""
    rows = y.ndim == 2 and len(y) > 1 and y.shape[1] > 1
    return rows and bool(((y == 0) | (y == 1)).all() & (y.sum(1) == 1).all())


@checked
def task_for(y: Tensor, classes: int | None = None) -> Task:
    """The usual task for such targets.

    Args:
        y: targets of a split, batch first.
        classes: how many classes there are, where that is known; 0 for none.
    """
    if y.is_floating_point() and not classes:
        if one_hot(y):
            raise InputError(
                "the targets look like one-hot rows; pass y.argmax(1) for classification, or "
                "task=chainrule.learning.tasks.REGRESSION if they are real numbers"
            )
        return REGRESSION
    if y.ndim > 1:
        return SEGMENTATION
    return BINARY if classes == 2 else CLASSIFICATION
