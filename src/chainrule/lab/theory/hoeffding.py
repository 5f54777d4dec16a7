"""Claim: a mean of n values in [0, 1] misses by t with probability ≤ 2 exp(-2nt²), no less (A 5).

    P(|mean - μ| ≥ t) ≤ 2 exp(-2 n t²),       -log(P/2) / (2 n t²) → 1   for fair coins, n t² → ∞

Measured: by exact binomial tails, for coins of several biases and n = 1 … 10⁶, the smallest ratio
of -log(P/2) to the exponent of the bound.
Bound: 1, by the theorem. A fair coin must also attain it within 2 %: at n t² = 300 the normal
tail leaves log(8π 300) / (4 · 300) = 0.7 %, so no larger constant than 2 holds.
Hoeffding (1963), JASA 58.
"""

import math

import numpy as np
from scipy.stats import binom

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.models.theory.bounds import hoeffding

TIGHT = 0.02
NUMBERS = (1, 10, 100, 10_000, 1_000_000)
BIASES = (0.05, 0.3, 0.5)
SCALED = (0.5, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)  # n t²; from ½ on the bound is below 1
SHOWN = (10, 100, 1_000_000)


def check(max_scaled: float = 300.0) -> Verdict:
    """Independent values.

    Args:
        max_scaled: Largest n t²; exp(-2 n t²) must be a number above 0.
    """
    return verdict(max_scaled)


def broken() -> Verdict:
    """Every value is counted five times, so fewer than n are independent."""
    return verdict(300.0, repeated=5)


def near() -> Near:
    """Another constant, dependent values, values in a slightly larger interval."""
    return {
        **ten_percent("exponent 2nt²", lambda factor: verdict(200.0, factor=factor)),
        "exponent 3nt²": lambda: verdict(200.0, factor=1.5),
        "values counted 2 times": lambda: verdict(200.0, repeated=2),
        "values in [0, 1.1]": lambda: verdict(200.0, width=1.1),
    }


def verdict(largest: float, repeated: int = 1, width: float = 1.0, factor: float = 1.0) -> Verdict:
    """Exponents of exact tails against the exponent of the bound."""
    scales = [c for c in SCALED if c <= largest]
    found = {
        (p, n): [exponent(n, p, c, repeated, width) / bounded(n, factor * c) for c in scales]
        for p in BIASES
        for n in NUMBERS
        if n >= repeated
    }
    smallest = min(map(min, found.values()))
    return Verdict(
        quantity="smallest -log(P/2) / 2nt²",
        measured=smallest,
        relation="≥",
        bound=1.0,
        conditions={"a fair coin attains it within 2 %": smallest <= 1 + TIGHT},
        picture=picture(scales),
        details={
            "share of the bound used": 1 / smallest,
            "tails": float(sum(map(len, found.values()))),
        },
    )


def picture(scales: list[float]) -> Picture:
    """Exact tails of fair coins below the bound, as exponents."""
    exponents = {n: [exponent(n, 0.5, c) for c in scales] for n in SHOWN}
    shown = {
        n: [(c, e) for c, e in zip(scales, es, strict=True) if e < math.inf]
        for n, es in exponents.items()
    }
    return Picture(
        title="Fair coins reach Hoeffding's exponent, and never undercut it",
        x_label="n t²",
        y_label="-log(P(|mean - ½| ≥ t) / 2)",
        points={
            f"coins, n = {n:,}": ([c for c, _ in pairs], [e for _, e in pairs])
            for n, pairs in shown.items()
        },
        bounds={"2 n t²": (scales, [bounded(1, c) for c in scales])},
        log="xy",
    )


def bounded(n: int, scaled: float) -> float:
    """-log(bound / 2) at n t² = `scaled`."""
    return -math.log(hoeffding(n, math.sqrt(scaled / n)) / 2)


def exponent(n: int, p: float, scaled: float, repeated: int = 1, width: float = 1.0) -> float:
    """-log(P(|mean - μ| ≥ t) / 2) at n t² = `scaled`, for values 0 and `width`."""
    tosses, t = n // repeated, math.sqrt(scaled / n) / width
    above = math.ceil(tosses * (p + t) - 1e-9 * tosses)
    below = math.floor(tosses * (p - t) + 1e-9 * tosses)
    law = binom(tosses, p)
    log_tail = np.logaddexp(law.logsf(above - 1), law.logcdf(below))
    return float(math.log(2) - log_tail)
