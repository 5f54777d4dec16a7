"""What was once silently wrong, or failed in the middle of a kernel, is refused in one sentence."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, TensorDataset

import chainrule as cr
from chainrule.errors import InputError
from chainrule.learning.tasks import CLASSIFICATION, REGRESSION
from chainrule.models.feedforward.mlp import MLP
from chainrule.training import Settings, evaluate, fit, fit_many, iterate, predict
from chainrule.training.batched.run import k_folds

X, Y = torch.randn(20, 3), torch.arange(20) % 2
NAN = X.clone().index_fill(0, torch.tensor(7), torch.nan)
ONE_HOT = torch.eye(2)[Y]


def mlp() -> MLP:
    return MLP(3, [4], 2)


class Endless(IterableDataset[Any]):
    def __iter__(self) -> Iterator[Any]:
        return iter(zip(X, Y, strict=True))


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        (lambda: evaluate(mlp(), (NAN, Y)), "inputs of the given split hold 3 values that are NaN"),
        (lambda: evaluate(mlp(), (X[:0], Y[:0])), "the given split is empty"),
        (lambda: evaluate(mlp(), (X[:, :2], Y)), r"does not take inputs of shape \(2,\)"),
        (lambda: evaluate(mlp(), (X, Y + 5)), "the given split has the label 6"),
        (lambda: evaluate(mlp(), (X, Y[:5])), r"differ in length: \[20, 5\]"),
        (lambda: evaluate(mlp(), (X, ONE_HOT), CLASSIFICATION), r"convert them with y.argmax\(1\)"),
        (lambda: evaluate(MLP, (X, Y)), "evaluate: `model` must be of type Module, got <class"),
        (lambda: predict(mlp(), NAN), "the inputs hold 3 values that are NaN or infinite"),
        (lambda: predict(mlp(), X[:, :2]), r"does not take inputs of shape \(2,\)"),
        (lambda: predict(mlp(), X, batch_size=0), "`batch_size` must be a whole number of at"),
        (lambda: predict(None, X), "predict: `model` must be of type Module, got None"),
        (lambda: fit(mlp(), (X, ONE_HOT)), "the targets look like one-hot rows"),
        (lambda: fit(mlp(), (X, ONE_HOT), task=CLASSIFICATION), "expected class indices"),
        (lambda: fit(mlp(), (X, torch.randn(20, 2)), label_smoothing=0.1), "`label_smoothing`"),
        (lambda: iterate(mlp(), (X, Y), settings="fast"), "`settings` must be of type Settings"),
        (lambda: fit(mlp(), Endless()), "IterableDataset needs a `__len__`"),
        (lambda: fit(mlp(), DataLoader(Endless())), "IterableDataset needs a `__len__`"),
        (
            lambda: fit_many([one := mlp(), one], (X, Y)),
            "same network stands in `models` twice",
        ),
        (
            lambda: fit_many([mlp(), mlp()], (X, Y), (X, Y), folds=k_folds(20, 2, 0)),
            "`folds` hold out rows of their own; leave `validation` out",
        ),
        (
            lambda: fit_many(
                [mlp(), mlp()], (X, X[:, :2]), settings=[Settings(), Settings(label_smoothing=0.1)]
            ),
            "must agree|`label_smoothing` needs one class per example",
        ),
    ],
)
def test_misuse_is_refused_at_the_door(attempt: Callable[[], Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        attempt()


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("epochs", 1.5, "`epochs` must be a whole number, got 1.5"),
        ("batch_size", 2.5, "`batch_size` must be a whole number"),
        ("learning_rate", 10**400, "Settings cannot take `learning_rate`"),
        ("learning_rate", True, "`learning_rate` must be a number, got True"),
        ("monitor", None, "`monitor` must be a string, got None"),
        ("schedule", [], r"`schedule` must be a string or a function, got \[\]"),
        ("compile", "yes", "`compile` must be True or False, got 'yes'"),
    ],
)
def test_settings_have_types(field: str, value: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Settings(**{field: value})


def test_real_targets_of_one_dimension_are_those_of_a_column() -> None:
    model = nn.Linear(3, 1)
    y = model(X).detach()
    for targets in (y, y[:, 0]):
        assert evaluate(model, (X, targets))["r2"] == pytest.approx(1)
    other = evaluate(nn.Linear(3, 1), (X, y[:, 0]))
    assert other["rmse"] ** 2 == pytest.approx(2 * other["loss"], rel=1e-5)


def test_one_hot_rows_are_real_numbers_where_the_task_says_so() -> None:
    assert len(fit(mlp(), (X, ONE_HOT), task=REGRESSION, epochs=1)) == 1


def test_a_loader_of_another_batch_size_does_not_continue_a_run(tmp_path: Path) -> None:
    def loader(batch_size: int) -> DataLoader[Any]:
        return DataLoader(TensorDataset(X, Y), batch_size)

    steps = iterate(mlp(), loader(4), epochs=3, folder=tmp_path)
    next(steps)
    steps.close()
    with pytest.raises(InputError, match="it differs in loader_batch_size"):
        fit(mlp(), loader(5), epochs=3, folder=tmp_path)


@pytest.mark.parametrize("rate", [1.5, -0.5, float("nan"), 1.0, None, "0.1", True])
@pytest.mark.parametrize(
    "make",
    [
        lambda p: cr.models.PointNet(2, 3, dropout=p),
        lambda p: cr.models.Bahdanau(9, 9, 4, 4, p),
        lambda p: cr.models.TextClassifier(9, 2, dropout=p),
        lambda p: cr.models.BagOfWords(9, [4], dropout=p),
        lambda p: cr.models.GPT(9, 8, 8, 1, 1, p),
    ],
)
def test_a_dropout_that_is_no_probability_is_refused(
    make: Callable[[Any], nn.Module], rate: Any
) -> None:
    with pytest.raises(InputError, match="`dropout` must be a number from 0 to below 1"):
        make(rate)
