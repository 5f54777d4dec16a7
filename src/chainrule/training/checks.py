"""What must hold before the first step: each failure is one sentence for the user."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.learning.losses import Loss

Arrays = tuple[Tensor, ...]


def check_split(arrays: Arrays, inputs: int, name: str) -> None:
    """Not empty, of equal length, and finite."""
    if len(arrays) <= inputs:
        raise InputError(
            f"the {name} split has {len(arrays)} tensors; expected {inputs} inputs, then a target"
        )
    lengths = [len(t) for t in arrays]
    if min(lengths) == 0:
        raise InputError(f"the {name} split is empty; expected at least one example")
    if len(set(lengths)) > 1:
        raise InputError(
            f"the arrays of the {name} split differ in length: {lengths}; "
            "expected one target for every example"
        )
    for place, t in enumerate(arrays):
        check_finite(t, f"{'inputs' if place < inputs else 'targets'} of the {name} split")


def check_finite(t: Tensor, what: str) -> None:
    """A finite sum proves finite terms in one quick pass; only a bad one is looked at closely."""
    if not t.is_floating_point() or t.sum().isfinite():
        return
    bad = ~t.isfinite()
    if bad.any():
        row = int(bad.flatten(1).any(1).nonzero()[0] if t.ndim > 1 else bad.nonzero()[0])
        raise InputError(
            f"the {what} hold {int(bad.sum())} values that are NaN or infinite, the first in "
            f"example {row}; remove or fill them in first"
        )


def check_model(model: nn.Module, loss: Loss, arrays: Arrays, number: int, name: str) -> None:
    """One example goes through model and loss; labels lie among the model's classes."""
    inputs, targets = [t[:1] for t in arrays[:number]], [t[:1] for t in arrays[number:]]
    was_training = model.training
    model.eval()
    try:
        with torch.inference_mode():
            output = model(*inputs)
    except (RuntimeError, ValueError, TypeError) as error:
        shapes = ", ".join(str(tuple(t.shape[1:])) for t in inputs)
        raise InputError(
            f"the model does not take inputs of shape {shapes} as in the {name} split: "
            f"{str(error).splitlines()[0]}"
        ) from error
    finally:
        model.train(was_training)
    if len(targets) == 1:
        check_targets(output, arrays[-1], name)
    with torch.inference_mode():
        losses = loss(output, *targets)
    if losses.shape != (1,):
        raise InputError(
            f"the loss must give one value per example; for one example it gave the shape "
            f"{tuple(losses.shape)}"
        )


def check_targets(output: Tensor, y: Tensor, name: str) -> None:
    """Labels below the number of outputs; real targets of the outputs' shape."""
    if y.is_floating_point():
        if output.shape[1:] != y.shape[1:]:
            raise InputError(
                f"the model gives outputs of shape {tuple(output.shape[1:])} per example, but the "
                f"targets of the {name} split have {tuple(y.shape[1:])}"
            )
        return
    classes = output.shape[-1] if output.ndim > 1 else 2
    low, top = int(y.min()), int(y.max())
    if low < 0:
        raise InputError(f"the {name} split has the label {low}; expected classes from 0 up")
    if top >= classes:
        raise InputError(
            f"the {name} split has the label {top}, but the model has {classes} outputs "
            f"(classes 0 to {classes - 1})"
        )


def check_monitor(
    monitor: str, patience: int, validated: bool, metrics: Mapping[str, object]
) -> None:
    """Early stopping needs a validation split and a figure that is measured on it."""
    if patience and not validated:
        raise InputError("early stopping (--patience) needs a validation split; none was given")
    if patience and monitor != "loss" and monitor not in metrics:
        known = ", ".join(["loss", *metrics])
        raise InputError(f"--monitor {monitor} is not measured here; expected one of: {known}")
