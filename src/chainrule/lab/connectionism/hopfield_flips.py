"""Claim: one update flips a stored bit with probability ½ (1 - erf √(n / 2s)) (J 1.4).

    -x_i C_i = -1/n Σ_{p≠t} Σ_{j≠i} x_{p,i} x_{p,j} x_{t,j} x_{t,i}  ~  N(0, s/n),   flip if ≥ 1

Measured: the fraction of flipped bits when random patterns are stored and one of them is shown,
over independent memories, at several s/n; the largest distance from the prediction, in standard
errors over the memories. The terms of the sum are independent signs, so flips follow a binomial law
exactly; its distance from the Gaussian formula is added to the standard error.
Bound: Student's quantile that all s/n together exceed for one seed in 10⁶.
The integral in the notes lacks the Gaussian's constant √(n / 2πs); the closed form beside it is
right.
"""

import math
from collections.abc import Callable

import torch
from scipy.stats import t

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.lab.helpers.crosstalk import flip_probability
from chainrule.models.connectionism.hopfield import hebb, synchronous

RATIOS = (0.1, 0.15, 0.2, 0.3, 0.5, 0.8)
LEVEL = 1e-6


def check(units: int = 300, memories: int = 40, seed: int = 0) -> Verdict:
    """Patterns of random signs.

    Args:
        units: Units n.
        memories: Independent memories at each s/n.
    """
    return verdict(units, memories, seed, formula)


def broken() -> Verdict:
    """A Gaussian of half the variance."""
    return verdict(300, 40, 0, lambda ratio: formula(0.5 * ratio))


def near() -> Near:
    """A Gaussian of almost the right variance, or without its constant."""

    def printed(ratio: float) -> float:
        return math.sqrt(2 * math.pi * ratio) * formula(ratio)

    return {
        **ten_percent("s/n", lambda factor: verdict(300, 40, 0, lambda r: formula(factor * r))),
        "as printed: no √(n / 2πs)": lambda: verdict(300, 40, 0, printed),
    }


def verdict(units: int, memories: int, seed: int, law: Callable[[float], float]) -> Verdict:
    """Fractions of flipped bits against the formula."""
    generator = torch.Generator().manual_seed(seed)
    means, distances = [], []
    for ratio in RATIOS:
        s = round(ratio * units)
        shares = torch.tensor([flipped(units, s, generator) for _ in range(memories)])
        predicted, mean = law(ratio), shares.mean().item()
        error = shares.std().item() / memories**0.5 + abs(
            flip_probability(units, s) - formula(ratio)
        )
        means.append(mean)
        distances.append(abs(mean - predicted) / error)
    bound = float(t.isf(LEVEL / len(RATIOS) / 2, memories - 1))
    fine = [0.06 + step / 100 for step in range(85)]
    return Verdict(
        quantity="largest |flipped - predicted|, standard errors",
        measured=max(distances),
        relation="≤",
        bound=bound,
        picture=Picture(
            title="Crosstalk flips stored bits as a Gaussian predicts",
            x_label="patterns per unit, s / n",
            y_label="fraction of bits flipped by one update",
            curves={"½ (1 - erf √(n/2s))": (fine, [law(r) for r in fine])},
            points={"measured": (list(RATIOS), means)},
            log="y",
        ),
        details={"bits": float(len(RATIOS) * memories * units)},
    )


def formula(ratio: float) -> float:
    """½ (1 - erf √(n / 2s)) for s/n."""
    return 0.5 * math.erfc(math.sqrt(0.5 / ratio))


def flipped(n: int, s: int, generator: torch.Generator) -> float:
    """Fraction of bits of a stored pattern that one update changes."""
    patterns = torch.randint(0, 2, (s, n), generator=generator).double() * 2 - 1
    shown = patterns[: max(s // 10, 1)]
    W = hebb(patterns)
    return (synchronous(W, torch.zeros(n, dtype=W.dtype), shown) != shown).double().mean().item()
