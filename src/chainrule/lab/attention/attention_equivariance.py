"""Claim: self-attention is equivariant under permutations: f(PX) = P f(X) (L 8, J 6.3).

    softmax(PQ (PK)ᵀ / √d) PV = P softmax(Q Kᵀ / √d) Pᵀ P V = P A V

Measured: the largest difference between f(PX) and P f(X) over random permutations of the tokens,
for multi-head attention and for a whole encoder block, in double precision.
Bound: 1e-12; the sums over keys are the same but for their order, which rounding notices.
L prints that attention is permutation invariant: f(PX) = f(X) would make all outputs the same. The
two must differ, for every permutation but the identity, by a thousandth at least.
"""

import torch
from torch import nn

from chainrule.lab.claim import Picture, Verdict
from chainrule.nn.attention import SelfAttention
from chainrule.nn.transformer_block import PreNormBlock

ROUNDING = 1e-12
VISIBLE = 1e-3


def check(steps: int = 12, width: int = 16, permutations: int = 50, seed: int = 0) -> Verdict:
    """Every token sees all."""
    return verdict(steps, width, permutations, seed, causal=False)


def broken() -> Verdict:
    """Every token sees the past only, and who is past depends on the order."""
    return verdict(12, 16, 50, 0, causal=True)


@torch.no_grad()
def verdict(steps: int, width: int, permutations: int, seed: int, causal: bool) -> Verdict:
    """f(PX) against P f(X) and against f(X)."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        layers = nn.ModuleList(
            [SelfAttention(width, 4), PreNormBlock(width, 4, 4 * width)]
        ).double()
        x = torch.randn(1, steps, width, dtype=torch.float64)
        P = torch.rand(permutations, steps).argsort(1)
    from_equivariant, from_invariant = 0.0, float("inf")
    for layer in layers:
        f, of_permuted = layer(x, causal=causal)[0], layer(x[0][P], causal=causal)
        apart = (of_permuted - f[P]).abs().amax((1, 2))
        moved = (of_permuted - f).abs().amax((1, 2))[(torch.arange(steps) != P).any(1)]
        from_equivariant = max(from_equivariant, apart.max().item())
        from_invariant = min(from_invariant, moved.min().item())
    shown, place, unmoved = (h[:, :4].flatten().tolist() for h in (of_permuted[0], f[P[0]], f))
    ends = [min(place), max(place)]
    return Verdict(
        predicted="f(PX) - P f(X) = 0,  f(PX) ≠ f(X)",
        measured=from_equivariant,
        bound=ROUNDING,
        holds=from_equivariant <= ROUNDING and from_invariant >= VISIBLE,
        picture=Picture(
            title="Permuted tokens: permuted outputs, not the same ones",
            x_label="entry of P f(X), or of f(X)",
            y_label="entry of f(PX) at the same place",
            bounds={"equal": (ends, ends)},
            points={
                "against f(X)": (unmoved, shown),
                "against P f(X)": (place, shown),
            },
        ),
        details={"least distance of f(PX) from f(X)": from_invariant},
    )
