"""Growth of a training step of an MLP with its batch, width and depth."""

from collections.abc import Callable

import torch
from torch import nn

from benchmarks.suite.contract import Growth, Line

BATCH, WIDTH, DEPTH = 128, 256, 4
STEPS = 4  # in a unit


def training(batch: int, width: int, depth: int) -> Callable[[], object]:
    """Steps of the engine, the network as deep and wide as asked."""
    from chainrule.models.feedforward.mlp import MLP
    from chainrule.training import iterate

    torch.manual_seed(0)
    model: nn.Module = MLP(width, [width] * depth, 10)
    split = torch.randn(STEPS * batch, width), torch.randint(10, (STEPS * batch,))
    reports = iterate(model, split, epochs=10**6, batch_size=batch, device="cpu")
    return lambda: next(now for now in reports if now.record) and None


ROW = Growth(
    axis="size",
    lines={
        f"batch (width {WIDTH}, {DEPTH} layers)": Line(
            lambda size: training(size, WIDTH, DEPTH), [2**k for k in range(4, 15, 2)], 1.0, 1.0
        ),
        f"width (batch {BATCH}, {DEPTH} layers)": Line(
            lambda size: training(BATCH, size, DEPTH), [2**k for k in range(5, 13)], 2.0, 2.0
        ),
        f"depth (batch {BATCH}, width {WIDTH})": Line(
            lambda size: training(BATCH, WIDTH, size), [2**k for k in range(1, 9)], 1.0, 1.0
        ),
    },
    tiny=(2, 4),
)
