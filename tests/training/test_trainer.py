"""One network: what it learns, what it repeats, what it gives back."""

import math
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from chainrule.errors import DivergenceError
from chainrule.learning import losses
from chainrule.learning.tasks import Task
from chainrule.models.feedforward.mlp import MLP
from chainrule.training import Settings, fit, iterate, outputs
from chainrule.training.randomness import mix, permutation
from chainrule.training.sources import Rows


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
    history = fit(model, data, rings(seed=1), settings=Settings(epochs=30, learning_rate=0.02))
    assert [record["epoch"] for record in history] == list(range(1, 31))
    assert history[-1]["validation_error"] < 0.03 < history[0]["validation_error"]
    assert history[-1]["train_loss"] < history[0]["train_loss"]


def test_it_is_the_plain_loop_bit_for_bit() -> None:
    """The same batches, loss and optimizer written out in ten lines."""
    settings = Settings(epochs=3, batch_size=32, learning_rate=0.01, seed=5)
    ours, plain, (x, y) = network(), network(), rings()
    fit(ours, (x, y), None, settings=settings)
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
        fit(model, rings(), None, settings=Settings(epochs=3, seed=seed))
        return weights(model)

    assert torch.equal(trained(1), trained(1))
    assert not torch.equal(trained(1), trained(2))


def test_what_the_caller_draws_at_random_does_not_disturb_the_run() -> None:
    quiet, noisy = network(dropout=0.3), network(dropout=0.3)
    fit(quiet, rings(), None, settings=Settings(epochs=3))
    for _ in iterate(noisy, rings(), None, settings=Settings(epochs=3)):
        torch.rand(17)
    assert torch.equal(weights(quiet), weights(noisy))


def test_the_callers_own_randomness_goes_on_as_if_nothing_had_run() -> None:
    model = network(dropout=0.3)
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    fit(model, rings(), None, settings=Settings(epochs=1))
    assert torch.equal(torch.rand(3), expected)


@pytest.mark.parametrize("class_weights", ["none", "balanced"])
def test_a_batch_in_parts_gives_the_gradient_of_the_whole(class_weights: str) -> None:
    whole, parts = network().double(), network().double()
    x, y = rings()
    for model, accumulate in ((whole, 1), (parts, 3)):
        settings = Settings(
            epochs=2, batch_size=50, accumulate=accumulate, class_weights=class_weights
        )
        fit(model, (x.double()[:150], y[:150]), None, settings=settings)
    torch.testing.assert_close(weights(whole), weights(parts), rtol=1e-9, atol=1e-12)


def test_balanced_class_weights_make_rare_classes_count() -> None:
    """One example in ten is of class 1 and nothing tells them apart: the fair guess is one half."""
    x, y = torch.zeros(200, 2), (torch.arange(200) % 10 == 0).long()
    plain, fair = network(), network()
    fit(plain, (x, y), None, settings=Settings(epochs=60, learning_rate=0.02))
    fit(
        fair,
        (x, y),
        None,
        settings=Settings(epochs=60, learning_rate=0.02, class_weights="balanced"),
    )
    assert outputs(plain, (x[:1],)).softmax(1)[0, 1] == pytest.approx(0.1, abs=0.03)
    assert outputs(fair, (x[:1],)).softmax(1)[0, 1] == pytest.approx(0.5, abs=0.06)


def test_clipping_bounds_the_step() -> None:
    model, (x, y) = network(), rings()
    before = weights(model)
    settings = Settings(
        epochs=1, batch_size=200, optimizer="sgd", learning_rate=1.0, clip_norm=0.01
    )
    fit(model, (1000 * x, y), None, settings=settings)
    assert (weights(model) - before).norm() == pytest.approx(0.01, rel=1e-3)


def test_mixed_precision_and_memory_mapped_inputs_work_too(tmp_path: Path) -> None:
    import numpy as np

    x, y = rings()
    np.save(tmp_path / "x.npy", x.numpy())
    mapped = torch.from_numpy(np.load(tmp_path / "x.npy", mmap_mode="c"))
    model = network()
    history = fit(
        model,
        (mapped, y),
        rings(seed=1),
        settings=Settings(epochs=20, precision="mixed", learning_rate=0.02),
    )
    assert history[-1]["validation_loss"] < 0.3
    assert next(model.parameters()).dtype == torch.float32


def test_the_schedule_moves_the_learning_rate() -> None:
    """With a rate that falls to nothing, the last steps are the smallest."""
    model, moved = network(), []
    before = weights(model)
    for progress in iterate(model, rings(), None, settings=Settings(epochs=10, schedule="cosine")):
        if progress.record:
            moved.append((weights(model) - before).norm().item())
            before = weights(model)
    assert moved[-1] < 0.2 * max(moved)


def test_a_loss_that_is_not_finite_stops_before_the_weights_are_harmed() -> None:
    """The loss of the very first step is infinite: not one weight may have moved."""
    model = network()

    def infinite(output: Tensor, y: Tensor) -> Tensor:
        return losses.cross_entropy(output, y) / (0 if model.training else 1)

    with pytest.raises(DivergenceError, match=r"became inf in epoch 1, step 1.*`learning_rate`"):
        fit(model, rings(), None, settings=Settings(epochs=5), task=Task("infinite", infinite))
    assert torch.equal(weights(model), weights(network()))


def test_parts_that_receive_no_gradient_are_left_alone() -> None:
    class HalfUsed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.used, self.unused = nn.Linear(2, 2), nn.Linear(2, 2)

        def forward(self, x: Tensor) -> Tensor:
            return self.used(x)

    model = HalfUsed()
    before = model.unused.weight.clone()
    fit(model, rings(), None, settings=Settings(epochs=2))
    assert torch.equal(model.unused.weight, before)


def test_labels_may_be_of_any_integer_type() -> None:
    x, y = rings()
    for labels in (y.int(), y.to(torch.uint8), y.bool()):
        assert fit(network(), (x, labels), (x, labels), settings=Settings(epochs=1))


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

    fit(
        network(),
        rings(),
        None,
        settings=Settings(epochs=1, precision="mixed"),
        task=Task("watching", watching),
    )
    assert set(seen) == {torch.float32}


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

    task = Task("weighted", losses.cross_entropy, training_loss=weighted)
    model, still = network(), network()
    settings = Settings(epochs=2, batch_size=64)
    fit(
        model, Rows((x, y, torch.ones(len(x))), augment=noisy), (x, y), settings=settings, task=task
    )
    assert sum(seen) == 2 * len(x)
    fit(still, (x, y, torch.zeros(len(x))), (x, y), settings=Settings(epochs=2), task=task)
    assert torch.equal(weights(still), weights(network()))
    assert not torch.equal(weights(model), weights(network()))


def test_the_lasso_sets_weights_to_zero() -> None:
    free, sparse = network(), network()
    for model, lasso in ((free, 0.0), (sparse, 0.1)):
        fit(model, rings(), None, settings=Settings(epochs=40, learning_rate=0.01, lasso=lasso))

    def zeros(model: nn.Module) -> int:
        return sum(int((p == 0).sum()) for p in model.parameters() if p.ndim > 1)

    assert zeros(free) == 0
    assert zeros(sparse) > 10
