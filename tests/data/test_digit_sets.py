"""Sets of digits as places in a table."""

from pathlib import Path

import pytest
import torch

from chainrule.data.datasets import digit_sets, mnist
from chainrule.data.datasets.digit_sets import (
    DigitSets,
    distinct,
    labeled,
    rows_with_duplicates,
    sets,
    with_test_size,
)
from chainrule.errors import InputError


@pytest.fixture(scope="module")
def data(big_data: Path) -> DigitSets:
    return digit_sets.load(big_data)


def present(x: torch.Tensor) -> torch.Tensor:
    return x[x >= 0]


def test_sets_have_the_sizes_that_were_asked_for_and_no_digit_twice() -> None:
    x = sets(torch.arange(100, 140), (1, 10), 5_000, seed=0)
    size = (x >= 0).sum(1)
    assert x.shape == (5_000, 20) and present(x).min() == 100 and present(x).max() == 139
    assert size.bincount().tolist()[0] == 0 and size.max() == 10
    assert (size.bincount()[1:] / 5_000 - 0.1).abs().max() < 0.02, "sizes are not alike often"
    assert all(len(present(row).unique()) == n for row, n in zip(x[:500], size, strict=False))
    assert torch.equal(x, sets(torch.arange(100, 140), (1, 10), 5_000, seed=0))
    assert sets(torch.arange(60), (30, 30), 2, seed=0).shape == (2, 30)


def test_different_ones_are_drawn_with_the_same_chance() -> None:
    generator = torch.Generator().manual_seed(0)
    found = distinct(5, (4_000, 3), generator)
    assert not len(rows_with_duplicates(found))
    assert rows_with_duplicates(torch.tensor([[1, 2], [3, 3]])).tolist() == [1]
    assert (found.flatten().bincount() / 12_000 - 0.2).abs().max() < 0.015


def test_targets_by_hand() -> None:
    labels = torch.tensor([7, 0, 9, 2])
    x = torch.tensor([[0, 3, -1], [1, -1, -1], [2, 0, 3]])
    assert labeled(x, labels, "sum").y.tolist() == [9, 0, 18]
    assert labeled(x, labels, "maximum").y.tolist() == [7, 0, 9]


def test_the_three_splits_share_no_digit(data: DigitSets) -> None:
    train, held, tested = (set(present(part.x).tolist()) for part in data_parts(data))
    assert not train & held and not (train | held) & tested
    assert max(train | held) < 60_000 <= min(tested)
    assert ((data.train.x >= 0).sum(1).max(), (data.test.x >= 0).sum(1).min()) == (10, 20)


def data_parts(data: DigitSets) -> tuple:
    return data.train, data.validation, data.test


def test_the_table_holds_the_digits_of_mnist(data: DigitSets, big_data: Path) -> None:
    x, y = mnist.load(big_data).test
    assert torch.equal(data.images[60_000:].float() / 255, x[:, 0])
    assert torch.equal(data.labels[60_000:], y)
    row = data.test.x[7]
    assert data.test.y[7] == data.labels[row].sum()


def test_other_sizes_are_made_of_test_digits(data: DigitSets) -> None:
    x, y = with_test_size(data, 30, 5, "maximum").test
    assert x.shape == (5, 30) and x.min() >= 60_000
    assert torch.equal(y, data.labels[x].max(1).values.float())


def test_wrong_targets_and_sizes_are_refused(big_data: Path) -> None:
    with pytest.raises(InputError, match="did you mean maximum"):
        digit_sets.load(big_data, target="maximun")
    with pytest.raises(InputError, match="at most 4"):
        sets(torch.arange(4), (1, 5), 3, seed=0)
