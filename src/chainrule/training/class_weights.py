"""Weights that make every class count alike in the mean loss, however rare it is.

w_k = N / (K N_k)
"""

from torch import Tensor

from chainrule.errors import InputError
from chainrule.learning.tasks import Task
from chainrule.training.sources.base import BatchSource


def class_weights(train: BatchSource, task: Task) -> Tensor:
    """Balanced weights for the classes of a training source."""
    arrays = getattr(train, "arrays", None)
    if arrays is None:
        raise InputError("`class_weights` needs the labels in memory; pass tensors")
    return balanced(task.targets(arrays)[task.inputs])


def balanced(y: Tensor) -> Tensor:
    """w_k = N / (K N_k): every class has the same weight in the mean loss."""
    if y.is_floating_point() or y.ndim != 1:
        raise InputError("`class_weights` needs one class per example as the target")
    counts = y.bincount().float()
    return counts.sum() / (len(counts) * counts.clamp_min(1))
