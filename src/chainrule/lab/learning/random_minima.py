"""Claim: a random Hessian is positive definite far more rarely than with probability pᴺ (A 1.3.10).

    H = Hᵀ Gaussian, variance 1 off and 2 on the diagonal:    P(H_ii > 0) = p = ½,  but
    P(H > 0) = ½,  (2 - √2)/4,  (π - 2√2)/4π  for N = 1, 2, 3,    ≈ exp(-N² ln 3 / 4) for large N

Measured: the share of random matrices with positive eigenvalues only, against these values; the
largest distance in standard errors.
Bound: the normal quantile that all N together exceed for one seed in 10⁷.
A counts every direction as if it were independent of the others; eigenvalues repel each other, and
a positive diagonal does not make a matrix positive. The conclusion, that critical points in high
dimension are saddles, is only strengthened. Dean and Majumdar (2006), Dauphin et al. (2014).
"""

import math

import torch
from scipy.stats import norm

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent

LEVEL = 1e-7
EXACT = {
    1: 0.5,
    2: (2 - math.sqrt(2)) / 4,
    3: (math.pi - 2 * math.sqrt(2)) / (4 * math.pi),
}


def check(matrices: int = 200_000, seed: int = 0) -> Verdict:
    """Gaussian orthogonal matrices.

    Args:
        matrices: Random matrices of each size.
    """
    return verdict(matrices, seed, EXACT)


def broken() -> Verdict:
    """pᴺ, as printed."""
    return verdict(50_000, 0, {N: 0.5**N for N in EXACT})


def near() -> Near:
    """Probabilities off by 10 %, and a diagonal with the variance of the other entries."""

    def scaled(factor: float) -> Verdict:
        return verdict(100_000, 0, {N: factor * p for N, p in EXACT.items()})

    return {
        **ten_percent("P", scaled),
        "variance 1 on the diagonal": lambda: verdict(100_000, 0, EXACT, diagonal=1.0),
    }


def verdict(matrices: int, seed: int, formula: dict[int, float], diagonal: float = 2.0) -> Verdict:
    """Shares by N."""
    generator = torch.Generator().manual_seed(seed)
    shares = {N: positive_share(N, matrices, diagonal, generator) for N in (*EXACT, 4)}
    off = max(abs(shares[N] - p) / math.sqrt(p * (1 - p) / matrices) for N, p in formula.items())
    N, fine = list(map(float, EXACT)), [1 + k / 10 for k in range(31)]
    return Verdict(
        quantity="largest |share - formula|, standard errors",
        measured=off,
        relation="≤",
        bound=float(norm.isf(LEVEL / 2 / len(formula))),
        picture=Picture(
            title="Few random Hessians are positive definite, far fewer than pᴺ",
            x_label="dimension N",
            y_label="probability that all eigenvalues are positive",
            curves={"exact": (N, list(formula.values()))},
            points={"random matrices": ([*N, 4.0], list(shares.values()))},
            bounds={
                "pᴺ, p = ½": (fine, [0.5**n for n in fine]),
                "leading order, exp(-N² ln 3 / 4)": (
                    fine,
                    [math.exp(-n * n * math.log(3) / 4) for n in fine],
                ),
            },
            log="y",
        ),
        details={f"N = {n}": share for n, share in shares.items()},
    )


def positive_share(N: int, matrices: int, diagonal: float, generator: torch.Generator) -> float:
    """Of matrices with positive leading minors, which is Sylvester's criterion."""
    A = torch.randn(matrices, N, N, dtype=torch.float64, generator=generator)
    H = (A + A.mT) / 2**0.5
    H.diagonal(dim1=1, dim2=2).mul_((diagonal / 2) ** 0.5)
    minors = [torch.linalg.det(H[:, :k, :k]) > 0 for k in range(1, N + 1)]
    return torch.stack(minors).all(0).double().mean().item()
