"""Interrupted runs: they continue to the identical weights, whatever the batches are."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from chainrule.errors import DivergenceError, InputError
from chainrule.learning.tasks import CLASSIFICATION
from chainrule.models.feedforward.mlp import MLP
from chainrule.training import Settings, evaluate, fit, iterate


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
