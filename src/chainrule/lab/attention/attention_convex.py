"""Claim: attention outputs are convex combinations of the values (J 6.1).

    a_it ≥ 0,   Σ_t a_it = 1,   ξ_i = Σ_t a_it v_t      ⇒      ξ_i in the convex hull of the v_t

Measured: the largest violation over random queries, keys and values, with and without a mask: a
weight below 0, a row of weights that does not sum to 1, or a projection u·ξ_i outside the range of
the u·v_t, for many directions u. The weights are the outputs for the values e_1, …, e_n.
Bound: 1e-12, rounding in double precision of numbers of order one.
J prints the sum with v_i in place of v_t, which would return every value unchanged.
"""

from collections.abc import Callable

import torch
from scipy.spatial import ConvexHull
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.nn.attention import attention

ROUNDING = 1e-12
Attend = Callable[[Tensor, Tensor, Tensor, Tensor | None], Tensor]


def check(queries: int = 60, keys: int = 9, trials: int = 50, seed: int = 0) -> Verdict:
    """Softmax attention.

    Args:
        queries: Queries per trial.
        keys: Keys, and values in the plane.
        trials: Independent draws of queries, keys and masks.
    """
    return verdict(attention, queries, keys, trials, seed)


def broken() -> Verdict:
    """Scores divided by their sum, no softmax: rows sum to 1, but weights can be negative."""

    def without_exponential(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
        scores = q @ k.mT if mask is None else (q @ k.mT) * mask
        return scores / scores.sum(-1, keepdim=True) @ v

    return verdict(without_exponential, 60, 9, 50, 0)


def near() -> Near:
    """Weights that do not quite sum to 1."""

    def scaled(factor: float) -> Verdict:
        return verdict(lambda *given: factor * attention(*given), 60, 9, 5, 0)

    return ten_percent("a_it", scaled)


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
        quantity="largest violation of a ≥ 0, Σ a = 1, ξ ∈ hull",
        measured=worst,
        relation="≤",
        bound=ROUNDING,
        picture=Picture(
            title="Attention outputs lie in the convex hull of the values",
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
