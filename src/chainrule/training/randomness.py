"""Every random number of a run follows from its seed and the epoch or step that draws it."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

import torch
from torch import Tensor

GENERATOR = RLock()
"""Held by whoever seeds torch's generator and draws from it, which all Python threads share."""


@contextmanager
def outer_randomness() -> Iterator[None]:
    """Leave torch's generator as it was found."""
    before = torch.get_rng_state()
    try:
        yield
    finally:
        with GENERATOR:
            torch.set_rng_state(before)


def permutation(n: int, seed: int, epoch: int) -> Tensor:
    """The order of the examples in one epoch."""
    return torch.randperm(n, generator=torch.Generator().manual_seed(mix(seed, epoch)))


def with_replacement(n: int, seed: int, epoch: int) -> Tensor:
    """n examples of one epoch, drawn independently."""
    generator = torch.Generator().manual_seed(mix(seed, epoch))
    return torch.randint(n, (n,), generator=generator)


def bucketed(order: Tensor, lengths: Tensor, batch_size: int, seed: int, epoch: int) -> Tensor:
    """The order with rows of similar length brought together, so that a batch has little padding.

    Blocks of 64 batches are sorted, then the whole batches are shuffled; a smaller one stays last.
    """
    blocks = [block[lengths[block].argsort(stable=True)] for block in order.split(64 * batch_size)]
    *batches, rest = torch.cat(blocks).split(batch_size)
    generator = torch.Generator().manual_seed(mix(mix(seed, epoch), 1))
    shuffled = [batches[k] for k in torch.randperm(len(batches), generator=generator).tolist()]
    return torch.cat([*shuffled, rest])


def reseed(seed: int, step: int, on_cpu: bool) -> None:
    """Masks and noise of a step follow from (seed, step)."""
    if on_cpu:  # the general call costs 60 times as much
        torch.default_generator.manual_seed(mix(seed, step))
    else:
        torch.manual_seed(mix(seed, step))


def mix(seed: int, number: int) -> int:
    """One 63-bit seed from two (Steele, Lea and Flood 2014, SplitMix64)."""
    z = (seed * 0x9E3779B97F4A7C15 + number * 0xBF58476D1CE4E5B9 + 1) & (2**64 - 1)
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & (2**64 - 1)
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & (2**64 - 1)
    return (z ^ (z >> 31)) >> 1
