"""A model's outputs on a whole split, and their loss and metrics."""

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any

import torch
from torch import Tensor, nn

from chainrule.learning.tasks import Task
from chainrule.nn.kernels.float_products import ONEDNN, float_products, places, worth_onednn
from chainrule.nn.pixels import unit_range
from chainrule.training import devices
from chainrule.training.randomness import GENERATOR

AT_ONCE = 4096  # examples of a forward pass, at most
BYTES_AT_ONCE = {torch.uint8: 2**20, torch.float32: 2**22}
"""Of a first input: a network's activations, several times as large, should stay in the cache."""

Each = Callable[[Callable[[Any], Any], Iterable[Any]], list[Any]]
EACH: ContextVar[Each | None] = ContextVar("EACH", default=None)
"""Replaces the loop of `each`: several processes share the parts of a split."""


def each(function: Callable[[Any], Any], parts: Iterable[Any]) -> list[Any]:
    """The function of every part, in order."""
    together = EACH.get()
    return [function(part) for part in parts] if together is None else together(function, parts)


@contextmanager
def evaluation_mode(model: nn.Module) -> Iterator[None]:
    """Evaluation mode without gradients; afterwards every layer is in the mode it was in."""
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    try:
        with torch.no_grad():  # not inference mode: a model may keep a table it computes here
            yield
    finally:
        for part, training in modes:
            part.training = training


def outputs(model: nn.Module, inputs: tuple[Tensor, ...], batch_size: int = AT_ONCE) -> Any:
    """The model's outputs in evaluation mode, on the CPU, computed batch by batch.

    Args:
        model: Any module.
        inputs: One tensor for each argument of the model, batch first.
        batch_size: Examples in one forward pass.

    >>> import torch
    >>> outputs(torch.nn.Linear(3, 2), (torch.ones(5, 3),)).shape
    torch.Size([5, 2])
    """
    device = next((p.device for p in model.parameters()), torch.device("cpu"))
    batch_size = min(batch_size, at_once(inputs[0]))
    rows = min(batch_size, len(inputs[0])) * places(inputs[0], model)
    large = device.type == "cpu" and worth_onednn(model, rows)
    images = convolves(model)

    def answered(part: tuple[Tensor, ...]) -> Any:
        given = (unit_range(t.to(device)) for t in part)
        with quick_products() if large else nullcontext():
            return on_cpu(model(*(map(in_channels_last, given) if images else given)))

    several = len(inputs[0]) > batch_size
    with evaluation_mode(model), devices.memory_kept() if several else nullcontext():
        return joined(each(answered, zip(*(t.split(batch_size) for t in inputs), strict=True)))


@contextmanager
def quick_products() -> Iterator[None]:
    """Large float32 products by the quicker library, while runs in other Python threads wait."""
    with GENERATOR, float_products(ONEDNN):
        yield


def at_once(x: Tensor) -> int:
    """Examples of a forward pass; the rule sees one example only, so that processes agree."""
    most = BYTES_AT_ONCE.get(x.dtype, 0)
    return min(AT_ONCE, max(1, most // (x[0].numel() * x.element_size()))) if most else AT_ONCE


def convolves(model: nn.Module) -> bool:
    """Whether a kernel of two axes meets images."""
    return any(isinstance(part, nn.Conv2d) for part in model.modules())


def in_channels_last(t: Tensor) -> Tensor:
    """Images as convolutions like them."""
    return t.to(memory_format=torch.channels_last) if t.ndim == 4 else t


def joined(parts: Sequence[Any]) -> Any:
    """The outputs of several batches as those of one; tuples and mappings by part."""
    first = parts[0]
    if isinstance(first, Mapping):
        return with_values(first, {name: joined([p[name] for p in parts]) for name in first})
    if isinstance(first, tuple | list):
        return with_parts(first, [joined(part) for part in zip(*parts, strict=True)])
    return None if first is None else torch.cat([*parts])


def as_float(output: Any) -> Any:
    """Real numbers in single precision or better, as losses want them; the form is kept."""
    return changed(lambda t: t if t.dtype == torch.float64 else t.float(), output)


def on_cpu(output: Any) -> Any:
    """The same on the CPU, so that a device holds the outputs of one batch at a time."""
    return changed(lambda t: t.cpu(), output)


def changed(function: Callable[[Any], Any], output: Any) -> Any:
    """The function of every tensor; the form, and None in a tensor's place, are kept."""
    if isinstance(output, Mapping):
        return with_values(output, {name: changed(function, t) for name, t in output.items()})
    if isinstance(output, tuple | list):
        return with_parts(output, [changed(function, part) for part in output])
    return None if output is None else function(output)


def with_parts(form: tuple[Any, ...] | list[Any], parts: list[Any]) -> tuple[Any, ...]:
    """These parts as a tuple, with the names of the form where it has names."""
    named = hasattr(form, "_fields")
    return type(form)(*parts) if named else tuple(parts)  # type: ignore[return-value]


def with_values(form: Mapping[str, Any], values: dict[str, Any]) -> Mapping[str, Any]:
    """These values in a mapping like the form, whose class a loss may rely on."""
    if type(form) is dict or not isinstance(form, MutableMapping):
        return values
    made = copy.copy(form)
    for name, value in values.items():
        made[name] = value
    return made


def evaluate_arrays(model: nn.Module, arrays: tuple[Tensor, ...], task: Task) -> dict[str, float]:
    """Mean loss and every metric of (input …, target …)."""
    arrays = task.targets(arrays)
    output = as_float(outputs(model, arrays[: task.inputs]))
    return measured(output, tuple(t.cpu() for t in arrays[task.inputs :]), task)


def measured(output: Any, targets: tuple[Tensor, ...], task: Task) -> dict[str, float]:
    """Mean loss and every metric of these outputs."""
    found = {"loss": task.loss(output, *targets).double().mean().item()}
    return found | {metric.name: metric(output, *targets) for metric in task.metrics}
