"""Claim: what attention puts out is a convex combination of the values (J 6.1).

    a_it ≥ 0,   Σ_t a_it = 1,   ξ_i = Σ_t a_it v_t      ⇒      ξ_i in the convex hull of the v_t

Measured: the largest violation over random queries, keys and values, with and without a mask: how
far a weight lies below 0, how far a row sums from 1, and how far u·ξ_i passes the range of the
u·v_t, for many directions u. The weights are what comes out for the values e_1, …, e_n. Bound:
1e-12, rounding in double precision of numbers of order one. J prints the sum with v_i in place of
v_t, which would leave every value alone.
"""

from collections.abc import Callable

import torch
from scipy.spatial import ConvexHull
from torch import Tensor

from chainrule.lab.claim import Picture, Verdict
from chainrule.nn.attention import attention

ROUNDING = 1e-12
Attend = Callable[[Tensor, Tensor, Tensor, Tensor | None], Tensor]


def check(queries: int = 60, keys: int = 9, trials: int = 50, seed: int = 0) -> Verdict:
    """The softmax."""
    return verdict(attention, queries, keys, trials, seed)


def broken() -> Verdict:
    """Scores divided by their sum: rows of sum 1, but weights below 0."""

    def without_exponential(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
        scores = q @ k.mT if mask is None else (q @ k.mT) * mask
        return scores / scores.sum(-1, keepdim=True) @ v

    return verdict(without_exponential, 60, 9, 50, 0)


def verdict(attend: Attend, queries: int, keys: int, trials: int, seed: int) -> Verdict:
    """Weights and outputs of values in the plane."""
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    q, k, v = normal(trials, 1, queries, 4) * 3, normal(trials, 1, keys, 4), normal(keys, 2)
    mask = torch.rand(trials, 1, queries, keys, generator=generator) < 0.5
    mask[..., 0] = True
    directions = normal(2, 100)
    violations = []
    for seen in (None, mask):
        A = attend(q, k, torch.eye(keys, dtype=q.dtype).expand(trials, 1, -1, -1), seen)
        xi = attend(q, k, v.expand(trials, 1, -1, -1), seen)
        reach, range_of = xi @ directions, v @ directions
        beyond = torch.maximum(reach - range_of.amax(0), range_of.amin(0) - reach)
        violations += [-A.amin(), (A.sum(-1) - 1).abs().max(), beyond.max()]
    worst = max(0.0, *(float(violation) for violation in violations))
    corners = v[ConvexHull(v.numpy()).vertices.tolist()]
    around = torch.cat([corners, corners[:1]])
    shown = attend(q[:1], k[:1], v[None, None], None)[0, 0]
    return Verdict(
        predicted="a ≥ 0, Σ a = 1, ξ inside the hull",
        measured=worst,
        bound=ROUNDING,
        holds=worst <= ROUNDING,
        picture=Picture(
            title="Attention answers from within the hull of its values",
            x_label="first component",
            y_label="second component",
            points={
                "values v": (v[:, 0].tolist(), v[:, 1].tolist()),
                "outputs ξ of random queries": (shown[:, 0].tolist(), shown[:, 1].tolist()),
            },
            bounds={"convex hull of the values": (around[:, 0].tolist(), around[:, 1].tolist())},
        ),
        details={"rows": float(2 * trials * queries)},
    )
