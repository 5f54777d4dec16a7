"""A set as one vector: sum, mean or maximum over its elements, whatever their order.

    sum    Σ_m h_m          mean    1/M Σ_m h_m          max    max_m h_m, component by component

A set of M elements lies in any M of `size` places; the mask is True where there is an element, and
None stands for an element in every place. Of an empty set all three are 0.
Zaheer et al. (2017), Deep Sets. Notes: J 7.2.
"""

from collections.abc import Callable, Mapping

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.nn.chunked import chunked
from chainrule.registry import unknown

Elements = Float[Tensor, "batch size d"]
Mask = Bool[Tensor, "batch size"] | None
Pool = Callable[[Tensor, Tensor | None], Tensor]


def sum_of(h: Elements, mask: Mask) -> Float[Tensor, "batch d"]:
    """Σ_m h_m."""
    return (h if mask is None else torch.where(mask[..., None], h, 0)).sum(1)


def mean_of(h: Elements, mask: Mask) -> Float[Tensor, "batch d"]:
    """1/M Σ_m h_m."""
    number = h.shape[1] if mask is None else mask.sum(1, keepdim=True).clamp_min(1)
    return sum_of(h, mask) / number


def max_of(h: Elements, mask: Mask) -> Float[Tensor, "batch d"]:
    """max_m h_m."""
    if mask is None:
        return h.amax(1)
    largest = h.masked_fill(~mask[..., None], -torch.inf).amax(1)
    return torch.where(mask.any(1, keepdim=True), largest, 0)


POOLS: Mapping[str, Pool] = {"sum": sum_of, "mean": mean_of, "max": max_of}


def pool_named(name: str) -> Pool:
    if name not in POOLS:
        raise InputError(unknown("way to pool a set", name, list(POOLS)))
    return POOLS[name]


def elementwise(
    network: nn.Module,
    x: Float[Tensor, "batch size *element"],
    mask: Bool[Tensor, "batch places"] | None,
    at_once: int,
) -> Elements:
    """The network on every element alone, zeros in the empty places, which are not looked at."""
    if mask is None:
        mapped = chunked(network, x.flatten(0, 1), at_once, network.training)
        return mapped.unflatten(0, x.shape[:2])
    if mask.shape != x.shape[:2]:
        raise InputError(
            f"expected a mask of shape {tuple(x.shape[:2])}, one value for each place, "
            f"got {tuple(mask.shape)}"
        )
    h = chunked(network, x[mask], at_once, network.training)
    return h.new_zeros(*mask.shape, h.shape[1]).masked_scatter(mask[..., None], h)
