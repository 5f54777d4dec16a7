"""Bounds that hold whatever the distribution: Hoeffding's, and what follows for finite classes.

    P(|mean - μ| ≥ t) ≤ 2 exp(-2 n t² / (b - a)²)                     values in [a, b]
    R(h) ≤ R̂(h) + √((log |H| + log 2/δ) / 2n)   for all h ∈ H         agnostic, union bound
    R(h) ≤ (log |H| + log 1/δ) / n              if R̂(h) = 0           realizable
    growth(n) ≤ Σ_{i ≤ d} C(n, i)                                     Sauer's lemma, VC dimension d

The right-hand sides hold with probability at least 1 - δ over n independent examples.

Hoeffding (1963), JASA 58; Valiant (1984), CACM 27; Vapnik and Chervonenkis (1971). Notes: A 5.
"""

import math

from chainrule.errors import InputError


def hoeffding(number: int, deviation: float, width: float = 1.0) -> float:
    """P(|mean - μ| ≥ t) ≤ 2 exp(-2 n t² / width²)."""
    positive(number=number, deviation=deviation, width=width)
    return min(1.0, 2 * math.exp(-2 * number * deviation**2 / width**2))


def hoeffding_deviation(number: int, failure: float, width: float = 1.0) -> float:
    """The t that is exceeded with probability at most δ: width √(log(2/δ) / 2n)."""
    positive(number=number, width=width)
    return width * math.sqrt(math.log(2 / probability(failure)) / (2 * number))


def finite_class_gap(number: int, hypotheses: int, failure: float) -> float:
    """sup_h |R(h) - R̂(h)| ≤ √((log |H| + log 2/δ) / 2n) with probability 1 - δ."""
    positive(number=number, hypotheses=hypotheses)
    return math.sqrt((math.log(hypotheses) + math.log(2 / probability(failure))) / (2 * number))


def consistent_risk(number: int, hypotheses: int, failure: float) -> float:
    """R(h) ≤ (log |H| + log 1/δ) / n for every h without a mistake on n examples."""
    positive(number=number, hypotheses=hypotheses)
    return (math.log(hypotheses) + math.log(1 / probability(failure))) / number


def examples_needed(hypotheses: int, gap: float, failure: float) -> int:
    """The smallest n whose `finite_class_gap` is at most the gap: (log |H| + log 2/δ) / 2 ε²."""
    positive(hypotheses=hypotheses, gap=gap)
    wanted = (math.log(hypotheses) + math.log(2 / probability(failure))) / (2 * gap**2)
    return max(1, math.ceil(wanted))


def sauer(points: int, dimension: int) -> int:
    """Σ_{i ≤ d} C(n, i), the most labelings that a class of VC dimension d gives n points."""
    if points < 0 or dimension < 0:
        raise InputError(f"expected points and a dimension from 0, got {points} and {dimension}")
    return sum(math.comb(points, i) for i in range(min(dimension, points) + 1))


def probability(failure: float) -> float:
    """δ itself, if it is one."""
    if not 0 < failure < 1:
        raise InputError(f"the probability of failure δ must lie between 0 and 1, got {failure}")
    return failure


def positive(**numbers: int | float) -> None:
    for name, value in numbers.items():
        if not value > 0 or math.isinf(value):
            raise InputError(f"{name} must be a positive number, got {value}")
