"""The two memory tasks: what must be remembered stands where it should, and nowhere else."""

import pytest
import torch

from chainrule.data.datasets import adding, copy_memory
from chainrule.errors import InputError


def test_the_symbols_to_copy_stand_at_the_beginning_and_nowhere_else():
    x, y = copy_memory.sample(50, length=7, seed=0)
    assert x.shape == (50, 27, 10) and y.shape == (50, 10)
    assert torch.equal(x.sum(2), torch.ones(50, 27))
    steps = x.argmax(2)
    assert torch.equal(steps[:, :10], y)
    assert (steps[:, 16] == copy_memory.SIGNAL).all()
    blank = torch.cat([steps[:, 10:16], steps[:, 17:]], 1)
    assert (blank == copy_memory.BLANK).all()
    assert set(y.unique().tolist()) == set(range(8))


def test_a_length_of_one_leaves_room_for_the_signal_alone():
    x, _ = copy_memory.sample(20, length=1, seed=0)
    assert x.argmax(2)[0, 10:].tolist() == [copy_memory.SIGNAL] + [copy_memory.BLANK] * 10


@pytest.mark.parametrize("length", [2, 7, 50])
def test_two_numbers_are_marked_one_in_each_half_and_their_sum_is_asked(length):
    x, y = adding.sample(200, length, seed=0)
    u, m = x.unbind(2)
    assert x.shape == (200, length, 2) and set(m.unique().tolist()) <= {0.0, 1.0}
    half = length // 2
    assert (m[:, :half].sum(1) == 1).all() and (m[:, half:].sum(1) == 1).all()
    torch.testing.assert_close(y, (u * m).sum(1))
    assert u.min() >= 0 and u.max() <= 1


def test_answering_one_is_wrong_by_a_sixth():
    _, y = adding.sample(100_000, 4, seed=0)
    assert (y - 1).square().mean().item() == pytest.approx(1 / 6, rel=0.02)


def test_no_sequence_is_in_two_splits():
    for load in (copy_memory.load, adding.load):
        splits = load(num_samples=100, length=30)
        rows = [
            tuple(x.flatten().tolist())
            for s in (splits.train, splits.validation, splits.test)
            for x in s.x
        ]
        assert len(rows) == len(set(rows)) == 100
        assert [len(s.x) for s in (splits.train, splits.validation, splits.test)] == [80, 10, 10]


@pytest.mark.parametrize(
    "call",
    [
        lambda: copy_memory.load(length=0),
        lambda: copy_memory.load(num_samples=5),
        lambda: adding.load(length=1),
        lambda: adding.load(num_samples=5),
    ],
)
def test_too_little_is_refused(call):
    with pytest.raises(InputError, match=r"(num_samples|length) must be at least"):
        call()
