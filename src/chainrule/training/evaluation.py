"""A model's outputs on a whole split, and their loss and metrics."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from chainrule.learning.tasks import Task
from chainrule.nn.pixels import unit_range

AT_ONCE = 4096  # examples of a forward pass
BYTES_AT_ONCE = 2**20  # of images that are stored as bytes, which may be large


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


def outputs(model: nn.Module, inputs: tuple[Tensor, ...], batch_size: int = AT_ONCE) -> Tensor:
    """The model's outputs in evaluation mode, on the CPU, computed batch by batch."""
    device = next((p.device for p in model.parameters()), torch.device("cpu"))
    if inputs[0].dtype == torch.uint8:
        batch_size = min(batch_size, max(1, BYTES_AT_ONCE // inputs[0][0].numel()))
    with evaluation_mode(model):
        parts = zip(*(t.split(batch_size) for t in inputs), strict=True)
        return torch.cat([model(*(unit_range(t.to(device)) for t in p)).cpu() for p in parts])


def evaluate_arrays(model: nn.Module, arrays: tuple[Tensor, ...], task: Task) -> dict[str, float]:
    """Mean loss and every metric of (input …, target …)."""
    arrays = task.targets(arrays)
    output = outputs(model, arrays[: task.inputs]).float()
    return measured(output, tuple(t.cpu() for t in arrays[task.inputs :]), task)


def measured(output: Tensor, targets: tuple[Tensor, ...], task: Task) -> dict[str, float]:
    """Mean loss and every metric of these outputs."""
    found = {"loss": task.loss(output, *targets).double().mean().item()}
    return found | {metric.name: metric(output, *targets) for metric in task.metrics}
