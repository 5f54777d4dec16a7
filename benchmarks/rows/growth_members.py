"""Growth with the number of networks trained at once, and with the rows of their table."""

from collections.abc import Callable

import torch

from benchmarks.suite.contract import Growth, Line

MEMBERS, ROWS, COLUMNS, HIDDEN = 64, 1600, 20, 32


def epoch(members: int, rows: int) -> Callable[[], object]:
    """An epoch of fit_many, 20-32-32-2, batch 64."""
    from chainrule.models.feedforward.mlp import MLP
    from chainrule.training import Settings, fit_many

    torch.manual_seed(0)
    x = torch.randn(rows, COLUMNS)
    y = (x[:, 0] * x[:, 1] > 0).long()

    def unit() -> None:
        settings = [Settings(seed=k, epochs=1, batch_size=64) for k in range(members)]
        fit_many([MLP(COLUMNS, [HIDDEN, HIDDEN], 2) for _ in settings], (x, y), None, settings)

    return unit


ROW = Growth(
    axis="members or rows",
    lines={
        f"members ({ROWS} rows)": Line(
            lambda size: epoch(size, ROWS), [4, 16, 64, 256, 1024], 1.0, 1.0
        ),
        f"rows ({MEMBERS} members)": Line(
            lambda size: epoch(MEMBERS, size), [400, 1600, 6400, 25_600], 1.0, 1.0
        ),
    },
    tiny=(2, 4),
)
