"""Early stopping: which weights are kept and when training ends."""

import math
from dataclasses import asdict
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from chainrule.learning import losses
from chainrule.learning.metrics import Metric
from chainrule.learning.tasks import CLASSIFICATION, Task
from chainrule.models.feedforward.mlp import MLP
from chainrule.training import Settings, checkpoint, evaluate, fit
from chainrule.training.stopping import EarlyStopping, last_epoch


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


def test_the_best_weights_are_on_the_disk_even_without_patience(tmp_path: Path) -> None:
    history = fit(
        network(),
        noise(0),
        noise(1),
        settings=Settings(epochs=12, learning_rate=0.02),
        folder=tmp_path,
    )
    values = [record["validation_loss"] for record in history]
    best = network()
    tensors, state = checkpoint.load(tmp_path / "best.safetensors")
    best.load_state_dict(tensors)
    assert state["epoch"] == values.index(min(values)) + 1 < 12
    assert evaluate(best, noise(1), CLASSIFICATION)["loss"] == pytest.approx(min(values), rel=1e-6)


def test_patience_gives_back_the_best_weights() -> None:
    """Noise labels: the network overfits, validation loss rises, the best epoch comes back."""
    torch.manual_seed(0)
    x, y = torch.randn(60, 2), torch.randint(0, 2, (60,))
    held = torch.randn(60, 2), torch.randint(0, 2, (60,))
    model = network()
    settings = Settings(epochs=200, learning_rate=0.02, patience=5)
    history = fit(model, (x, y), held, settings=settings)
    values = [record["validation_loss"] for record in history]
    best = values.index(min(values)) + 1
    assert len(history) == best + 5 < 200
    found = evaluate(model, held, CLASSIFICATION)
    assert found["loss"] == pytest.approx(min(values), rel=1e-6)


def test_patience_may_watch_a_metric_that_should_grow() -> None:
    history = fit(
        network(),
        rings(),
        rings(seed=1),
        settings=Settings(epochs=100, learning_rate=0.02, patience=4, monitor="accuracy"),
    )
    values = [record["validation_accuracy"] for record in history]
    assert values.index(max(values)) + 1 + 4 == len(history)


def test_a_metric_of_ones_own_is_watched_in_its_better_direction() -> None:
    def share(output: Tensor, y: Tensor) -> float:
        return (output.argmax(1) == y).double().mean().item()

    settings = Settings(epochs=40, learning_rate=0.02, patience=3, monitor="share")
    for higher_is_better, best in ((True, max), (False, min)):
        task = Task("share", losses.cross_entropy, (Metric("share", share, higher_is_better),))
        history = fit(network(), rings(), rings(seed=1), settings=settings, task=task)
        values = [record["validation_share"] for record in history]
        assert values.index(best(values)) + 1 + 3 == len(history)


def test_a_metric_that_is_not_a_number_is_never_the_best() -> None:
    values = iter([float("nan"), 0.5, 0.9, float("nan"), 0.1, 0.1])
    odd = Metric("odd", lambda output, y: next(values), higher_is_better=True)
    task = Task("odd", losses.cross_entropy, (odd,))
    settings = Settings(epochs=6, patience=3, monitor="odd")
    assert len(fit(network(), rings(), rings(seed=1), settings=settings, task=task)) == 6


def naive(costs: list[float], patience: int) -> tuple[int, int]:
    """(epoch kept, epoch in which training ends), by looking at all epochs so far each time."""
    for end in range(1, len(costs) + 1):
        seen = costs[:end]
        kept = seen.index(min(seen)) + 1
        if patience and end - kept >= patience:
            return kept, end
    return (kept, end) if costs else (0, 0)


@pytest.mark.parametrize(
    ("costs", "patience", "expected"),
    [
        ([3, 2, 1], 1, (3, 3)),
        ([1, 2, 0], 1, (1, 2)),  # the better one comes too late
        ([1, 2, 0], 2, (3, 3)),
        ([1, 1, 1, 1], 3, (1, 4)),  # equal is not better
        ([1, 2, 3, 4, 0], 0, (5, 5)),
        ([math.inf, 1, math.inf], 2, (2, 3)),
        ([math.inf, math.inf, 1], 3, (3, 3)),
        ([], 2, (0, 0)),
    ],
)
def test_the_rule_keeps_the_best_epoch_and_ends_when_patience_runs_out(
    costs: list[float], patience: int, expected: tuple[int, int]
) -> None:
    assert last_epoch(map(float, costs), patience) == expected


@given(st.lists(st.integers(0, 5) | st.just(math.inf), max_size=12), st.integers(0, 5))
def test_the_rule_is_the_naive_one(costs: list[float], patience: int) -> None:
    assert last_epoch(map(float, costs), patience) == naive(costs, patience)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=12), st.integers(1, 4))
def test_a_rule_restored_in_the_middle_goes_on_as_if_nothing_had_happened(
    costs: list[float], patience: int
) -> None:
    rule = EarlyStopping(patience)
    for epoch, cost in enumerate(costs, 1):
        rule = EarlyStopping(**asdict(rule))
        assert rule.update(epoch, float(cost)) == (rule.best_epoch == epoch)
    assert rule.best_epoch == naive(costs, patience)[0]


def test_a_cost_that_comes_after_patience_has_run_out_is_not_taken() -> None:
    rule = EarlyStopping(2)
    assert [rule.update(epoch, float(cost)) for epoch, cost in enumerate([3, 4, 5, 1], 1)] == [
        True,
        False,
        False,
        False,
    ]
    assert (rule.best, rule.best_epoch) == (3, 1)
