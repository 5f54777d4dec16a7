"""Classifiers by this library and by PyTorch loops: hand-tuned, compiled, and as in tutorials."""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.suite.classifier import Classifier, epochs
from benchmarks.suite.contract import Ready
from benchmarks.suite.tuning import (
    batches,
    count,
    endless,
    take_onednn,
    tuned,
)


def engine(given: Classifier, **settings: Any) -> Ready:
    """This library: its loop, as `fit` runs it."""
    from chainrule.training import fit, iterate

    def options(asked: Classifier) -> dict[str, Any]:
        return {"batch_size": asked.batch, "learning_rate": asked.rate, **settings}

    model, data = given.own(), given.timed.data
    reports = iterate(model, (data.x, data.y), epochs=10**6, **options(given))

    def unit() -> None:
        next(now for now in reports if now.record)

    def quality(seed: int) -> float:
        fresh, few = given.own(seed), given.data
        fit(fresh, (few.x, few.y), epochs=1, seed=seed, **options(given.learned))
        return given.loss(fresh)

    return Ready(unit, quality, count(model))


def auto(given: Classifier) -> Ready:
    """The same with products in bfloat16 where that was measured to be quicker."""
    return engine(given, precision="auto")


def hand_tuned(
    given: Classifier, compile: bool = False, low: bool = False, onednn: bool = False
) -> Ready:
    """Tensors in memory, rows gathered by index, fused Adam, the better number of threads."""
    tuned()
    if onednn:
        take_onednn()
    data = given.timed.data

    def started() -> tuple[nn.Module, Callable[[tuple[Tensor, Tensor]], None]]:
        model = given.laid_out(given.plain())
        adam = torch.optim.Adam(model.parameters(), given.rate, fused=True)
        forward = torch.compile(model, dynamic=False) if compile else model

        def step(batch: tuple[Tensor, Tensor]) -> None:
            adam.zero_grad(set_to_none=True)
            with torch.autocast("cpu", torch.bfloat16, enabled=low):
                output = forward(batch[0])
            F.cross_entropy(output.float(), batch[1]).backward()
            adam.step()

        return model, step

    model, step = started()
    stream = endless(data.x, data.y, given.batch)

    def unit() -> None:
        for batch in batches(data.x, data.y, given.batch):
            step(batch)

    def quality(seed: int) -> float:
        torch.manual_seed(seed)
        fresh, step = started()
        few = given.learned
        for batch in batches(few.data.x, few.data.y, few.batch):
            step(batch)
        return given.loss(fresh)

    trial = None if compile else lambda: step(next(stream))
    return Ready(unit, quality, count(model), trial)


def compiled(given: Classifier) -> Ready:
    """The same with the network compiled."""
    return hand_tuned(given, compile=True)


def onednn(given: Classifier) -> Ready:
    """The same with the switch that gives oneDNN the float32 products."""
    return hand_tuned(given, onednn=True)


def autocast(given: Classifier) -> Ready:
    """The same with products in bfloat16."""
    return hand_tuned(given, low=True)


def data_loader(given: Classifier) -> Ready:
    """The idiom of the tutorials."""

    def started(given: Classifier) -> tuple[nn.Module, Callable[[], None]]:
        dataset = torch.utils.data.TensorDataset(given.data.x, given.data.y)
        loader = torch.utils.data.DataLoader(dataset, given.batch, shuffle=True)
        model = given.plain()
        adam = torch.optim.Adam(model.parameters(), given.rate)

        def epoch() -> None:
            for inputs, labels in loader:
                adam.zero_grad()
                loss = F.cross_entropy(model(inputs), labels)
                loss.backward()
                adam.step()

        return model, epoch

    return epochs(given, started)
