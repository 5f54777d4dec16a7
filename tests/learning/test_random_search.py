"""Random search only ever goes down, by steps of the given length."""

import torch
from torch import Tensor

from chainrule.learning.random_search import random_search


def bowl(theta: Tensor) -> Tensor:
    return theta.square().sum(1)


def test_the_loss_never_rises_and_steps_have_the_length_or_are_not_taken() -> None:
    path = random_search(bowl, torch.ones(5, 3), 30, 0.1, seed=1)
    heights = torch.stack([bowl(theta) for theta in path])
    assert (heights.diff(dim=0) <= 0).all()
    lengths = path.diff(dim=0).norm(dim=-1)
    assert ((lengths == 0) | (lengths - 0.1).abs().lt(1e-5)).all()
    assert (lengths > 0).any()
    assert (lengths == 0).any()


def test_it_repeats_under_its_seed() -> None:
    first, again, other = (random_search(bowl, torch.ones(2, 3), 5, 0.1, s) for s in (0, 0, 1))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
