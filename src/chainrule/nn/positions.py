"""Positions: attention alone does not know the order of its inputs, so it is added to them.

    sinusoidal   p_{t,2i} = sin(t ω_i),   p_{t,2i+1} = cos(t ω_i),   ω_i = 10000^(-2i/d)
    learned       p_t is a parameter, for t below the longest length

A step of k positions turns each pair (p_{2i}, p_{2i+1}) by the angle k ω_i, wherever it starts:
p_{t+k} = R_k p_t. J prints ω_k = C^(k/d), and A, too, gives sine and cosine different frequencies;
a pair must share one, and it must fall with i. Without positions attention is equivariant under
permutations (L prints invariant).

Vaswani et al. (2017), NeurIPS; Gehring et al. (2017), ICML, for learned ones.
Notes: J 6.3, A 2.6.1, L "Positional Encoding and Key Innovations".
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn

from chainrule.errors import InputError

BASE = 10_000.0


class LearnedPositions(nn.Module):
    """One vector for each place."""

    def __init__(self, longest: int, width: int):
        super().__init__()
        if longest < 1:
            raise InputError(f"expected room for one position or more, got {longest}")
        self.weight = nn.Parameter(0.02 * torch.randn(longest, width))

    def forward(self, steps: int, start: int = 0) -> Float[Tensor, "steps width"]:
        """p_start, …, p_{start + steps - 1}."""
        longest = len(self.weight)
        if start + steps > longest:
            raise InputError(
                f"a sequence of {start + steps} tokens is longer than the {longest} positions that "
                "were learned; shorten it"
            )
        return self.weight[start : start + steps]


def frequencies(width: int, like: Tensor | None = None) -> Float[Tensor, " pairs"]:
    """ω_i = 10000^(-2i/d)."""
    if width < 2 or width % 2:
        raise InputError(f"sinusoidal positions come in pairs; expected an even width, got {width}")
    i = torch.arange(width // 2, dtype=torch.float64)
    omega = torch.exp(-2 * i / width * math.log(BASE))
    return omega if like is None else omega.to(like)


def sinusoidal(
    steps: int, width: int, start: int = 0, like: Tensor | None = None
) -> Float[Tensor, "steps width"]:
    """p_start, …, p_{start + steps - 1}, of the type and on the device of `like`."""
    t = torch.arange(start, start + steps, dtype=torch.float64)
    angle = t[:, None] * frequencies(width)
    p = torch.stack([angle.sin(), angle.cos()], 2).flatten(1)
    return p.float() if like is None else p.to(like)


def rotation(offset: int, width: int) -> Float[Tensor, "width width"]:
    """R_k with p_{t+k} = R_k p_t for every t: one turn for each pair."""
    angle = offset * frequencies(width)
    cos, sin = angle.cos(), angle.sin()
    turns = torch.stack([torch.stack([cos, sin], 1), torch.stack([-sin, cos], 1)], 1)
    return torch.block_diag(*turns)
