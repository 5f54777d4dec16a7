"""Interrupted runs: they continue to the identical weights, whatever the batches are."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

from chainrule.errors import DivergenceError, InputError
from chainrule.learning.tasks import CLASSIFICATION
from chainrule.models.feedforward.mlp import MLP
from chainrule.models.recurrent.language_model import LanguageModel
from chainrule.training import Settings, evaluate, fit, iterate
from chainrule.training.sources import (
    BucketedSequences,
    MemoryMappedRows,
    RandomWindows,
    Rows,
    RowsWithReplacement,
    TruncatedBPTT,
    WholeBatch,
    as_source,
)


def rings(number: int = 200, seed: int = 0) -> tuple[Tensor, Tensor]:
    """A disc inside a ring: easy for a network, impossible for a line."""
    generator = torch.Generator().manual_seed(seed)
    angle = 2 * math.pi * torch.rand(number, generator=generator)
    y = torch.arange(number) % 2
    radius = 0.5 + y + 0.1 * torch.randn(number, generator=generator)
    return torch.stack([radius * angle.cos(), radius * angle.sin()], 1), y


def network(dropout: float = 0.0) -> MLP:
    torch.manual_seed(0)
    return MLP(2, [16, 16], 2, dropout=dropout)


def weights(model: nn.Module) -> Tensor:
    return torch.cat([p.detach().flatten() for p in model.parameters()])


def noise(seed: int) -> tuple[Tensor, Tensor]:
    """Nothing to learn: the validation loss is best early and then rises."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(200, 2, generator=generator)
    return x, torch.randint(0, 2, (200,), generator=generator)


@pytest.mark.parametrize("stop_after", [1, 2, 7, 20])
def test_a_closed_run_goes_on_to_the_identical_weights(
    stop_after: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chainrule.training.loop.TICK", 0.0)  # report, and so stop, each step
    settings = Settings(epochs=12, batch_size=64, patience=5, learning_rate=0.02)
    straight, broken = network(0.3), network(0.3)
    history = fit(straight, noise(0), noise(1), settings=settings)
    steps = iterate(broken, noise(0), noise(1), settings=settings, folder=tmp_path)
    for number, _ in enumerate(steps, 1):
        if number == stop_after:
            steps.close()
    resumed = MLP(2, [16, 16], 2, dropout=0.3)  # other weights: all must come from the checkpoint
    again = fit(resumed, noise(0), noise(1), settings=settings, folder=tmp_path)
    assert torch.equal(weights(straight), weights(resumed))
    for old, new in zip(history, again, strict=True):
        assert {k: v for k, v in old.items() if k != "seconds"} == {
            k: v for k, v in new.items() if k != "seconds"
        }


@pytest.mark.parametrize("optimizer", ["adam", "momentum"])
def test_convolutions_resume_exactly_too(optimizer: str, tmp_path: Path) -> None:
    """Kernels lie channels-last in memory, and so must the optimizer's memory after a restart."""

    def convolutions(seed: int) -> nn.Module:
        torch.manual_seed(seed)
        return nn.Sequential(
            nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Conv2d(4, 2, 3), nn.Flatten(), nn.Linear(32, 2)
        )

    torch.manual_seed(0)
    data = torch.randn(40, 3, 8, 8), torch.arange(40) % 2
    settings = Settings(epochs=4, batch_size=20, optimizer=optimizer, learning_rate=0.01)
    straight, broken, resumed = convolutions(0), convolutions(0), convolutions(1)
    fit(straight, data, None, settings=settings)
    steps = iterate(broken, data, None, settings=settings, folder=tmp_path)
    next(progress for progress in steps if progress.epoch == 2 and progress.record)
    steps.close()
    fit(resumed, data, None, settings=settings, folder=tmp_path)
    assert torch.equal(weights(straight), weights(resumed))
    assert straight[0].weight.is_contiguous(memory_format=torch.channels_last)


def test_a_checkpoint_of_other_settings_or_data_is_refused(tmp_path: Path) -> None:
    fit(network(), rings(), None, settings=Settings(epochs=1), folder=tmp_path)
    with pytest.raises(InputError, match="comes from another run: it differs in seed, epochs"):
        fit(network(), rings(), None, settings=Settings(epochs=2, seed=1), folder=tmp_path)
    with pytest.raises(InputError, match="differs in examples"):
        fit(network(), rings(100), None, settings=Settings(epochs=1), folder=tmp_path)


def test_a_checkpoint_is_never_overwritten_by_ruined_weights(tmp_path: Path) -> None:
    from chainrule.learning.optimizers import optimizer
    from chainrule.training.state import LAST, State

    model = network()
    state = State(model, optimizer("adam", model.parameters(), 0.1))
    state.save(tmp_path)
    good = (tmp_path / LAST).read_bytes()
    with torch.no_grad():
        model.layers[0].weight[0, 0] = torch.nan
    with pytest.raises(DivergenceError, match=r"no longer finite.*last good checkpoint is kept"):
        state.save(tmp_path)
    assert (tmp_path / LAST).read_bytes() == good


def test_averaged_weights_are_kept_and_survive_an_interruption(tmp_path: Path) -> None:
    settings = Settings(epochs=6, learning_rate=0.02, ema_decay=0.9)
    plain, straight, broken, resumed = (network() for _ in range(4))
    fit(plain, rings(), rings(seed=1), settings=replace(settings, ema_decay=0.0))
    history = fit(straight, rings(), rings(seed=1), settings=settings)
    assert not torch.equal(weights(plain), weights(straight))
    found = evaluate(straight, rings(seed=1), CLASSIFICATION)
    assert found["loss"] == pytest.approx(history[-1]["validation_loss"], rel=1e-6)
    steps = iterate(broken, rings(), rings(seed=1), settings=settings, folder=tmp_path)
    next(progress for progress in steps if progress.epoch == 3 and progress.record)
    steps.close()
    fit(resumed, rings(), rings(seed=1), settings=settings, folder=tmp_path)
    assert torch.equal(weights(straight), weights(resumed))


def tokens(length: int = 120) -> tuple[Tensor, Tensor]:
    text = (torch.arange(length + 1) ** 2) % 5
    return text[:-1], text[1:]


class Noisy(Dataset):
    """Rows with noise from torch's generator, drawn when they are read."""

    def __init__(self, arrays: tuple[Tensor, Tensor]):
        self.arrays = arrays

    def __len__(self) -> int:
        return len(self.arrays[0])

    def __getitem__(self, row: int) -> tuple[Tensor, Tensor]:
        x, y = (t[row] for t in self.arrays)
        return x + 0.1 * torch.randn_like(x), y


def shuffled(generator: torch.Generator | None) -> DataLoader:
    return DataLoader(Noisy(rings(60)), 16, shuffle=True, generator=generator)


def language_model() -> nn.Module:
    return LanguageModel(5, "gru", 6, embedding_dim=3, dropout=0.2)


SOURCES = {
    "rows": lambda: Rows(rings(60)),
    "augmented rows": lambda: Rows(rings(60), augment=lambda x: x + torch.randn_like(x)),
    "rows with replacement": lambda: RowsWithReplacement(rings(60)),
    "whole batch": lambda: WholeBatch(rings(60)),
    "memory-mapped rows": lambda: MemoryMappedRows(rings(60)),
    "bucketed sequences": lambda: BucketedSequences(
        rings(60), lengths=torch.arange(60).remainder(7)
    ),
    "data set": lambda: Noisy(rings(60)),
    "shuffled loader": lambda: shuffled(None),
    "loader with a generator": lambda: shuffled(torch.Generator()),
    "truncated BPTT": lambda: TruncatedBPTT(tokens(), 3),
    "random windows": lambda: RandomWindows(tokens(), 4, 3),
}


@pytest.mark.parametrize("stop_after", [1, 2, 5, 6])
@pytest.mark.parametrize("name", SOURCES)
def test_every_source_resumes_to_the_identical_weights(
    name: str, stop_after: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chainrule.training.loop.TICK", 0.0)
    text = name in ("truncated BPTT", "random windows")
    own = {} if "loader" in name else {"batch_size": 10 if text else 16}
    settings = Settings(epochs=4, learning_rate=0.02, **own)

    def model(seed: int) -> nn.Module:
        torch.manual_seed(seed)
        return language_model() if text else MLP(2, [8], 2, dropout=0.3)

    straight, broken, resumed = model(0), model(0), model(1)
    fit(straight, SOURCES[name](), settings=settings)
    steps = iterate(broken, SOURCES[name](), settings=settings, folder=tmp_path)
    for number, _ in enumerate(steps, 1):
        torch.rand(3)  # the caller's own draws
        if number == stop_after:
            steps.close()
    assert not torch.equal(weights(broken), weights(straight))
    torch.manual_seed(99)
    fit(resumed, SOURCES[name](), settings=settings, folder=tmp_path)
    assert torch.equal(weights(straight), weights(resumed))


def test_a_loader_gives_every_epoch_another_order_and_the_same_seed_the_same_ones() -> None:
    source, other = as_source(shuffled(None), Settings()), as_source(shuffled(None), Settings())
    prepared = [s.prepared(CLASSIFICATION, torch.device("cpu"), True) for s in (source, other)]
    first, again = (s.epoch(Settings(), 0)(0).inputs[0] for s in prepared)
    assert torch.equal(first, again)
    assert not torch.equal(first, prepared[0].epoch(Settings(), 1)(0).inputs[0])
    assert not torch.equal(first, prepared[0].epoch(Settings(seed=1), 0)(0).inputs[0])
