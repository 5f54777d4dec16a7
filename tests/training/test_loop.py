"""The engine: what it learns, what it repeats, what it gives back."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.learning import losses
from chainrule.learning.tasks import CLASSES, Objective
from chainrule.models.feedforward.mlp import MLP
from chainrule.training import Settings, checkpoint, evaluate, fit, outputs, train
from chainrule.training.randomness import mix, permutation


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


def test_a_network_learns_and_reports_every_epoch() -> None:
    model, data = network(), rings()
    history = train(model, data, rings(seed=1), Settings(epochs=30, learning_rate=0.02))
    assert [record["epoch"] for record in history] == list(range(1, 31))
    assert history[-1]["validation_error"] < 0.03 < history[0]["validation_error"]
    assert history[-1]["train_loss"] < history[0]["train_loss"]


def test_it_is_the_plain_loop_bit_for_bit() -> None:
    """The same batches, loss and optimizer written out in ten lines."""
    settings = Settings(epochs=3, batch_size=32, learning_rate=0.01, seed=5)
    ours, plain, (x, y) = network(), network(), rings()
    train(ours, (x, y), None, settings)
    adam = torch.optim.Adam(plain.parameters(), 0.01, fused=True)
    for epoch in range(3):
        for rows in permutation(len(x), 5, epoch).split(32):
            adam.zero_grad()
            losses.cross_entropy(plain(x[rows]), y[rows]).mean().backward()
            adam.step()
    assert torch.equal(weights(ours), weights(plain))


def test_the_same_seed_gives_the_same_weights_and_another_seed_others() -> None:
    def trained(seed: int) -> Tensor:
        model = network(dropout=0.3)
        train(model, rings(), None, Settings(epochs=3, seed=seed))
        return weights(model)

    assert torch.equal(trained(1), trained(1))
    assert not torch.equal(trained(1), trained(2))


def test_what_the_caller_draws_at_random_does_not_disturb_the_run() -> None:
    quiet, noisy = network(dropout=0.3), network(dropout=0.3)
    train(quiet, rings(), None, Settings(epochs=3))
    for _ in fit(noisy, rings(), None, Settings(epochs=3)):
        torch.rand(17)
    assert torch.equal(weights(quiet), weights(noisy))


def test_the_callers_own_randomness_goes_on_as_if_nothing_had_run() -> None:
    model = network(dropout=0.3)
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    train(model, rings(), None, Settings(epochs=1))
    assert torch.equal(torch.rand(3), expected)


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
    history = train(straight, noise(0), noise(1), settings)
    steps = fit(broken, noise(0), noise(1), settings, folder=tmp_path)
    for number, _ in enumerate(steps, 1):
        if number == stop_after:
            steps.close()
    resumed = MLP(2, [16, 16], 2, dropout=0.3)  # other weights: all must come from the checkpoint
    again = train(resumed, noise(0), noise(1), settings, folder=tmp_path)
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
    train(straight, data, None, settings)
    steps = fit(broken, data, None, settings, folder=tmp_path)
    next(progress for progress in steps if progress.epoch == 2 and progress.record)
    steps.close()
    train(resumed, data, None, settings, folder=tmp_path)
    assert torch.equal(weights(straight), weights(resumed))
    assert straight[0].weight.is_contiguous(memory_format=torch.channels_last)


def test_a_checkpoint_of_other_settings_or_data_is_refused(tmp_path: Path) -> None:
    train(network(), rings(), None, Settings(epochs=1), folder=tmp_path)
    with pytest.raises(InputError, match="comes from another run: it differs in seed, epochs"):
        train(network(), rings(), None, Settings(epochs=2, seed=1), folder=tmp_path)
    with pytest.raises(InputError, match="differs in examples"):
        train(network(), rings(100), None, Settings(epochs=1), folder=tmp_path)


def test_the_best_weights_are_on_the_disk_even_without_patience(tmp_path: Path) -> None:
    history = train(
        network(), noise(0), noise(1), Settings(epochs=12, learning_rate=0.02), folder=tmp_path
    )
    values = [record["validation_loss"] for record in history]
    best = network()
    tensors, state = checkpoint.load(tmp_path / "best.safetensors")
    best.load_state_dict(tensors)
    assert state["epoch"] == values.index(min(values)) + 1 < 12
    assert evaluate(best, noise(1), CLASSES)["loss"] == pytest.approx(min(values), rel=1e-6)


def test_patience_gives_back_the_best_weights() -> None:
    """Noise labels: the network overfits, validation loss rises, the best epoch comes back."""
    torch.manual_seed(0)
    x, y = torch.randn(60, 2), torch.randint(0, 2, (60,))
    held = torch.randn(60, 2), torch.randint(0, 2, (60,))
    model = network()
    settings = Settings(epochs=200, learning_rate=0.02, patience=5)
    history = train(model, (x, y), held, settings)
    values = [record["validation_loss"] for record in history]
    best = values.index(min(values)) + 1
    assert len(history) == best + 5 < 200
    found = evaluate(model, held, CLASSES)
    assert found["loss"] == pytest.approx(min(values), rel=1e-6)


def test_patience_may_watch_a_metric_that_should_grow() -> None:
    history = train(
        network(),
        rings(),
        rings(seed=1),
        Settings(epochs=100, learning_rate=0.02, patience=4, monitor="accuracy"),
    )
    values = [record["validation_accuracy"] for record in history]
    assert values.index(max(values)) + 1 + 4 == len(history)


@pytest.mark.parametrize("class_weights", ["none", "balanced"])
def test_a_batch_in_parts_gives_the_gradient_of_the_whole(class_weights: str) -> None:
    whole, parts = network().double(), network().double()
    x, y = rings()
    for model, accumulate in ((whole, 1), (parts, 3)):
        settings = Settings(
            epochs=2, batch_size=50, accumulate=accumulate, class_weights=class_weights
        )
        train(model, (x.double()[:150], y[:150]), None, settings)
    torch.testing.assert_close(weights(whole), weights(parts), rtol=1e-9, atol=1e-12)


def test_balanced_class_weights_make_rare_classes_count() -> None:
    """One example in ten is of class 1 and nothing tells them apart: the fair guess is one half."""
    x, y = torch.zeros(200, 2), (torch.arange(200) % 10 == 0).long()
    plain, fair = network(), network()
    train(plain, (x, y), None, Settings(epochs=60, learning_rate=0.02))
    train(fair, (x, y), None, Settings(epochs=60, learning_rate=0.02, class_weights="balanced"))
    assert outputs(plain, (x[:1],)).softmax(1)[0, 1] == pytest.approx(0.1, abs=0.03)
    assert outputs(fair, (x[:1],)).softmax(1)[0, 1] == pytest.approx(0.5, abs=0.06)


def test_clipping_bounds_the_step() -> None:
    model, (x, y) = network(), rings()
    before = weights(model)
    settings = Settings(epochs=1, batch_size=200, optimizer="sgd", learning_rate=1.0, clip=0.01)
    train(model, (1000 * x, y), None, settings)
    assert (weights(model) - before).norm() == pytest.approx(0.01, rel=1e-3)


def test_mixed_precision_and_memory_mapped_inputs_work_too(tmp_path: Path) -> None:
    import numpy as np

    x, y = rings()
    np.save(tmp_path / "x.npy", x.numpy())
    mapped = torch.from_numpy(np.load(tmp_path / "x.npy", mmap_mode="c"))
    model = network()
    history = train(
        model,
        (mapped, y),
        rings(seed=1),
        Settings(epochs=20, precision="mixed", learning_rate=0.02),
    )
    assert history[-1]["validation_loss"] < 0.3
    assert next(model.parameters()).dtype == torch.float32


def test_the_schedule_moves_the_learning_rate() -> None:
    """With a rate that falls to nothing, the last steps are the smallest."""
    model, moved = network(), []
    before = weights(model)
    for progress in fit(model, rings(), None, Settings(epochs=10, schedule="cosine")):
        if progress.record:
            moved.append((weights(model) - before).norm().item())
            before = weights(model)
    assert moved[-1] < 0.2 * max(moved)


def test_a_loss_that_is_not_finite_stops_before_the_weights_are_harmed() -> None:
    """The loss of the very first step is infinite: not one weight may have moved."""
    model = network()

    def infinite(output: Tensor, y: Tensor) -> Tensor:
        return losses.cross_entropy(output, y) / (0 if model.training else 1)

    with pytest.raises(InputError, match=r"became inf in epoch 1, step 1.*--learning-rate"):
        train(model, rings(), None, Settings(epochs=5), Objective(infinite))
    assert torch.equal(weights(model), weights(network()))


def test_a_metric_of_ones_own_may_be_watched_once_its_better_side_is_known() -> None:
    def share(output: Tensor, y: Tensor) -> float:
        return (output.argmax(1) == y).double().mean().item()

    settings = Settings(epochs=40, learning_rate=0.02, patience=3, monitor="share")
    with pytest.raises(InputError, match="whether more or less share is better is not known"):
        train(network(), rings(), rings(seed=1), settings, Objective(metrics={"share": share}))
    objective = Objective(metrics={"share": share}, greater=frozenset({"share"}))
    history = train(network(), rings(), rings(seed=1), settings, objective)
    values = [record["validation_share"] for record in history]
    assert values.index(max(values)) + 1 + 3 == len(history)


def test_a_metric_that_is_not_a_number_is_never_the_best() -> None:
    values = iter([float("nan"), 0.5, 0.9, float("nan"), 0.1, 0.1])
    objective = Objective(
        metrics={"odd": lambda output, y: next(values)}, greater=frozenset({"odd"})
    )
    settings = Settings(epochs=6, patience=3, monitor="odd")
    assert len(train(network(), rings(), rings(seed=1), settings, objective)) == 6


def test_parts_that_receive_no_gradient_are_left_alone() -> None:
    class HalfUsed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.used, self.unused = nn.Linear(2, 2), nn.Linear(2, 2)

        def forward(self, x: Tensor) -> Tensor:
            return self.used(x)

    model = HalfUsed()
    before = model.unused.weight.clone()
    train(model, rings(), None, Settings(epochs=2))
    assert torch.equal(model.unused.weight, before)


def test_labels_may_be_of_any_integer_type() -> None:
    x, y = rings()
    for labels in (y.int(), y.to(torch.uint8), y.bool()):
        assert train(network(), (x, labels), (x, labels), Settings(epochs=1))


def test_answers_come_in_evaluation_mode_and_leave_the_mode_alone() -> None:
    model, (x, _) = network(dropout=0.5), rings()
    model.train()
    assert torch.equal(outputs(model, (x,)), outputs(model, (x,)))
    assert model.training


def test_the_loss_is_taken_in_full_precision_when_products_are_not() -> None:
    seen = []

    def watching(output: Tensor, y: Tensor) -> Tensor:
        seen.append(output.dtype)
        return losses.cross_entropy(output, y)

    train(network(), rings(), None, Settings(epochs=1, precision="mixed"), Objective(watching))
    assert set(seen) == {torch.float32}


def test_a_checkpoint_is_never_overwritten_by_ruined_weights(tmp_path: Path) -> None:
    from chainrule.learning.optimizers import optimizer
    from chainrule.training.state import LAST, State

    model = network()
    state = State(model, optimizer("adam", model.parameters(), 0.1))
    state.save(tmp_path)
    good = (tmp_path / LAST).read_bytes()
    with torch.no_grad():
        model.layers[0].weight[0, 0] = torch.nan
    with pytest.raises(InputError, match=r"no longer finite.*last good checkpoint is kept"):
        state.save(tmp_path)
    assert (tmp_path / LAST).read_bytes() == good


def test_seeds_of_different_places_differ() -> None:
    seen = {mix(seed, number) for seed in range(50) for number in range(200)}
    assert len(seen) == 50 * 200
    assert all(0 <= value < 2**63 for value in seen)


def test_other_targets_in_training_and_augmented_inputs() -> None:
    """Weights as a second target, zero for examples not to be learned; noise on the inputs."""

    def weighted(output: Tensor, y: Tensor, w: Tensor) -> Tensor:
        return w * losses.cross_entropy(output, y)

    x, y = rings()
    seen = []

    def noisy(inputs: Tensor) -> Tensor:
        seen.append(len(inputs))
        return inputs + 0.01 * torch.randn_like(inputs)

    objective = Objective(losses.cross_entropy, training_loss=weighted, augment=noisy)
    model, still = network(), network()
    settings = Settings(epochs=2, batch_size=64)
    train(model, (x, y, torch.ones(len(x))), (x, y), settings, objective)
    assert sum(seen) == 2 * len(x)
    train(still, (x, y, torch.zeros(len(x))), (x, y), Settings(epochs=2), objective)
    assert torch.equal(weights(still), weights(network()))
    assert not torch.equal(weights(model), weights(network()))


def test_averaged_weights_are_kept_and_survive_an_interruption(tmp_path: Path) -> None:
    settings = Settings(epochs=6, learning_rate=0.02, averaging=0.9)
    plain, straight, broken, resumed = (network() for _ in range(4))
    train(plain, rings(), rings(seed=1), replace(settings, averaging=0.0))
    history = train(straight, rings(), rings(seed=1), settings)
    assert not torch.equal(weights(plain), weights(straight))
    found = evaluate(straight, rings(seed=1), CLASSES)
    assert found["loss"] == pytest.approx(history[-1]["validation_loss"], rel=1e-6)
    steps = fit(broken, rings(), rings(seed=1), settings, folder=tmp_path)
    next(progress for progress in steps if progress.epoch == 3 and progress.record)
    steps.close()
    train(resumed, rings(), rings(seed=1), settings, folder=tmp_path)
    assert torch.equal(weights(straight), weights(resumed))


def test_the_lasso_sets_weights_to_zero() -> None:
    free, sparse = network(), network()
    for model, lasso in ((free, 0.0), (sparse, 0.1)):
        train(model, rings(), None, Settings(epochs=40, learning_rate=0.01, lasso=lasso))

    def zeros(model: nn.Module) -> int:
        return sum(int((p == 0).sum()) for p in model.parameters() if p.ndim > 1)

    assert zeros(free) == 0
    assert zeros(sparse) > 10
