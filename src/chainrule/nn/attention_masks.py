"""Boolean attention masks (batch, heads, queries, keys), True = the query may attend to the key."""

import torch
from jaxtyping import Bool
from torch import Tensor

from chainrule.errors import InputError


def combined_mask(mask: Tensor | None, causal: bool, q: Tensor, k: Tensor) -> Tensor | None:
    """The mask, and the causal one where asked for; None if every key is allowed."""
    if mask is not None and (mask.dtype != torch.bool or mask.ndim != 4):
        raise InputError(
            "expected a boolean mask of (batch, heads, queries, keys), True where a query may "
            f"attend to a key, got {mask.dtype} of {tuple(mask.shape)}; padding_mask makes one "
            "of (batch, keys)"
        )
    queries, keys = q.shape[2], k.shape[2]
    if not causal or queries == 1:
        return mask
    past = causal_mask(queries, keys, q.device)
    return past if mask is None else mask & past


def causal_mask(
    queries: int, keys: int, device: torch.device | None = None
) -> Bool[Tensor, "1 1 queries keys"]:
    """True where s ≤ t; the queries are the last of the keys."""
    past = torch.ones(queries, keys, dtype=torch.bool, device=device)
    return past.tril(keys - queries)[None, None]


def padding_mask(valid: Bool[Tensor, "batch keys"]) -> Bool[Tensor, "batch 1 1 keys"]:
    """True in the columns of valid keys, for all heads and queries."""
    return valid[:, None, None]
