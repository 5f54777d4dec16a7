"""A model, loss, metrics, schedule and callbacks of one's own, through the front door."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset, IterableDataset

import chainrule as cr
from chainrule.errors import InputError, StopTraining
from chainrule.models.feedforward import MLP
from chainrule.training.progress import Progress

X = torch.randn(40, 3, generator=torch.Generator().manual_seed(0))
Z = torch.randn(40, 2, generator=torch.Generator().manual_seed(1))
Y = (X[:, 0] > 0).long()
QUIET = {"progress": False, "batch_size": 16}


def mlp() -> MLP:
    torch.manual_seed(0)
    return MLP(3, [8], 2)


def weights(model: nn.Module) -> Tensor:
    return torch.cat([p.detach().flatten() for p in model.parameters()])


class TwoInputs(nn.Module):
    """Takes its second input by keyword only."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.x, self.z = nn.Linear(3, 2), nn.Linear(2, 2)

    def forward(self, x: Tensor, *, extra: Tensor) -> Tensor:
        return self.x(x) + self.z(extra)


class Positional(TwoInputs):
    def forward(self, extra: Tensor, x: Tensor) -> Tensor:
        return super().forward(x, extra=extra)


class Rows(Dataset):
    """Items whose inputs are a dictionary."""

    def __len__(self) -> int:
        return len(X)

    def __getitem__(self, row: int) -> tuple[dict[str, Tensor], Tensor]:
        return {"x": X[row], "extra": Z[row]}, Y[row]


NAMED = {"x": X, "extra": Z}


@pytest.mark.parametrize("form", [lambda: (NAMED, Y), Rows])
def test_a_dictionary_of_inputs_goes_to_the_arguments_of_these_names(form: Any) -> None:
    by_position, by_name = Positional(), TwoInputs()
    cr.fit(by_position, ((Z, X), Y), epochs=2, **QUIET)
    cr.fit(by_name, form(), epochs=2, **QUIET)
    assert torch.equal(weights(by_name), weights(by_position))
    assert cr.evaluate(by_name, form()) == cr.evaluate(by_position, ((Z, X), Y))
    assert torch.equal(cr.predict(by_name, NAMED), cr.predict(by_position, Z, X))


def test_a_loader_of_dictionaries_trains_too_and_resumes(tmp_path: Path) -> None:
    straight, broken = TwoInputs(), TwoInputs()
    cr.fit(straight, DataLoader(Rows(), 16, shuffle=True), epochs=4, progress=False)
    steps = cr.iterate(
        broken, DataLoader(Rows(), 16, shuffle=True), epochs=4, folder=tmp_path, tick=0.0
    )
    for _, _ in zip(range(5), steps, strict=False):
        pass
    steps.close()
    fresh = TwoInputs()
    cr.fit(fresh, DataLoader(Rows(), 16, shuffle=True), epochs=4, folder=tmp_path, progress=False)
    assert torch.equal(weights(fresh), weights(straight))


def test_a_missing_argument_is_named() -> None:
    with pytest.raises(InputError, match=r"does not take inputs .* 'extra'"):
        cr.fit(TwoInputs(), ({"x": X}, Y), **QUIET)


def reduced(output: Tensor, y: Tensor) -> Tensor:
    return F.cross_entropy(output, y)


def per_example(output: Tensor, y: Tensor) -> Tensor:
    return F.cross_entropy(output, y, reduction="none")


@pytest.mark.parametrize("loss", [reduced, per_example, nn.CrossEntropyLoss()])
def test_a_loss_may_be_reduced_or_per_example(loss: Any) -> None:
    own, usual = mlp(), mlp()
    history = cr.fit(own, (X, Y), (X, Y), loss=loss, metrics=["accuracy"], epochs=2, **QUIET)
    known = cr.fit(usual, (X, Y), (X, Y), epochs=2, **QUIET)
    torch.testing.assert_close(weights(own), weights(usual))
    assert history[-1]["validation_accuracy"] == known[-1]["validation_accuracy"]
    assert set(history[-1]) == {
        "epoch",
        "train_loss",
        "validation_loss",
        "validation_accuracy",
        "seconds",
    }


def hits(output: Tensor, y: Tensor) -> Tensor:
    return (output.argmax(1) == y).double().mean()


def test_a_metric_of_ones_own_is_printed_and_drawn_by_its_direction() -> None:
    own = [cr.Metric("hits", hits, higher_is_better=True, percent=True)]
    history = cr.fit(mlp(), (X, Y), (X, Y), metrics=own, epochs=3, learning_rate=0.05, **QUIET)
    values = [record["validation_hits"] for record in history]
    assert all(isinstance(value, float) for value in values)
    assert f"validation_hits {100 * values[-1]:.2f} %" in repr(history)
    assert max(values) > min(values)
    titles = [axes.get_title("left") for axes in history.plot().axes]
    assert any("hits" in title and f"{100 * max(values):.2f} %" in title for title in titles)


def test_a_metric_may_turn_the_direction_of_a_known_name() -> None:
    own = [cr.Metric("accuracy", hits)]
    history = cr.fit(mlp(), (X, Y), (X, Y), metrics=own, epochs=1, **QUIET)
    assert "accuracy" not in history.higher_is_better and "auc" in history.higher_is_better


def test_early_stopping_may_watch_a_metric_of_ones_own() -> None:
    falling = iter(range(100, 0, -1))
    own = [cr.Metric("score", lambda *_: next(falling), higher_is_better=True)]
    history = cr.fit(
        mlp(), (X, Y), (X, Y), metrics=own, monitor="score", patience=2, epochs=9, **QUIET
    )
    assert (len(history), history.kept) == (3, 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": [hits]}, "is a higher hits better"),
        ({"metrics": "accuracy"}, "`metrics` must be a sequence, each a string or"),
        ({"metrics": ["accurcy"]}, "accuracy"),
        ({"metrics": ["bleu"]}, "unknown metric|no metric"),
        ({"metrics": ["error", "error"]}, "two `metrics` are called error"),
        ({"loss": "mse"}, "`loss` must be a function or None, got 'mse'"),
        ({"loss": reduced, "task": reduced}, "give `loss` or `task`, not both"),
        ({"callbacks": [3]}, "`callbacks` must be a sequence, each a function"),
        ({"callbacks": print}, "`callbacks` must be a sequence, each a function"),
        ({"schedule": "cosin"}, "cosine"),
        ({"schedule": lambda step, steps: -1.0}, "expected a factor of at least 0 from `schedule`"),
    ],
)
def test_misuse_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        cr.fit(mlp(), (X, Y), epochs=1, **QUIET, **options)


def test_a_schedule_of_ones_own_is_a_factor_of_the_rate() -> None:
    def linear(step: int, steps: int) -> float:
        return 1 - step / steps

    own, by_hand = mlp(), mlp()
    cr.fit(
        own, (X, Y), optimizer="gd", learning_rate=0.1, schedule=linear, epochs=3, progress=False
    )
    for t in range(3):
        by_hand.zero_grad()
        F.cross_entropy(by_hand(X), Y).backward()
        with torch.no_grad():
            for p in by_hand.parameters():
                p -= 0.1 * (1 - t / 3) * p.grad
    torch.testing.assert_close(weights(own), weights(by_hand))


def raising(now: Progress) -> None:
    if now.epoch == 2:
        raise StopTraining("enough")


@pytest.mark.parametrize(
    ("callback", "reason"),
    [(raising, "enough"), (lambda now: now.epoch < 2, "stopped by a callback")],
)
def test_a_callback_ends_the_run(callback: Any, reason: str, tmp_path: Path) -> None:
    seen: list[int] = []
    both = [lambda now: seen.append(now.epoch), callback]
    model, two = mlp(), mlp()
    options = {"epochs": 5, "callbacks": both, "folder": tmp_path}
    history = cr.fit(model, (X, Y), **options, **QUIET)
    assert (len(history), history.stopped, seen) == (2, reason, [1, 2])
    for progress in (steps := cr.iterate(two, (X, Y), epochs=5, batch_size=16)):
        if progress.record and progress.epoch == 2:
            steps.close()
    assert torch.equal(weights(model), weights(two))
    again = cr.fit(mlp(), (X, Y), **options, **QUIET)  # it has ended: nothing is trained
    assert (len(again), again.stopped, seen) == (2, reason, [1, 2, 1, 2])


def test_a_run_ended_by_a_callback_keeps_its_best_weights() -> None:
    costs = iter([1.0, 2.0, 3.0])
    worse = cr.Metric("worse", lambda *_: next(costs))
    options = {"metrics": [worse], "monitor": "worse", "patience": 9}
    model, one = mlp(), mlp()
    ended = [lambda now: now.epoch < 3]
    cr.fit(model, (X, Y), (X, Y), epochs=5, callbacks=ended, **options, **QUIET)
    cr.fit(one, (X, Y), epochs=5, callbacks=[lambda now: False], **QUIET)
    assert torch.equal(weights(model), weights(one))


def test_a_resumed_run_calls_callbacks_for_past_epochs_first(tmp_path: Path) -> None:
    steps = cr.iterate(mlp(), (X, Y), epochs=4, batch_size=16, folder=tmp_path)
    next(now for now in steps if now.epoch == 2 and now.record)
    steps.close()
    seen: list[tuple[int, bool]] = []

    def stop_in_the_past(now: Progress) -> bool:
        seen.append((now.epoch, now.past))
        return not now.past

    model, straight = mlp(), mlp()
    cr.fit(model, (X, Y), epochs=4, folder=tmp_path, callbacks=[stop_in_the_past], **QUIET)
    cr.fit(straight, (X, Y), epochs=4, **QUIET)
    assert seen == [(1, True), (2, True), (3, False), (4, False)]
    assert torch.equal(weights(model), weights(straight))


class Stream(IterableDataset):
    """Rows in an order drawn anew in every pass."""

    def __len__(self) -> int:
        return len(X)

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        for row in torch.randperm(len(X)):
            yield X[row], Y[row]


def test_an_iterable_dataset_of_known_length_is_read_by_the_seed(tmp_path: Path) -> None:
    straight, again, other = mlp(), mlp(), mlp()
    for model, seed in ((straight, 0), (again, 0), (other, 1)):
        cr.fit(model, Stream(), epochs=2, seed=seed, **QUIET)
    assert torch.equal(weights(straight), weights(again))
    assert not torch.equal(weights(straight), weights(other))
    steps = cr.iterate(mlp(), Stream(), epochs=2, batch_size=16, folder=tmp_path, tick=0.0)
    for _, _ in zip(range(2), steps, strict=False):
        pass
    steps.close()
    resumed = mlp()
    cr.fit(resumed, Stream(), epochs=2, folder=tmp_path, **QUIET)
    assert torch.equal(weights(resumed), weights(straight))


@pytest.mark.parametrize(
    ("other", "what"),
    [
        ({"batch_size": 8}, "loader_batch_size"),
        ({"batch_size": 16, "drop_last": True}, "loader_batches"),
        ({"batch_size": 16, "shuffle": True}, "loader_sampler"),
        (
            {"batch_sampler": torch.utils.data.BatchSampler(range(40), 10, False)},
            "loader_batch_size",
        ),
    ],
)
def test_a_loader_with_other_batches_does_not_resume(
    other: dict[str, Any], what: str, tmp_path: Path
) -> None:
    pairs = torch.utils.data.TensorDataset(X, Y)
    cr.fit(mlp(), DataLoader(pairs, 16), epochs=1, folder=tmp_path, progress=False)
    with pytest.raises(InputError, match=f"it differs in .*{what}"):
        cr.fit(mlp(), DataLoader(pairs, **other), epochs=1, folder=tmp_path, progress=False)


def test_a_list_of_examples_is_a_data_set() -> None:
    x = torch.randn(40, 3, generator=torch.Generator().manual_seed(0))
    y = (x[:, 0] > 0).long()
    options = {"epochs": 2, "progress": False, "batch_size": 8}
    histories = []
    for data in (list(zip(x, y, strict=True)), torch.utils.data.TensorDataset(x, y)):
        torch.manual_seed(0)
        histories.append(cr.fit(torch.nn.Linear(3, 2), data, **options)[-1]["train_loss"])
    assert histories[0] == pytest.approx(histories[1], rel=1e-5)
