"""Pooling of a set into one vector, independent of the order of its elements.

    sum    Σ_m h_m          mean    1/M Σ_m h_m          max    max_m h_m, component by component

A set of M elements occupies any M of `size` places; the mask is True where there is an element,
and None means that every place is occupied. All three are 0 for an empty set.
Zaheer et al. (2017), Deep Sets. Notes: J 7.2.
"""

from collections.abc import Callable, Mapping

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.nn.chunked import chunked
from chainrule.registry import unknown
from chainrule.shares import packed

Elements = Float[Tensor, "batch size d"]
Mask = Bool[Tensor, "batch size"] | None
Pool = Callable[[Tensor, Tensor | None], Tensor]


def sum_pool(h: Elements, mask: Mask) -> Float[Tensor, "batch d"]:
    """Σ_m h_m."""
    return (h if mask is None else torch.where(mask[..., None], h, 0)).sum(1)


def mean_pool(h: Elements, mask: Mask) -> Float[Tensor, "batch d"]:
    """1/M Σ_m h_m."""
    number = h.shape[1] if mask is None else mask.sum(1, keepdim=True).clamp_min(1)
    return sum_pool(h, mask) / number


def max_pool(h: Elements, mask: Mask) -> Float[Tensor, "batch d"]:
    """max_m h_m."""
    if mask is None:
        return h.amax(1)
    largest = h.masked_fill(~mask[..., None], -torch.inf).amax(1)
    return torch.where(mask.any(1, keepdim=True), largest, 0)


POOLS: Mapping[str, Pool] = {"sum": sum_pool, "mean": mean_pool, "max": max_pool}


def pool_named(name: str) -> Pool:
    if name not in POOLS:
        raise InputError(unknown("pool", name, list(POOLS)))
    return POOLS[name]


def elementwise(
    network: nn.Module,
    x: Float[Tensor, "batch size *element"],
    mask: Bool[Tensor, "batch places"] | None,
    chunk_size: int,
) -> Elements:
    """The network applied to every element; zeros in the empty places, which it does not see."""
    if mask is None:
        mapped = chunked(network, x.flatten(0, 1), chunk_size, network.training)
        return mapped.unflatten(0, x.shape[:2])
    if mask.shape != x.shape[:2]:
        raise InputError(
            f"expected a mask of shape {tuple(x.shape[:2])}, one value for each place, got "
            f"{tuple(mask.shape)}"
        )
    elements = x[mask]
    with packed(len(elements)):
        h = chunked(network, elements, chunk_size, network.training)
    return h.new_zeros(*mask.shape, h.shape[1]).masked_scatter(mask[..., None], h)
