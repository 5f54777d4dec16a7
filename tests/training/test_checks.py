"""Bad data stop before the first step, with one sentence."""

import pytest
import torch
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.learning.tasks import Task
from chainrule.models.feedforward.mlp import MLP
from chainrule.training import Settings, devices, iterate
from chainrule.training.checks import check_split

X, Y = torch.randn(20, 3), torch.arange(20) % 2


def with_value(value: float) -> Tensor:
    x = X.clone()
    x[7, 1] = value
    return x


@pytest.mark.parametrize(
    ("train", "message"),
    [
        ((with_value(torch.nan), Y), "1 values that are NaN or infinite, the first in example 7"),
        ((with_value(torch.inf), Y), "inputs of the training split hold 1 values"),
        ((X[:0], Y[:0]), "the training split is empty"),
        ((X, Y[:5]), r"differ in length: \[20, 5\]"),
        ((X, Y + 1), "the label 2, but the model has 2 outputs"),
        ((X, Y - 1), "the label -1; expected classes from 0 up"),
        ((X[:, :2], Y), r"does not take inputs of shape \(2,\)"),
        (
            (X, torch.randn(20, 5)),
            r"outputs of shape \(2,\) per example, but the targets .* \(5,\)",
        ),
    ],
)
def test_bad_data_are_refused_with_the_place_named(
    train: tuple[Tensor, Tensor], message: str
) -> None:
    model = MLP(3, [4], 2)
    before = [p.clone() for p in model.parameters()]
    with pytest.raises(InputError, match=message):
        iterate(model, train, None, settings=Settings(epochs=1))
    assert all(map(torch.equal, before, model.parameters()))


def test_the_validation_split_is_checked_too() -> None:
    with pytest.raises(InputError, match="validation split has the label 2"):
        iterate(MLP(3, [4], 2), (X, Y), (X, Y + 1), settings=Settings(epochs=1))


def test_huge_but_finite_inputs_are_not_mistaken_for_infinite_ones() -> None:
    huge = torch.full((20, 3), 3e38)
    assert not huge.sum().isfinite()
    check_split((huge, Y), 1, "training")
    huge[3, 2] = torch.inf
    with pytest.raises(InputError, match="hold 1 values that are NaN or infinite"):
        check_split((huge, Y), 1, "training")


def test_a_loss_of_another_shape_is_refused() -> None:
    per_class = Task("cross-entropy", lambda output, y: -output.log_softmax(1))
    with pytest.raises(InputError, match=r"one value per example.*the shape \(1, 2\)"):
        iterate(MLP(3, [4], 2), (X, Y), task=per_class)


def test_early_stopping_needs_something_to_watch() -> None:
    settings = Settings(epochs=1, patience=3)
    with pytest.raises(InputError, match="needs a validation split"):
        iterate(MLP(3, [4], 2), (X, Y), None, settings=settings)
    with pytest.raises(
        InputError, match="auc is not measured for classification; expected one of: loss, error"
    ):
        iterate(
            MLP(3, [4], 2), (X, Y), (X, Y), settings=Settings(epochs=1, patience=3, monitor="auc")
        )


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("epochs", 0, "`epochs` must be at least 1, got 0"),
        ("batch_size", -3, "`batch_size` must be at least 1, got -3"),
        ("learning_rate", 0.0, "`learning_rate` must be above 0"),
        ("learning_rate", float("nan"), "`learning_rate` must be above 0, got nan"),
        ("weight_decay", float("inf"), "`weight_decay` must be at least 0, got inf"),
        ("optimizer", "adamw2", "did you mean adamw"),
        ("schedule", "cosin", "did you mean cosine"),
        ("precision", "half", "no precision named 'half'"),
        ("class_weights", "balance", "did you mean balanced"),
        ("seed", 10**20, "`seed` must be below"),
        ("label_smoothing", 1.0, "`label_smoothing` must be below 1"),
    ],
)
def test_settings_out_of_range_are_refused(field: str, value: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Settings(**{field: value})


def test_devices_are_chosen_or_refused() -> None:
    assert devices.choose("cpu").type == "cpu"
    assert devices.choose().type in ("cpu", "cuda", "mps")
    for name in ("tpu", "cuda:99", "cpu:3"):
        with pytest.raises(InputError, match=f"no device '{name}' here; present: auto"):
            devices.choose(name)


def test_preparation_is_undone() -> None:
    before = torch.get_num_threads()
    with devices.prepared(torch.device("cpu"), before + 1):
        assert torch.get_num_threads() == before + 1
        assert (torch.tensor(1e-39) * 1).item() == 0
    assert torch.get_num_threads() == before
    assert (torch.tensor(1e-39) * 1).item() != 0


def test_small_steps_use_one_thread() -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        assert devices.threads_for(MLP(20, [32, 32], 2), 64) == 1
        assert devices.threads_for(MLP(784, [256, 128], 10), 128) == 2
        assert devices.threads_for(nn.Conv2d(3, 8, 3), 1) == 2
    finally:
        torch.set_num_threads(before)


def test_a_model_that_cannot_learn_is_refused() -> None:
    frozen = MLP(3, [4], 2).requires_grad_(False)
    with pytest.raises(InputError, match="MLP has no parameters that a gradient could change"):
        iterate(frozen, (X, Y), None, settings=Settings(epochs=1))


def test_batch_normalization_refuses_a_batch_of_one() -> None:
    model = MLP(3, [4], 2, norm="batch")
    with pytest.raises(InputError, match=r"the last of 20 in batches of 19; choose another"):
        iterate(model, (X, Y), None, settings=Settings(epochs=1, batch_size=19))
    assert list(iterate(model, (X, Y), None, settings=Settings(epochs=1, batch_size=10)))
