"""Many networks at once: every member is what it would have become alone."""

from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.learning import losses
from chainrule.learning.tasks import CLASSIFICATION, Task
from chainrule.models.feedforward.mlp import MLP
from chainrule.models.feedforward.residual_network import ResidualNetwork
from chainrule.training import Settings, fit, iterate_many
from chainrule.training.batched import loop as many
from chainrule.training.batched.run import k_folds, stack_up
from chainrule.training.sources import Rows

torch.manual_seed(0)
X = torch.randn(150, 6, dtype=torch.float64)  # double: rounding must not hide behind Adam's ε
Y = (X[:, 0] * X[:, 1] > 0).long() + (X[:, 2] > 1).long()
HELD = torch.randn(40, 6, dtype=torch.float64), torch.randint(0, 3, (40,))


def network(seed: int, dropout: float = 0.0, norm: str | None = None) -> MLP:
    torch.manual_seed(seed)
    return MLP(6, [10, 8], 3, dropout=dropout, norm=norm).double()


def weights(model: nn.Module) -> Tensor:
    return torch.cat([t.detach().double().flatten() for t in model.state_dict().values()])


def agree(alone: nn.Module, member: nn.Module) -> None:
    torch.testing.assert_close(weights(alone), weights(member), rtol=1e-6, atol=1e-8)


def last(steps):  # type: ignore[no-untyped-def]
    *_, end = steps
    return end


COMMON = {"epochs": 4, "batch_size": 32, "schedule": "cosine"}
MEMBERS = {
    "seeds": [{"seed": 1}, {"seed": 2}, {"seed": 3}],
    "rates": [{"learning_rate": 1e-2}, {"learning_rate": 1e-3}, {"seed": 4}],
    "decays": [{"weight_decay": 0.1}, {"weight_decay": 0.0}, {"weight_decay": 0.01}],
    "smoothing": [{"label_smoothing": 0.2}, {"label_smoothing": 0.0}],
    "all": [
        {"seed": 1, "learning_rate": 2e-3, "weight_decay": 0.1, "label_smoothing": 0.1},
        {"seed": 2, "learning_rate": 5e-3},
    ],
}


@pytest.mark.parametrize("optimizer", ["adam", "adamw", "sgd", "momentum"])
@pytest.mark.parametrize("members", MEMBERS)
def test_a_member_equals_a_run_of_its_own(members: str, optimizer: str) -> None:
    settings = [Settings(**COMMON, optimizer=optimizer, **own) for own in MEMBERS[members]]
    together = [network(s.seed) for s in settings]
    end = last(iterate_many(together, (X, Y), HELD, settings))
    for k, s in enumerate(settings):
        alone = network(s.seed)
        history = fit(alone, (X, Y), HELD, settings=s)
        agree(alone, together[k])
        for name, value in end.members[k].items():
            assert value == pytest.approx(history[-1][name], rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("extra", [{}, {"clip_norm": 0.1}, {"class_weights": "balanced"}])
def test_dropout_norms_clipping_and_class_weights_too(extra: dict[str, object]) -> None:
    rates = [0.0, 0.3, 0.6]
    settings = [Settings(**COMMON, seed=k, **extra) for k in range(3)]
    for norm in (None, "batch", "layer"):
        together = [network(k, rate, norm) for k, rate in enumerate(rates)]
        last(iterate_many(together, (X, Y), None, settings))
        for k, rate in enumerate(rates):
            alone = network(k, rate, norm)
            fit(alone, (X, Y), None, settings=settings[k])
            agree(alone, together[k])


def test_augmentation_and_further_targets_too() -> None:
    def noisy(x: Tensor) -> Tensor:
        return x + 0.1 * torch.randn_like(x)

    def weighted(output: Tensor, y: Tensor, w: Tensor) -> Tensor:
        return w * losses.cross_entropy(output, y)

    task = Task("weighted", losses.cross_entropy, training_loss=weighted)
    split = (X, Y, torch.rand(len(X), dtype=torch.float64))
    settings = [Settings(**COMMON, seed=k) for k in range(2)]
    together = [network(k, 0.2) for k in range(2)]
    last(iterate_many(together, split, None, settings, task, augment=noisy))
    for k in range(2):
        alone = network(k, 0.2)
        fit(alone, Rows(split, augment=noisy), settings=settings[k], task=task)
        agree(alone, together[k])


def test_every_member_may_have_its_own_fold() -> None:
    """150 rows in 4 folds: 112 or 113 to learn from; the last batch is smaller for some."""
    parts = torch.randperm(150).tensor_split(4)
    folds = [(torch.cat([*parts[:k], *parts[k + 1 :]]), parts[k]) for k in range(4)]
    assert {len(rows) for rows, _ in folds} == {112, 113}  # one batch has a gap
    settings = [Settings(epochs=3, batch_size=32, seed=k) for k in range(4)]
    together = [network(k) for k in range(4)]
    end = last(iterate_many(together, (X, Y), None, settings, folds=folds))
    for k, (rows, held) in enumerate(folds):
        alone = network(k)
        history = fit(alone, (X[rows], Y[rows]), (X[held], Y[held]), settings=settings[k])
        agree(alone, together[k])
        assert end.members[k]["validation_loss"] == pytest.approx(
            history[-1]["validation_loss"], rel=1e-5
        )


def test_members_of_one_seed_and_fold_share_their_batches() -> None:
    """In whatever order they are given; each still equals a run of its own."""
    folds = k_folds(150, 3, seed=3)
    grid = [(rate, fold) for rate in (1e-3, 1e-2) for fold in range(3)]
    settings = [Settings(**COMMON, learning_rate=rate) for rate, _ in grid]
    together, rows = [network(k) for k in range(6)], [folds[fold] for _, fold in grid]
    batched = stack_up(together, (X, Y), None, settings, CLASSIFICATION, rows, None)
    assert (batched.groups, batched.order) == (3, [0, 3, 1, 4, 2, 5])
    end = last(iterate_many(together, (X, Y), None, settings, folds=rows))
    for k, (learned, held) in enumerate(rows):
        alone = network(k)
        record = last(
            fit(alone, (X[learned], Y[learned]), (X[held], Y[held]), settings=settings[k])
        )
        agree(alone, together[k])
        assert end.members[k]["validation_loss"] == pytest.approx(record["validation_loss"])
        for name in ("error", "accuracy"):
            assert end.members[k][f"validation_{name}"] == record[f"validation_{name}"]


def test_batches_are_shared_by_networks_that_do_not_begin_with_an_affine_map() -> None:
    def images(seed: int) -> nn.Module:
        torch.manual_seed(seed)
        layers = nn.Conv2d(1, 4, 2), nn.ReLU(), nn.Flatten(), nn.Linear(8, 3)
        return nn.Sequential(*layers).double()

    x = X.view(150, 1, 2, 3)
    settings = [Settings(**COMMON, learning_rate=rate) for rate in (1e-3, 1e-2)]
    together = [images(0), images(1)]
    last(iterate_many(together, (x, Y), None, settings))
    for k, own in enumerate(settings):
        alone = images(k)
        fit(alone, (x, Y), None, settings=own)
        agree(alone, together[k])


def test_class_weights_are_those_of_the_fold() -> None:
    folds = k_folds(150, 3, seed=3)
    settings = [
        Settings(epochs=2, batch_size=25, class_weights="balanced", seed=k) for k in (0, 1, 2)
    ]
    together = [network(k) for k in range(3)]
    last(iterate_many(together, (X, Y), None, settings, folds=folds))
    for k, (rows, held) in enumerate(folds):
        alone = network(k)
        fit(alone, (X[rows], Y[rows]), (X[held], Y[held]), settings=settings[k])
        agree(alone, together[k])


@pytest.mark.parametrize("rows", [258, 257])
def test_a_batch_of_one_is_looked_for_in_the_folds(rows: int) -> None:
    x, y = torch.randn(rows, 6, dtype=torch.float64), torch.randint(0, 3, (rows,))
    folds = k_folds(rows, 2, seed=0)
    models = [network(k, norm="batch") for k in range(2)]
    options = {"settings": [Settings(epochs=1)] * 2, "folds": folds}
    if rows == 258:  # 129 in each fold, in batches of 128
        with pytest.raises(InputError, match="batch of one"):
            iterate_many(models, (x, y), **options)
    else:
        assert last(iterate_many(models, (x, y), **options)).record["validation_loss"] > 0


def test_held_out_rows_go_through_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    losses = []
    for at_once in (2**22, 500):
        monkeypatch.setattr(many, "EVALUATION_NUMBERS", at_once)
        folds = k_folds(150, 3, seed=3)
        settings = [Settings(epochs=1, batch_size=25, seed=k) for k in range(3)]
        end = last(
            iterate_many([network(k) for k in range(3)], (X, Y), None, settings, folds=folds)
        )
        losses.append([member["validation_loss"] for member in end.members])
    assert losses[0] == pytest.approx(losses[1], rel=1e-12)


def test_gaps_in_a_batch_are_refused_where_it_is_normalized() -> None:
    folds = [(torch.arange(60), torch.arange(60, 70)), (torch.arange(59), torch.arange(60, 70))]
    models = [network(k, norm="batch") for k in range(2)]
    with pytest.raises(InputError, match="equally many rows"):
        last(iterate_many(models, (X, Y), None, [Settings(), Settings()], folds=folds))


@given(st.integers(2, 200), st.integers(2, 12))
def test_folds_hold_out_every_row_once_and_learn_from_equally_many(n: int, k: int) -> None:
    folds = k_folds(n, min(n, k), seed=1)
    assert torch.cat([held for _, held in folds]).sort().values.tolist() == list(range(n))
    for rows, held in folds:
        assert not set(rows.tolist()) & set(held.tolist())
        assert len(rows) + len(held) >= n - 1
    assert len({len(rows) for rows, _ in folds}) == 1


def test_every_member_stops_at_its_own_best_epoch() -> None:
    settings = [
        Settings(epochs=60, batch_size=32, patience=3, seed=k, learning_rate=rate)
        for k, rate in enumerate((0.02, 0.002))
    ]
    together = [network(k) for k in range(2)]
    last(iterate_many(together, (X, Y), HELD, settings))
    for k in range(2):
        alone = network(k)
        fit(alone, (X, Y), HELD, settings=settings[k])
        agree(alone, together[k])


def test_a_member_that_diverges_leaves_the_others_alone() -> None:
    settings = [Settings(**COMMON, optimizer="sgd", learning_rate=rate) for rate in (1e300, 0.1)]
    together = [network(0), network(0)]
    end = last(iterate_many(together, (X, Y), HELD, settings))
    assert end.members[0]["validation_loss"] == float("inf")
    assert end.record["validation_loss"] == end.members[1]["validation_loss"]
    alone = network(0)
    fit(alone, (X, Y), HELD, settings=settings[1])
    agree(alone, together[1])


@pytest.mark.parametrize("stop_after", [1, 4, 9])
def test_an_interrupted_batched_run_goes_on_to_identical_weights(
    stop_after: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chainrule.training.loop.TICK", 0.0)
    settings = [
        Settings(**COMMON, seed=k, learning_rate=0.01 / (k + 1), patience=2) for k in range(2)
    ]
    straight, broken = [[network(k, 0.3) for k in range(2)] for _ in range(2)]
    last(iterate_many(straight, (X, Y), HELD, settings))
    steps = iterate_many(broken, (X, Y), HELD, settings, folder=tmp_path)
    for number, _ in enumerate(steps, 1):
        if number == stop_after:
            steps.close()
    last(iterate_many(broken, (X, Y), HELD, settings, folder=tmp_path))
    for a, b in zip(straight, broken, strict=True):
        assert torch.equal(weights(a), weights(b))


def test_other_models_can_be_stacked_as_well() -> None:
    def residual(seed: int) -> ResidualNetwork:
        torch.manual_seed(seed)
        return ResidualNetwork(6, 8, 3, 3).double()

    together = [residual(k) for k in range(2)]
    settings = [Settings(**COMMON, seed=k) for k in range(2)]
    last(iterate_many(together, (X, Y), None, settings))
    for k in range(2):
        alone = residual(k)
        fit(alone, (X, Y), None, settings=settings[k])
        agree(alone, together[k])


class LooksAtItsData(nn.Linear):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x if x.sum() > 0 else -x)


class DrawsAtRandom(nn.Linear):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x + torch.rand(1))


@pytest.mark.parametrize("kind", [LooksAtItsData, DrawsAtRandom])
def test_a_model_that_cannot_be_batched_is_refused(kind: type[nn.Linear]) -> None:
    with pytest.raises(InputError, match=f"{kind.__name__} cannot be trained many at once"):
        last(iterate_many([kind(6, 3).double(), kind(6, 3).double()], (X, Y)))


def test_what_does_not_belong_together_is_refused() -> None:
    pair = [network(0), network(1)]
    for models, settings, message in (
        ([], [], "at least one network"),
        (pair, [Settings()], "expected 2 settings, one per network, got 1"),
        (pair, [Settings(), Settings(epochs=3)], "must agree in `epochs`, got 20, 3"),
        (pair, [Settings(compile=True)] * 2, "`compile` is not for networks trained together"),
        ([network(0), MLP(6, [4], 3).double()], [Settings()] * 2, "must be of one architecture"),
    ):
        with pytest.raises(InputError, match=message):
            last(iterate_many(models, (X, Y), None, settings))
    with pytest.raises(InputError, match="one fold per network, got 1 for 2"):
        last(iterate_many(pair, (X, Y), folds=[(torch.arange(9), torch.arange(9))]))
    uneven = [(torch.arange(128), torch.arange(9)), (torch.arange(129), torch.arange(9))]
    with pytest.raises(InputError, match="1 to 2 batches an epoch"):
        last(iterate_many(pair, (X, Y), folds=uneven))
