"""Claim: the higher the loss of a critical point, the more directions lead down (A 1.3.10).

    f(x) = W₂ W₁ x fitted to y = Σ_i s_i u_i v_iᵀ x,  p hidden units, m modes s_i, E xxᵀ = I
    a critical point fits a set S of r ≤ p modes:    h = ½ Σ_{i ∉ S} s_i²
    index = negative eigenvalues of ∇²h = (p - r)(m - r) + #{i ∉ S, j ∈ S : s_i > s_j}

Measured: critical points of the library's MLP without a nonlinearity, found from random starts by
minimizing ½ ‖∇h‖²; how many have another loss or another index than their set S.
Bound: exactly 0. Eigenvalues below -1e-3 count as negative; the others are 0 or at least 0.1 away
from 0 for the modes used.
All seven sets must be found. Only S = {the p largest} is a
minimum; every other critical point is a saddle, so descent is held up by saddles and not by local
minima. Baldi and Hornik (1989), Dauphin et al. (2014).
"""

from itertools import combinations

import torch
from torch import Tensor
from torch.func import grad, jacrev, vmap

from chainrule.autodiff.curvature import Function, flattened
from chainrule.autodiff.newton import critical_points
from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.learning import losses
from chainrule.models.feedforward.mlp import MLP

MODES, HIDDEN = (2.0, 1.4, 0.8), 2
CRITICAL = 1e-8  # largest ‖∇h‖
Index = dict[float, int]  # of each loss


def check(starts: int = 200, seed: int = 0) -> Verdict:
    """The index of every set.

    Args:
        starts: Random starts of the search.
    """
    return verdict(starts, seed, table())


def broken() -> Verdict:
    """As if every critical point were a minimum."""
    return verdict(60, 0, dict.fromkeys(table(), 0))


def near() -> Near:
    """Modes off by 10 %, and parts of the index left out."""
    return {
        **ten_percent("s_i", lambda factor: verdict(60, 0, table(scale=factor))),
        "without exchanged modes": lambda: verdict(60, 0, table(swaps=0)),
        "(p - r) m": lambda: verdict(60, 0, table(fewer=0)),
    }


def table(scale: float = 1.0, swaps: int = 1, fewer: int = 1) -> Index:
    """Index by loss, for every set S of at most p modes."""
    found = {}
    for r in range(HIDDEN + 1):
        for S in combinations(MODES, r):
            rest = [s for s in MODES if s not in S]
            exchanged = sum(s_i > s_j for s_i in rest for s_j in S)
            loss = 0.5 * sum((scale * s) ** 2 for s in rest)
            found[loss] = (HIDDEN - r) * (len(MODES) - fewer * r) + swaps * exchanged
    return found


def verdict(starts: int, seed: int, index: Index) -> Verdict:
    """Losses and indices of the critical points found against the table."""
    h, theta = linear_network(seed)
    generator = torch.Generator().manual_seed(seed)
    sizes = torch.linspace(0.3, 2.0, starts, dtype=theta.dtype)[:, None]
    begin = sizes * torch.randn(starts, len(theta), dtype=theta.dtype, generator=generator)
    ends = critical_points(h, begin, 60)
    ends = ends[vmap(grad(h))(ends).norm(dim=1) < CRITICAL]
    heights = vmap(h)(ends)
    negative = (torch.linalg.eigvalsh(vmap(jacrev(grad(h)))(ends)) < -1e-3).sum(1)
    known = torch.tensor(list(index), dtype=torch.float64)
    apart, nearest = (heights[:, None] - known).abs().min(1)
    right = (apart < 1e-6) & (negative == torch.tensor(list(index.values()))[nearest])
    ordered = sorted(index)
    return Verdict(
        quantity="critical points with another loss or index",
        measured=float((~right).sum()),
        relation="=",
        bound=0.0,
        conditions={"all sets are found": len(nearest[right].unique()) == len(index)},
        picture=Picture(
            title="The higher the loss of a critical point, the more directions lead down",
            x_label="loss h",
            y_label="index: negative eigenvalues of the Hessian",
            curves={"formula": (ordered, [float(index[loss]) for loss in ordered])},
            points={"critical points found": (heights.tolist(), negative.double().tolist())},
        ),
        details={
            "critical points": float(len(ends)),
            "of which saddles": float((negative > 0).sum()),
            "sets found": float(len(nearest[right].unique())),
        },
    )


def linear_network(seed: int) -> tuple[Function, Tensor]:
    """h(θ) on whitened inputs, whose singular values are exactly the modes."""
    generator = torch.Generator().manual_seed(seed)
    m, N = len(MODES), 12
    columns = torch.randn(N, m + 1, dtype=torch.float64, generator=generator)
    columns[:, 0] = 1.0
    x = torch.linalg.qr(columns).Q[:, 1:] * N**0.5  # mean 0, covariance 1
    rotations = torch.randn(2, m, m, dtype=torch.float64, generator=generator)
    U, V = torch.linalg.qr(rotations).Q
    y = x @ (U @ torch.diag(torch.tensor(MODES, dtype=torch.float64)) @ V.T).T
    model = MLP(m, [HIDDEN], m, activation="identity", output_bias=False).double()
    return flattened(model, lambda f: losses.squared(f(x), y).mean())
