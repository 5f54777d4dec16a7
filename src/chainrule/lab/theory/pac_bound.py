"""Claim: a finite class needs log |H| more in its PAC bound, which independent h use up (A 5).

    P(max_{h ∈ H} |R(h) - R̂(h)| > √((log |H| + log 2/δ) / 2n)) ≤ δ               any distribution
    P(some h with R̂(h) = 0 has R(h) > (log |H| + log 1/δ) / n) ≤ δ               realizable

Measured: for |H| = 1 … 10²⁰⁰ classifiers that err independently, with risk ½ in the first bound and
one common risk in the second, the gap (risk) that is exceeded with probability δ, by exact binomial
tails, divided by the bound; the largest ratio.
Bound: 1, by the union bound and Hoeffding's inequality. At the largest |H| both ratios must also
reach 0.98, where log |H| is all that counts: neither constant can be improved.
Samples of 100 such classifiers must break both bounds as often as the tails say, within 5 standard
errors, which one seed in 10⁶ exceeds.
Valiant (1984), CACM 27.
"""

import math

import numpy as np
from scipy.optimize import brentq
from scipy.stats import binom

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.models.theory.bounds import consistent_risk, finite_class_gap

TIGHT, LEVEL = 0.98, 5.0
EXAMPLES = 1_000_000
POWERS = (0, 1, 2, 5, 10, 20, 50, 100, 200)  # of |H| = 10^power
SAMPLED, FEW = 100, 200  # classifiers and examples of the samples


def check(delta: float = 0.1, samples: int = 2000, seed: int = 0) -> Verdict:
    """The bound for the whole class.

    Args:
        delta: Failure probability δ.
        samples: Samples of 200 examples.
    """
    return verdict(delta, samples, seed)


def broken() -> Verdict:
    """The bound for one hypothesis chosen before seeing the examples."""
    return verdict(0.1, 200, 0, log_factor=0.0)


def near() -> Near:
    """Another factor of log |H|, a class counted as far smaller, and classifiers in pairs."""
    return {
        **ten_percent("log |H|", lambda factor: verdict(0.1, 200, 0, log_factor=factor)),
        "log ∛|H|": lambda: verdict(0.1, 200, 0, log_factor=1 / 3),
        "equal pairs: half as many": lambda: verdict(0.1, 2000, 0, copies=2),
    }


def verdict(
    delta: float, samples: int, seed: int, log_factor: float = 1.0, copies: int = 1
) -> Verdict:
    """Exact quantiles against the bounds."""
    sizes = [10**power for power in POWERS]
    bounds = [allowed(size, delta, log_factor) for size in sizes]
    exact = [exceeded(size, delta) for size in sizes]
    ratios = np.array(exact) / np.array(bounds)
    return Verdict(
        quantity="largest exceeded with probability δ / bound",
        measured=float(ratios.max()),
        relation="≤",
        bound=1.0,
        conditions={
            "both attained within 2 %": bool((ratios[-1] >= TIGHT).all()),
            "samples agree with the tails": distance(delta, samples, seed, copies) <= LEVEL,
        },
        picture=Picture(
            title="The gap of the worst of |H| hypotheses grows like √log |H|",
            x_label="hypotheses |H|",
            y_label="share of the bound used",
            points={
                "gap, any distribution": ([float(s) for s in sizes], ratios[:, 0].tolist()),
                "risk, realizable": ([float(s) for s in sizes], ratios[:, 1].tolist()),
            },
            bounds={"bound": ([1.0, 1e200], [1.0, 1.0])},
            log="x",
        ),
        details={
            "share of the bound used, |H| = 100": float(ratios[2].max()),
            "gap at |H| = 10²⁰⁰ / bound": float(ratios[-1, 0]),
            "risk at |H| = 10²⁰⁰ / bound": float(ratios[-1, 1]),
        },
    )


def allowed(size: int, delta: float, log_factor: float, n: int = EXAMPLES) -> tuple[float, float]:
    """The two bounds, for |H|^factor hypotheses."""
    counted = size if log_factor == 1 else round(size**log_factor)
    return finite_class_gap(n, counted, delta), consistent_risk(n, counted, delta)


def exceeded(size: int, delta: float, n: int = EXAMPLES) -> tuple[float, float]:
    """The gap and the risk that the worst of |H| independent h exceeds with probability δ."""
    survive = math.log1p(-delta) / size  # 1 - (1 - q)^|H| = δ, where q is that of one h
    log_q = math.log(-math.expm1(survive))

    def excess(wrong: float) -> float:
        return float(binom.logsf(wrong, n, 0.5)) + math.log(2) - log_q

    return brentq(excess, n / 2, n / 2 + 40 * n**0.5) / n - 0.5, -math.expm1(log_q / n)


def distance(delta: float, samples: int, seed: int, copies: int) -> float:
    """The larger distance of a failing fraction from its exact probability, in standard errors."""
    generator = np.random.default_rng(seed)
    gap, risk = allowed(SAMPLED, delta, 1.0, FEW)
    limit = math.floor(FEW * (0.5 + 0.8 * gap))  # exceeded more often than the bound itself
    far = generator.binomial(FEW, 0.5, (samples, SAMPLED // copies))
    none = generator.binomial(FEW, risk, (samples, SAMPLED // copies))
    failed = {
        2 * float(binom.sf(limit, FEW, 0.5)): (np.abs(far - FEW / 2) > limit - FEW / 2).any(1),
        float(binom.pmf(0, FEW, risk)): (none == 0).any(1),
    }
    errors = []
    for one, broke in failed.items():
        p = 1 - (1 - one) ** SAMPLED
        errors.append(abs(float(broke.mean()) - p) / math.sqrt(p * (1 - p) / samples))
    return max(errors)
