"""Claim: self-attention is permutation equivariant: f(PX) = P f(X) (L 8, J 6.3).

    softmax(PQ (PK)ᵀ / √d) PV = P softmax(Q Kᵀ / √d) Pᵀ P V = P A V

Measured: the largest difference between f(PX) and P f(X) over random permutations of the tokens,
for multi-head attention and for a whole encoder block, in double precision.
Bound: 1e-12; sums over keys are taken in another order and round differently.
L prints that attention is permutation invariant, but f(PX) = f(X) would make all outputs equal. So
f(PX) must also differ from f(X) by at least 1e-3 for every permutation but the identity.
"""

from functools import partial

import torch
from torch import nn

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.nn.attention import SelfAttention
from chainrule.nn.transformer_block import PreNormBlock

ROUNDING = 1e-12
VISIBLE = 1e-3


def check(
    tokens: int = 12, hidden_size: int = 16, permutations: int = 50, seed: int = 0
) -> Verdict:
    """Every token attends to all tokens.

    Args:
        tokens: Length of the sequence.
        hidden_size: Hidden size, a multiple of 4.
        permutations: Random permutations of the tokens.
    """
    return verdict(tokens, hidden_size, permutations, seed, causal=False)


def broken() -> Verdict:
    """Causal attention: which tokens lie in the past depends on the order."""
    return verdict(12, 16, 50, 0, causal=True)


def near() -> Near:
    """Inputs that tell a little of their position, by a term or by the scale of the first one."""
    small = {
        f"positions of size {size}": partial(verdict, 12, 16, 5, 0, causal=False, size=size)
        for size in (1e-3, 1e-6)
    }
    return small | ten_percent("the first token", partial(verdict, 12, 16, 5, 0, False, 0.0))


@torch.no_grad()
def verdict(
    steps: int,
    width: int,
    permutations: int,
    seed: int,
    causal: bool,
    size: float = 0.0,
    first: float = 1.0,
) -> Verdict:
    """f(PX) against P f(X) and against f(X)."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        layers = nn.ModuleList(
            [SelfAttention(width, 4), PreNormBlock(width, 4, 4 * width)]
        ).double()
        x = torch.randn(1, steps, width, dtype=torch.float64)
        P = torch.rand(permutations, steps).argsort(1)
    places = size * torch.arange(steps, dtype=x.dtype)[:, None]
    scale = torch.ones_like(places)
    scale[0] = first
    from_equivariant, from_invariant = 0.0, float("inf")
    for layer in layers:
        f = layer(scale * x + places, causal=causal)[0]
        of_permuted = layer(scale * x[0][P] + places, causal=causal)
        apart = (of_permuted - f[P]).abs().amax((1, 2))
        moved = (of_permuted - f).abs().amax((1, 2))[(torch.arange(steps) != P).any(1)]
        from_equivariant = max(from_equivariant, apart.max().item())
        from_invariant = min(from_invariant, moved.min().item())
    shown, place, unmoved = (h[:, :4].flatten().tolist() for h in (of_permuted[0], f[P[0]], f))
    ends = [min(place), max(place)]
    return Verdict(
        quantity="largest |f(PX) - P f(X)|",
        measured=from_equivariant,
        relation="≤",
        bound=ROUNDING,
        conditions={"f(PX) differs from f(X)": from_invariant >= VISIBLE},
        picture=Picture(
            title="Permuted tokens give permuted outputs, not the same outputs",
            x_label="entry of P f(X), or of f(X)",
            y_label="entry of f(PX) at the same position",
            bounds={"equal": (ends, ends)},
            points={
                "against f(X)": (unmoved, shown),
                "against P f(X)": (place, shown),
            },
        ),
        details={"smallest distance of f(PX) from f(X)": from_invariant},
    )
