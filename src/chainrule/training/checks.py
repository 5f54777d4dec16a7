"""Checks before the first step; each failure is one sentence for the user."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn

from chainrule.arguments import RAW
from chainrule.errors import InputError
from chainrule.learning.losses import Loss
from chainrule.learning.tasks import Task
from chainrule.nn.pixels import unit_range
from chainrule.training.evaluation import evaluation_mode
from chainrule.training.loss_checks import loss_of
from chainrule.training.settings import Settings

Arrays = tuple[Tensor, ...]


def check_split(arrays: Arrays, inputs: int, name: str) -> None:
    """Tensors, not empty, of equal length, and finite."""
    if not all(isinstance(t, Tensor) for t in arrays):
        kinds = ", ".join(type(t).__name__ for t in arrays)
        raise InputError(
            f"expected tensors in the {name} split, got {kinds}; chainrule.data.arrays(x, y) "
            "makes splits of tensors from NumPy arrays and frames"
        )
    if len(arrays) <= inputs:
        raise InputError(
            f"the {name} split has {len(arrays)} tensors; expected {inputs} inputs, then a target"
        )
    if not all(t.ndim for t in arrays):
        raise InputError(f"expected batches in the {name} split, got a tensor without dimensions")
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


def check_text(text: Arrays, name: str, least: int, instead: str) -> None:
    """Two rows of whole numbers, equally long and long enough."""
    shapes = [tuple(t.shape) for t in text]
    if len(text) != 2 or shapes[0] != shapes[1] or len(shapes[0]) != 1:
        raise InputError(
            f"expected the {name} text as (tokens, next tokens), each of one dimension and equally "
            f"long, got {', '.join(map(str, shapes))}"
        )
    if any(t.is_floating_point() for t in text):
        raise InputError(f"expected whole numbers as tokens of the {name} text, got real ones")
    if len(text[0]) < least:
        raise InputError(
            f"the {name} text has {len(text[0])} tokens; expected at least {least}: choose "
            f"{instead}, or a longer text"
        )


def check_finite(t: Tensor, what: str) -> None:
    """A finite sum proves finite terms in one fast pass; only otherwise every value is checked."""
    if not t.is_floating_point() or t.sum().isfinite():
        return
    bad = ~t.isfinite()
    if bad.any():
        row = int(bad.flatten(1).any(1).nonzero()[0] if t.ndim > 1 else bad.nonzero()[0])
        raise InputError(
            f"the {what} hold {int(bad.sum())} values that are NaN or infinite, the first in "
            f"example {row}; remove or fill them in first"
        )


@contextmanager
def explained(inputs: Sequence[Tensor], where: str = "") -> Iterator[None]:
    """One sentence for a model that fails on these inputs."""
    try:
        yield
    except (ValueError, *RAW) as error:
        shapes = ", ".join(str(tuple(t.shape[1:])) for t in inputs)
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise InputError(
            f"the model does not take inputs of shape {shapes}{where}: {reason}"
        ) from error


def check_model(
    model: nn.Module, loss: Loss, arrays: Arrays, number: int, name: str, compared: bool = True
) -> tuple[Any, Tensor]:
    """One example goes through model and loss; labels lie among the model's classes."""
    inputs, targets = [unit_range(t[:1]) for t in arrays[:number]], [t[:1] for t in arrays[number:]]
    with explained(inputs, f" as in the {name} split{precisions(model, inputs)}"):
        output = output_of(model, inputs)
    real = targets[0].is_floating_point()
    own = getattr(loss, "of_the_user", False)  # it decides what whole numbers mean
    labels = not real and not own
    if isinstance(output, Tensor) and (labels or (compared and len(targets) == 1)):
        check_targets(output, arrays[number], name)
    losses = loss_of(loss, output, targets)
    if own and not real:
        check_largest(model, loss, arrays, number)
    if losses.shape not in ((1,), ()):
        raise InputError(
            "the loss must give one value per example, or one for the batch; for one example it "
            f"gave the shape {tuple(losses.shape)}; take the mean or the sum of the others, such as"
            " loss.flatten(1).mean(1)"
        )
    return output, losses


def check_largest(model: nn.Module, loss: Loss, arrays: Arrays, number: int) -> None:
    """A loss of the user's own takes the largest target too, which may be a class too many."""
    y = arrays[number]
    row = int(y.reshape(len(y), -1).amax(1).long().argmax())  # booleans have no argmax
    example = [t[row : row + 1] for t in arrays]
    output = output_of(model, [unit_range(t) for t in example[:number]])
    loss_of(loss, output, example[number:])


def output_of(model: nn.Module, inputs: Sequence[Tensor]) -> Any:
    with evaluation_mode(model):
        return model(*inputs)


def precisions(model: nn.Module, inputs: Sequence[Tensor]) -> str:
    """What to say of real inputs in another precision than the weights."""
    weights = {p.dtype for p in model.parameters() if p.is_floating_point()}
    found = {t.dtype for t in inputs if t.is_floating_point()} - weights
    if not weights or not found:
        return ""
    ours, theirs = (str(next(iter(each))).removeprefix("torch.") for each in (weights, found))
    return f", which are {theirs} where its weights are {ours}"


def check_label_settings(settings: Settings, output: Any, losses: Tensor, y: Tensor) -> None:
    """Smoothed labels and class weights need one class per example, and a loss for each."""
    one_class = (
        isinstance(output, Tensor)
        and output.ndim == 2
        and y.ndim == 1
        and not y.is_floating_point()
    )
    if settings.label_smoothing and not one_class:
        raise InputError("`label_smoothing` needs one class per example and one logit per class")
    if settings.class_weights != "none" and losses.ndim == 0:
        raise InputError("`class_weights` needs a loss with one value per example")


def check_targets(output: Tensor, y: Tensor, name: str) -> None:
    """Labels below the number of outputs; real targets of the outputs' shape."""
    if y.is_floating_point():
        if output[:1].numel() != y[:1].numel():
            raise InputError(
                f"the model gives outputs of shape {tuple(output.shape[1:])} per example, but the "
                f"targets of the {name} split have {tuple(y.shape[1:])}; one number per "
                "example has the shape (batch, 1)"
            )
        return
    per_place = output.ndim > 2 and output.shape[2:] == y.shape[1:]  # (batch, classes, place …)
    classes = output.shape[1 if per_place else -1] if output.ndim > 1 else 2
    low, top = int(y.min()), int(y.max())
    if low < 0:
        raise InputError(f"the {name} split has the label {low}; expected classes from 0 up")
    if top >= classes:
        known = f"{classes} outputs (classes 0 to {classes - 1})" if classes > 1 else "one output"
        raise InputError(f"the {name} split has the label {top}, but the model has {known}")


def check_monitor(settings: Settings, validated: bool, task: Task) -> None:
    """Early stopping needs a validation split and a metric that is measured on it."""
    if settings.patience and not validated:
        raise InputError("early stopping (`patience`) needs a validation split; none was given")
    task.metric(settings.monitor)


def check_settings(settings: Settings, unsupported: Mapping[str, str], whole: bool) -> None:
    """Refuse settings that the batches cannot honor."""
    for name, reason in unsupported.items():
        if getattr(settings, name) != getattr(Settings, name):  # a default is one of the class
            raise InputError(f"`{name}` cannot be used here: {reason}; leave it out")
    if settings.optimizer == "gd" and not whole:
        raise InputError(
            "`optimizer` gd takes all examples in every step, which this data cannot give; use sgd"
        )


def check_learnable(model: nn.Module) -> None:
    """There is something for a gradient to change."""
    if not any(p.requires_grad for p in model.parameters()):
        raise InputError(f"{type(model).__name__} has no parameters that a gradient could change")


def check_batches(model: nn.Module, examples: int, batch_size: int) -> None:
    """There is something to learn, and batch normalization never meets a batch of one."""
    check_learnable(model)
    if normalizes_batches(model) and 1 in (batch_size, examples % batch_size):
        raise InputError(
            f"batch normalization cannot learn from a batch of one example, the last of {examples} "
            f"in batches of {batch_size}; choose another `batch_size`"
        )


def normalizes_batches(model: nn.Module) -> bool:
    """Whether some layer normalizes by the statistics of the batch while training."""
    frozen = set(frozen_norms(model))
    return any(hasattr(part, "running_mean") and part not in frozen for part in model.modules())


def frozen_norms(model: nn.Module) -> list[nn.Module]:
    """Normalization layers whose parameters are all frozen: their statistics stay as well."""
    return [
        part
        for part in model.modules()
        if ("running_mean" in part._buffers or "running_mean" in vars(part))
        and (parameters := list(part.parameters(recurse=False)))
        and not any(p.requires_grad for p in parameters)
    ]


def training_mode(model: nn.Module) -> None:
    """Training mode for everything but frozen normalization layers."""
    if not all(part.training for part in model.modules()):  # asking costs less than setting
        model.train()
    for part in frozen_norms(model):
        part.eval()
