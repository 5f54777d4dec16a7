"""A model's outputs on a whole split, and the numbers that sum them up."""

import torch
from torch import Tensor, nn

from chainrule.learning.tasks import Objective


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
    model: nn.Module, arrays: tuple[Tensor, ...], objective: Objective
) -> dict[str, float]:
    """Mean loss and every metric of one split."""
    inputs, targets = arrays[: objective.inputs], arrays[objective.inputs :]
    output, targets = outputs(model, inputs).float(), tuple(t.cpu() for t in targets)
    found = {"loss": objective.loss(output, *targets).double().mean().item()}
    return found | {name: metric(output, *targets) for name, metric in objective.metrics.items()}
