"""Parts of a training step that this library does otherwise than torch: Adam, dropout."""

from collections.abc import Callable

import torch
import torch.nn.functional as F

from benchmarks.rows import mlp
from benchmarks.suite.contract import Contender, Quality, Race, Ready, Work
from benchmarks.suite.tuning import tuned

RATE, UNITS = 0.4, 256
WEIGHTS = 784 * 256 + 256 * 128 + 128 * 10 + 394


def repeated(call: Callable[[], object], repeats: int, figure: Callable[[], float]) -> Ready:
    def unit() -> None:
        for _ in range(repeats):
            call()

    return Ready(unit, lambda _: figure(), trial=call)


def chainrule(kind: str, repeats: int) -> Ready:
    from chainrule.learning.fused_adam import FusedAdam
    from chainrule.nn.dropout import dropout

    tuned()
    if kind == "dropout":
        return dropping(lambda h: dropout(h, RATE, training=True), repeats)
    return stepping(lambda weights: FusedAdam(weights, lr=1e-3), repeats)


def pytorch(kind: str, repeats: int) -> Ready:
    tuned()
    if kind == "dropout":
        return dropping(lambda h: F.dropout(h, RATE), repeats)
    return stepping(lambda weights: torch.optim.Adam(weights, lr=1e-3, fused=True), repeats)


def dropping(function: Callable[[torch.Tensor], torch.Tensor], repeats: int) -> Ready:
    """A batch of 128 through 256 units."""
    h = torch.ones(128, UNITS)
    return repeated(lambda: function(h), repeats, lambda: float(function(h.repeat(50, 1)).mean()))


def stepping(optimizer: Callable[[list[torch.Tensor]], object], repeats: int) -> Ready:
    """For the weights of the MLP."""

    def started() -> tuple[list[torch.Tensor], Callable[[], object]]:
        torch.manual_seed(0)
        weights: list[torch.Tensor] = list(mlp.plain().parameters())
        for p in weights:
            p.grad = torch.randn_like(p)
        return weights, optimizer(weights).step  # type: ignore[attr-defined]

    def figure() -> float:
        weights, step = started()
        for _ in range(5):
            step()
        return sum(float(p.detach().double().abs().sum()) for p in weights)

    return repeated(started()[1], repeats, figure)


def work(kind: str, repeats: int) -> Work:
    """Adam reads weight, gradient and two moments and writes three of them."""
    numbers = 2 * 128 * UNITS if kind == "dropout" else 7 * WEIGHTS
    return Work(bytes=4.0 * numbers * repeats)


ROW = Race(
    unit="1,000 calls",
    contenders={"chainrule": Contender(chainrule), "hand-tuned PyTorch": Contender(pytorch)},
    cases={
        "Adam, 784-256-128-10": {"kind": "Adam", "repeats": 1000},
        "dropout, 128 × 256": {"kind": "dropout", "repeats": 1000},
    },
    tiny={"kind": "Adam", "repeats": 1},
    quality=Quality("sum of the weights after 5 steps; mean after dropout", 0.01),
    work=work,
)
