"""Claim: with Hebb's diagonal s/n in W, units keep their values, right or wrong (J 1.4).

    W = 1/n Σ_p x_p x_pᵀ  has  w_ii = s/n:        x_i (W x)_i = s/n + 1/n Σ_p Σ_{j≠i} ± 1
    random state x:   P(x_i flips) = ½ without the diagonal,   → Φ(-√(s/n)) with it

Measured: the fraction of units of random states that one update flips, with and without the
diagonal, at several s/n; the largest distance from the exact binomial law, in standard errors over
independent memories.
Bound: 5.5, which one seed in 10⁶ exceeds. The law must also lie within 0.01 of Φ(-√(s/n)).
The notes require w_ii = 0 and then print Hebb's W, whose diagonal is s/n.
"""

import math

import torch
from scipy.stats import binom, norm

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.models.connectionism.hopfield import hebb, synchronous

LEVEL, CLOSE = 5.5, 0.01
RATIOS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0)
STATES = 100


def check(units: int = 200, memories: int = 60, seed: int = 0) -> Verdict:
    """Random states, which hold no memory.

    Args:
        units: Units n.
        memories: Independent memories at each s/n.
    """
    return verdict(units, memories, seed)


def broken() -> Verdict:
    """The diagonal is predicted, but W has none."""
    return verdict(200, 20, 0, diagonal=0.0)


def near() -> Near:
    """Another diagonal than s/n."""
    return ten_percent("diagonal s/n", lambda factor: verdict(200, 20, 0, diagonal=factor))


def verdict(n: int, memories: int, seed: int, diagonal: float = 1.0) -> Verdict:
    """Flips with the diagonal s/n and with none."""
    generator = torch.Generator().manual_seed(seed)
    found: dict[str, list[float]] = {"with": [], "without": []}
    distances, gaps = [], []
    for ratio in RATIOS:
        s = round(ratio * n)
        for name, factor in (("with", diagonal), ("without", 0.0)):
            shares = torch.tensor([flipped(n, s, factor, generator) for _ in range(memories)])
            law = probability(n, s, name == "with")
            error = shares.std().item() / memories**0.5
            found[name].append(shares.mean().item())
            distances.append(abs(found[name][-1] - law) / error)
        gaps.append(abs(probability(n, s, True) - float(norm.cdf(-math.sqrt(s / n)))))
    fine = [0.05 + k / 50 for k in range(98)]
    return Verdict(
        quantity="largest |flipped - binomial law|, standard errors",
        measured=max(distances),
        relation="≤",
        bound=LEVEL,
        conditions={"the law is Φ(-√(s/n)) within 0.01": max(gaps) <= CLOSE},
        picture=Picture(
            title="Hebb's diagonal keeps units from changing",
            x_label="patterns per unit, s / n",
            y_label="fraction of a random state flipped by one update",
            curves={
                "diagonal s/n": (fine, [float(norm.cdf(-math.sqrt(r))) for r in fine]),
                "zero diagonal": (fine, [0.5 for _ in fine]),
            },
            points={
                "diagonal s/n": (list(RATIOS), found["with"]),
                "zero diagonal": (list(RATIOS), found["without"]),
            },
        ),
        details={"flipped at s = n, with the diagonal": found["with"][RATIOS.index(1.0)]},
    )


def probability(n: int, s: int, diagonal: bool) -> float:
    """P(s(n - 1) random signs sum below -s, or below 0 without a diagonal); a tie keeps x_i."""
    signs = s * (n - 1)
    limit = -s if diagonal else 0
    return float(binom.cdf(math.ceil((signs + limit) / 2) - 1, signs, 0.5))


def flipped(n: int, s: int, factor: float, generator: torch.Generator) -> float:
    """Fraction of the units of random states that one update flips."""
    patterns, x = (
        torch.randint(0, 2, (rows, n), generator=generator).double() * 2 - 1 for rows in (s, STATES)
    )
    W = (hebb(patterns) * n).round()  # whole numbers, so that ties are exact
    W = W.fill_diagonal_(factor * s)
    return (synchronous(W, W.new_zeros(n), x) != x).double().mean().item()
