"""Sequences of different lengths: masks, last entries, reversing."""

import pytest
import torch

from chainrule.errors import InputError
from chainrule.nn.sequences import (
    check_lengths,
    last_valid,
    pack,
    reverse,
    unpack,
    valid_mask,
    zero_padding,
)

X = torch.tensor([[1, 2, 3, 4], [5, 6, 0, 0], [7, 0, 0, 0]])
LENGTHS = torch.tensor([4, 2, 1])


def test_a_mask_is_true_where_the_steps_are_valid():
    assert torch.equal(valid_mask(LENGTHS, 4), X > 0)


def test_the_last_valid_entry_of_each_row():
    assert last_valid(X, LENGTHS).tolist() == [4, 6, 7]
    assert last_valid(X, None).tolist() == [4, 0, 0]
    assert last_valid(X[..., None].expand(3, 4, 2), LENGTHS).tolist() == [[4, 4], [6, 6], [7, 7]]


def test_rows_are_reversed_within_their_length():
    turned = [[4, 3, 2, 1], [6, 5, 0, 0], [7, 0, 0, 0]]
    assert reverse(X, LENGTHS).tolist() == turned
    deep = reverse(X[..., None].expand(3, 4, 2), LENGTHS)
    assert deep[..., 1].tolist() == turned
    assert torch.equal(reverse(reverse(X, LENGTHS), LENGTHS), X)
    assert torch.equal(reverse(X, None), X.flip(1))


def test_padding_becomes_zero_and_the_rest_stays():
    x = torch.randn(3, 4, 2)
    cleared = zero_padding(x, LENGTHS)
    assert torch.equal(cleared[X > 0], x[X > 0])
    assert not cleared[X == 0].any()


def test_packing_and_unpacking_keep_what_is_valid():
    x = torch.randn(3, 6, 2)
    assert torch.equal(unpack(pack(x, LENGTHS), 6), zero_padding(x, LENGTHS))
    assert unpack(pack(x, None), 6) is x


@pytest.mark.parametrize(
    "lengths, words",
    [
        (torch.tensor([4, 2]), "for each of the 3"),
        (torch.tensor([4.0, 2.0, 1.0]), "one integer"),
        (torch.tensor([4, 0, 1]), "leave empty sequences out"),
        (torch.tensor([5, 2, 1]), "from 1 to 4"),
    ],
)
def test_lengths_that_do_not_fit_are_refused(lengths, words):
    with pytest.raises(InputError, match=words):
        check_lengths(lengths, 3, 4)
