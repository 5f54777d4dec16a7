"""Bounds for any distribution: Hoeffding's inequality and its consequences for finite classes.

    P(|mean - μ| ≥ t) ≤ 2 exp(-2 n t² / (b - a)²)                     values in [a, b]
    R(h) ≤ R̂(h) + √((log |H| + log 2/δ) / 2n)   for all h ∈ H         agnostic, union bound
    R(h) ≤ (log |H| + log 1/δ) / n              if R̂(h) = 0           realizable
    growth(n) ≤ Σ_{i ≤ d} C(n, i)                                     Sauer's lemma, VC dimension d

The right-hand sides hold with probability at least 1 - δ over n independent examples.

Hoeffding (1963), JASA 58; Valiant (1984), CACM 27; Vapnik and Chervonenkis (1971). Notes: A 5.
"""

import math

from chainrule.errors import InputError


def hoeffding(examples: int, deviation: float, width: float = 1.0) -> float:
    """P(|mean - μ| ≥ t) ≤ 2 exp(-2 n t² / width²)."""
    positive(examples=examples, deviation=deviation, width=width)
    return min(1.0, 2 * math.exp(-2 * examples * deviation**2 / width**2))


def hoeffding_deviation(examples: int, delta: float, width: float = 1.0) -> float:
    """The t that is exceeded with probability at most δ: width √(log(2/δ) / 2n)."""
    positive(examples=examples, width=width)
    return width * math.sqrt(math.log(2 / probability(delta)) / (2 * examples))


def finite_class_gap(examples: int, hypotheses: int, delta: float) -> float:
    """sup_h |R(h) - R̂(h)| ≤ √((log |H| + log 2/δ) / 2n) with probability 1 - δ."""
    positive(examples=examples, hypotheses=hypotheses)
    return math.sqrt((math.log(hypotheses) + math.log(2 / probability(delta))) / (2 * examples))


def consistent_risk(examples: int, hypotheses: int, delta: float) -> float:
    """R(h) ≤ (log |H| + log 1/δ) / n for every h that makes no mistake on n examples."""
    positive(examples=examples, hypotheses=hypotheses)
    return (math.log(hypotheses) + math.log(1 / probability(delta))) / examples


def examples_needed(hypotheses: int, gap: float, delta: float) -> int:
    """The smallest n whose `finite_class_gap` is at most the gap: (log |H| + log 2/δ) / 2 ε²."""
    positive(hypotheses=hypotheses, gap=gap)
    wanted = (math.log(hypotheses) + math.log(2 / probability(delta))) / (2 * gap**2)
    return max(1, math.ceil(wanted))


def sauer(points: int, dimension: int) -> int:
    """Σ_{i ≤ d} C(n, i), the most labelings that a class of VC dimension d gives n points."""
    if points < 0 or dimension < 0:
        raise InputError(f"points and dimension must be at least 0, got {points} and {dimension}")
    return sum(math.comb(points, i) for i in range(min(dimension, points) + 1))


def probability(delta: float) -> float:
    """δ, checked."""
    if not 0 < delta < 1:
        raise InputError(f"delta must be a probability between 0 and 1, got {delta}")
    return delta


def positive(**numbers: int | float) -> None:
    for name, value in numbers.items():
        if not 0 < value < math.inf:  # also for integers beyond the largest float
            raise InputError(f"{name} must be a positive number, got {value}")
