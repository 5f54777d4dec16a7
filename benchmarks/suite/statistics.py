"""Medians of ratios with their intervals, slopes, and changes from one run to the next."""

import math
from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

import numpy as np

LEVEL = 0.95
LEAST = 6  # values that an interval of 95 % for a median needs


class Interval(NamedTuple):
    """A median and where it lies with 95 % confidence."""

    value: float
    low: float
    high: float

    @property
    def width(self) -> float:
        """As a share of the value."""
        return (self.high - self.low) / self.value

    @property
    def tie(self) -> bool:
        """Whether a ratio may be one."""
        return self.low <= 1 <= self.high


def median_interval(values: Sequence[float]) -> Interval:
    """The median between two order statistics, by the binomial distribution: no assumption on
    the values but that they are independent.

    With fewer than six values the smallest and the largest do not reach 95 %; they are given all
    the same, and the number of rounds stands beside them.
    """
    ordered, n = sorted(values), len(values)
    drop, below = 0, 0.5**n  # P(fewer than drop + 1 of n values lie below the median)
    while 2 * below <= 1 - LEVEL and drop < n // 2:
        drop += 1
        below += math.comb(n, drop) * 0.5**n
    drop = max(drop - 1, 0)
    return Interval(median(ordered), ordered[drop], ordered[n - 1 - drop])


def ratios(times: Sequence[float], ours: Sequence[float]) -> list[float]:
    """How much longer a contender took, round by round; the first rounds if one left early."""
    return [theirs / own for theirs, own in zip(times, ours, strict=False)]


def narrow(values: Sequence[float], width: float) -> bool:
    """Whether the interval is known well enough to stop."""
    return len(values) >= LEAST and median_interval(values).width < width


def slope(sizes: Sequence[float], values: Sequence[float]) -> tuple[float, float]:
    """The exponent p of values ~ sizes**p, fitted on the larger half, and its standard error."""
    half = min(len(sizes) // 2, len(sizes) - 2)
    x, y = np.log(sizes[half:]), np.log(values[half:])
    line = np.polyfit(x, y, 1)
    rest = y - np.polyval(line, x)
    freedom = len(x) - 2
    spread = float(((x - x.mean()) ** 2).sum())
    error = math.sqrt(float((rest**2).sum()) / freedom / spread) if freedom else 0.0
    return float(line[0]), error


def change(new: Interval, old: Interval) -> Interval:
    """How much larger a ratio is than before, errors combined as independent ones."""
    value = new.value / old.value
    down = math.hypot(math.log(new.value / new.low), math.log(old.high / old.value))
    up = math.hypot(math.log(new.high / new.value), math.log(old.value / old.low))
    return Interval(value, value * math.exp(-down), value * math.exp(up))


def drift(rates: Sequence[float]) -> float:
    """By which share the rate of the last third differs from that of the first."""
    third = max(1, len(rates) // 3)
    return median(rates[-third:]) / median(rates[:third]) - 1
