"""A model's outputs on a whole split, and the numbers that sum them up."""

from collections.abc import Callable, Mapping

import torch
from torch import Tensor, nn

from chainrule.learning.losses import Loss

Metrics = Mapping[str, Callable[[Tensor, Tensor], float]]


def outputs(model: nn.Module, inputs: tuple[Tensor, ...], batch_size: int = 4096) -> Tensor:
    """What the model answers in evaluation mode, on the CPU, batch after batch."""
    device = next((p.device for p in model.parameters()), torch.device("cpu"))
    was_training = model.training
    model.eval()
    try:
        with torch.inference_mode():
            parts = zip(*(t.split(batch_size) for t in inputs), strict=True)
            return torch.cat([model(*(t.to(device) for t in part)).cpu() for part in parts])
    finally:
        model.train(was_training)


def evaluate(
    model: nn.Module, arrays: tuple[Tensor, ...], loss: Loss, metrics: Metrics
) -> dict[str, float]:
    """Mean loss and every metric of one split."""
    *inputs, y = arrays
    output = outputs(model, tuple(inputs)).float()
    y = y.cpu()
    found = {"loss": loss(output, y).double().mean().item()}
    return found | {name: metric(output, y) for name, metric in metrics.items()}
