"""Positional encodings: attention ignores the order of its inputs, so positions are added to them.

    sinusoidal   p_{t,2i} = sin(t ω_i),   p_{t,2i+1} = cos(t ω_i),   ω_i = 10000^(-2i/d)
    learned      p_t is a parameter, for t below max_length

An offset of k positions rotates each pair (p_{2i}, p_{2i+1}) by the angle k ω_i, whatever t:
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

from chainrule.arguments import Count, checked
from chainrule.errors import InputError

BASE = 10_000.0


@checked
class LearnedPositions(nn.Module):
    """A learned vector p_t for each position t.

    Args:
        max_length: Number of positions.
        hidden_size: Size of the vectors.
    """

    def __init__(self, max_length: Count, hidden_size: Count):
        super().__init__()
        self.weight = nn.Parameter(0.02 * torch.randn(max_length, hidden_size))

    def forward(self, steps: int, start: int = 0) -> Float[Tensor, "steps hidden"]:
        """p_start, …, p_{start + steps - 1}."""
        max_length = len(self.weight)
        if start + steps > max_length:
            raise InputError(
                f"a sequence of {start + steps} tokens is longer than the {max_length} learned "
                "positions; shorten it"
            )
        return self.weight[start : start + steps]


@checked
def frequencies(hidden_size: int) -> Float[Tensor, " pairs"]:
    """ω_i = 10000^(-2i/d) in double precision."""
    if hidden_size < 2 or hidden_size % 2:
        raise InputError(f"sinusoidal positions need an even hidden_size, got {hidden_size}")
    i = torch.arange(hidden_size // 2, dtype=torch.float64)
    return torch.exp(-2 * i / hidden_size * math.log(BASE))


@checked
def sinusoidal(
    steps: int, hidden_size: int, start: int = 0, like: Tensor | None = None
) -> Float[Tensor, "steps hidden"]:
    """p_start, …, p_{start + steps - 1}, of the type and on the device of `like`."""
    t = torch.arange(start, start + steps, dtype=torch.float64)
    angle = t[:, None] * frequencies(hidden_size)
    p = torch.stack([angle.sin(), angle.cos()], 2).flatten(1)
    return p.float() if like is None else p.to(like)


@checked
def rotation(offset: int, hidden_size: int) -> Float[Tensor, "hidden hidden"]:
    """R_k with p_{t+k} = R_k p_t for every t: a plane rotation for each pair."""
    angle = offset * frequencies(hidden_size)
    cos, sin = angle.cos(), angle.sin()
    blocks = torch.stack([torch.stack([cos, sin], 1), torch.stack([-sin, cos], 1)], 1)
    return torch.block_diag(*blocks)
