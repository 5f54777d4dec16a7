"""Data, outputs and losses in the forms in which people have them, through the front door."""

from collections import UserDict
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset

import chainrule as cr
from chainrule.errors import InputError

X = torch.randn(40, 3, generator=torch.Generator().manual_seed(0))
LABELS = (X[:, 0] > 0).long()
SUMS = X.sum(1)
QUIET = {"progress": False, "batch_size": 16, "epochs": 2}


def trained(data: Any, outputs: int = 2, **options: Any) -> Tensor:
    """The weights of a small model after two epochs on this data."""
    torch.manual_seed(0)
    model = nn.Linear(3, outputs)
    cr.fit(model, data, **QUIET, **options)
    return model.weight.detach()


@pytest.mark.parametrize(
    "given",
    [
        (X.numpy(), LABELS.numpy()),
        (X.double(), LABELS),
        (X.numpy().astype("f8"), LABELS.numpy().astype("i4")),
        [X.tolist(), LABELS.tolist()],
        (pd.DataFrame(X.numpy()), pd.Series(LABELS.numpy())),
        (X, LABELS.numpy() == 1),
    ],
    ids=["arrays", "double", "other kinds", "lists", "frames", "true and false"],
)
def test_arrays_lists_and_frames_train_as_their_tensors_do(given: Any) -> None:
    assert torch.equal(trained(given), trained((X, LABELS)))
    assert cr.evaluate(nn.Linear(3, 2), given)["loss"] > 0


def test_a_frame_of_whole_numbers_holds_numbers_and_not_words() -> None:
    whole = (9 * X).int()
    found = trained((pd.DataFrame(whole.numpy()), SUMS), 1)
    assert torch.equal(found, trained((whole.float(), SUMS), 1))


def test_a_polars_frame_is_a_table_too() -> None:
    polars = pytest.importorskip("polars")
    found = trained((polars.DataFrame(X.numpy()), polars.Series(SUMS.numpy())), 1)
    assert torch.equal(found, trained((X, SUMS), 1))


class Named(NamedTuple):
    logits: Tensor
    features: Tensor


class Attributes(UserDict):  # type: ignore[type-arg]
    """Values as attributes too, as the outputs of transformers have them."""

    def __getattr__(self, name: str) -> Tensor:
        try:
            return self.__dict__["data"][name]
        except KeyError:
            raise AttributeError(name) from None


@pytest.mark.parametrize(
    "form", [Named, lambda f, x: Attributes(logits=f, features=x)], ids=["tuple", "mapping"]
)
@pytest.mark.parametrize("precision", ["full", "mixed"])
def test_outputs_keep_their_names_in_training_and_validation(form: Any, precision: str) -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(3, 2)

        def forward(self, x: Tensor) -> Any:
            return form(self.layer(x), x)

    def loss(output: Any, y: Tensor) -> Tensor:
        return F.cross_entropy(output.logits, y, reduction="none")

    model, data = Model(), (X, LABELS)
    history = cr.fit(model, data, validation=data, loss=loss, precision=precision, **QUIET)
    assert history[-1]["validation_loss"] > 0
    assert cr.evaluate(model, data, loss)["loss"] > 0
    assert cr.predict(model, X).logits.shape == (40, 2)


def test_an_output_may_be_none() -> None:
    class Model(nn.Linear):
        def forward(self, x: Tensor) -> Any:
            return {"logits": super().forward(x), "hidden": None}

    def loss(output: Any, y: Tensor) -> Tensor:
        return F.cross_entropy(output["logits"], y, reduction="none")

    data = X, LABELS
    history = cr.fit(Model(3, 2), data, validation=data, loss=loss, precision="mixed", **QUIET)
    assert history[-1]["validation_loss"] > 0


def test_a_loss_may_take_booleans() -> None:
    def loss(output: Tensor, y: Tensor) -> Tensor:
        assert y.dtype == torch.bool
        return F.softplus(torch.where(y, -1, 1) * output[:, 0])

    assert trained((X, LABELS == 1), 1, loss=loss).shape == (1, 3)


@pytest.mark.parametrize("loader", [False, True])
def test_outputs_leave_the_device_batch_by_batch(
    loader: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    events: list[str] = []
    model, data = nn.Linear(3, 2), TensorDataset(X, LABELS)
    model.register_forward_hook(lambda *_: events.append("forward"))
    monkeypatch.setattr(Tensor, "cpu", lambda t: (events.append("to the CPU"), t)[1])
    if loader:
        cr.evaluate(model, DataLoader(data, 20))
    else:
        cr.predict(model, X, batch_size=20)
    both = [events[k : k + 2] for k, event in enumerate(events) if event == "forward"]
    assert both[-2:] == [["forward", "to the CPU"]] * 2


class TwoHeads(nn.Module):
    """A class and a number."""

    def __init__(self, form: type) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.both, self.form = nn.Linear(3, 3), form

    def forward(self, x: Tensor) -> Any:
        label, number = self.both(x).split((2, 1), 1)
        return {"label": label, "number": number} if self.form is dict else (label, number)


def both(output: Any, label: Tensor, number: Tensor) -> Tensor:
    parts = output.values() if isinstance(output, dict) else output
    f, g = parts
    return F.cross_entropy(f, label) + F.mse_loss(g[:, 0], number)


class Pairs(Dataset):
    def __len__(self) -> int:
        return len(X)

    def __getitem__(self, row: int) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        return X[row], (LABELS[row], SUMS[row])


@pytest.mark.parametrize("form", [tuple, dict])
@pytest.mark.parametrize("data", [(X, (LABELS, SUMS)), Pairs()], ids=["tensors", "items"])
def test_several_outputs_and_targets_meet_in_the_loss(form: type, data: Any) -> None:
    model = TwoHeads(form)
    history = cr.fit(model, data, data, loss=both, **QUIET)
    label, number = model.both(X).split((2, 1), 1)
    expected = both((label, number), LABELS, SUMS).item()
    assert history[-1]["validation_loss"] == pytest.approx(expected, rel=1e-5)
    found = cr.predict(model, X)
    parts = list(found.values()) if form is dict else list(found)
    torch.testing.assert_close(parts, [label.detach(), number.detach()])


def test_a_recurrent_layer_of_torch_needs_only_a_loss() -> None:
    gru = nn.GRU(3, 2, batch_first=True)

    def of_the_last(output: tuple[Tensor, Tensor], y: Tensor) -> Tensor:
        return F.cross_entropy(output[0][:, -1], y)

    assert cr.fit(gru, (X[:, None], LABELS), loss=of_the_last, **QUIET)[-1]["train_loss"] > 0
    with pytest.raises(InputError, match=r"a tuple,.*give a `loss`"):
        cr.fit(gru, (X[:, None], LABELS), **QUIET)


def square(output: Tensor, y: Tensor) -> Tensor:
    return (output - y).square()


def mean_square(output: Tensor, y: Tensor) -> Tensor:
    return square(output, y).mean()


@pytest.mark.parametrize("loss", [nn.MSELoss(), square, mean_square, nn.BCEWithLogitsLoss()])
def test_a_column_of_outputs_is_not_compared_with_all_targets(loss: Any) -> None:
    y = (SUMS > 0).float()
    with pytest.raises(InputError, match=r"does not compare outputs .*give targets y\[:, None\]"):
        cr.fit(nn.Linear(3, 1), (X, y), loss=loss, **QUIET)
    trained((X, y[:, None]), 1, loss=loss)
    trained((X, y), 1, loss=lambda output, y: loss(output[:, 0], y))


@pytest.mark.parametrize("loss", [lambda output, y: output.square().mean(), nn.L1Loss()])
def test_losses_of_the_output_alone_and_of_equal_shapes_are_not_refused(loss: Any) -> None:
    trained((X, SUMS if not isinstance(loss, nn.L1Loss) else SUMS[:, None]), 1, loss=loss)


def test_a_loss_of_ones_own_decides_what_whole_numbers_mean() -> None:
    counts = torch.arange(40)
    trained((X, counts), 1, loss=lambda output, y: F.poisson_nll_loss(output[:, 0], y))
    padded = torch.where(counts % 2 == 0, LABELS, -100)
    trained((X, padded), loss=nn.CrossEntropyLoss(ignore_index=-100))
    with pytest.raises(InputError, match=r"CrossEntropyLoss does not compare .*out of bounds"):
        trained((X, counts % 3), loss=nn.CrossEntropyLoss())


class TooShort(IterableDataset):
    def __len__(self) -> int:
        return 60

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        return zip(X, LABELS, strict=True)


class Double(Dataset):
    def __len__(self) -> int:
        return 4

    def __getitem__(self, row: int) -> tuple[Any, int]:
        return np.ones(3), 0


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        ((X, np.array(list("ab" * 20))), {}, r"expected numbers as target, got .*'a'.* numbers"),
        (TooShort(), {}, "ended after 3 of the 4 batches of an epoch; its `__len__` promises"),
        (Double(), {}, "which are float64 where its weights are float32"),
        (X, {"validation": LABELS}, r"fit\(model, \(x, y\)\), and not as two arguments"),
        ((X, {"y": LABELS}), {}, r"several targets a tuple, \(x, \(y, z\)\)"),
        ((X, LABELS), {"lr": 1e-3}, "'lr'; it is called `learning_rate`"),
        ((X, LABELS), {"validation_data": (X, LABELS)}, "it is called `validation`"),
        ((X, LABELS), {"optimizer": torch.optim.SGD([X.clone()])}, "optimizer=torch.optim.SGD,"),
        (
            (X, LABELS),
            {"optimizer": torch.optim.LBFGS},
            "`optimizer` LBFGS measures the loss several times",
        ),
        ((X, LABELS), {"schedule": lambda step: 0.9**step}, r"a function \(step, steps\) ↦ factor"),
    ],
)
def test_what_cannot_be_used_is_said_in_the_words_of_the_user(
    data: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        cr.fit(nn.Linear(3, 2), data, **QUIET, **options)
