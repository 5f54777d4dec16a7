"""Where every head of a network looks, as the page draws it."""

from collections.abc import Sequence

import torch
from jaxtyping import Int
from torch import Tensor, nn

from chainrule.nn.attention import attention_maps
from chainrule.studio.activity import Json, raster, rounded


def head_maps(model: nn.Module, tokens: Int[Tensor, "1 n"], names: Sequence[str]) -> Json:
    """The attention weights of every head, each row on its own scale.

    Args:
        model: a network with attention layers.
        tokens: what it reads.
        names: of the tokens.
    """
    maps = torch.cat(list(attention_maps(model, tokens).values()))
    peaks = maps.amax(3, keepdim=True)
    return {
        "tokens": list(names),
        "maps": raster(maps / peaks, 0.0, 1.0),
        "peaks": rounded(peaks[..., 0], 3),
        "sums": rounded([maps.sum(3).min(), maps.sum(3).max()], 7),
    }
