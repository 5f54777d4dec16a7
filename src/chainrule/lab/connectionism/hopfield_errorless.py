"""Claim: random patterns are stored without errors up to n / (2 ln n), not beyond (J 1.4).

    errors per pattern = n p,   p = ½ erfc √(n / 2s)     s = c n / (2 ln n):   n p ~ n^(1 - 1/c)
    n p = 1   at   n/s = 2 ln n - ln(4π ln n) + o(1),      P(pattern disturbed) ≤ n p

Measured: for n = 128 … `max_units`, the number of stored patterns at which one update changes one
bit per pattern on average, interpolated between memories of 0.85, 1 and 1.15 times n/2 ln n × 1.4;
the least-squares constant a of n/s + ln(4π ln n) = a ln n, as |a - 2|.
Bound: 0.1, half of a 10 % error; the asymptotic series leaves 0.03 to 0.05 at these n, and
sampling 0.01. At twice n / (2 ln n), the share of disturbed patterns must also rise with n to more
than 0.9; at 0.7 times that number it must stay below 0.015, and its exact bound n p must fall from
n = 2¹⁰ to 2¹⁵ and 2²⁰.
The notes print n / (2 log₂ n), which is 0.69 times n / (2 ln n): enough, but not the limit. For all
patterns at once it is n / (4 ln n). McEliece et al. (1987), IEEE Trans. Information Theory 33.
"""

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from chainrule.errors import InputError
from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.lab.helpers.crosstalk import flip_probability
from chainrule.models.connectionism.hopfield import hebb, synchronous

BOUND = 0.1
ONE_ERROR = 1.4  # s / (n / 2 ln n) with about one error per pattern at these n
AROUND = (0.85, 1.0, 1.15)
BELOW, ABOVE = 0.7, 2.0
FEW = 0.015  # three times the largest n p at 0.7, which is 0.005
Logarithm = Callable[[float], float]


def check(max_units: int = 1024, patterns: int = 2500, seed: int = 0) -> Verdict:
    """Patterns of fair signs.

    Args:
        max_units: Units n of the largest memory, at least 512.
        patterns: Patterns stored for each n and load, in many memories.
    """
    if max_units < 512:
        raise InputError(f"`max_units` must be at least 512 for the trend to show, got {max_units}")
    return verdict(max_units, patterns, seed)


def broken() -> Verdict:
    """Biased signs: the patterns overlap."""
    return verdict(512, 500, 0, positive=0.7)


def near() -> Near:
    """Another constant, the logarithm as printed, and slightly biased signs."""
    return {
        **ten_percent(
            "2 ln n", lambda c: verdict(512, 500, 0, limit=lambda n: c * 2 * math.log(n))
        ),
        "as printed: 2 log₂ n": lambda: verdict(512, 500, 0, limit=lambda n: 2 * math.log2(n)),
        "60 % positive signs": lambda: verdict(512, 500, 0, positive=0.6),
    }


def verdict(
    largest: int,
    patterns: int,
    seed: int,
    positive: float = 0.5,
    limit: Logarithm = lambda n: 2 * math.log(n),
) -> Verdict:
    """The load of one error per pattern, and shares of disturbed patterns, by n."""
    generator = torch.Generator().manual_seed(seed)
    sizes = [128 * 2**k for k in range(int(math.log2(largest / 128)) + 1)]
    inverse = [one_error(n, patterns, positive, generator) for n in sizes]
    logs = np.log(sizes)
    a = float((inverse + np.log(4 * math.pi * logs)) @ logs / (logs @ logs))
    shares = {
        c: [disturbed(n, c, patterns, positive, generator) for n in sizes] for c in (BELOW, ABOVE)
    }
    wanted = limit(largest) / math.log(largest)
    return Verdict(
        quantity="|constant of ln n - 2|",
        measured=abs(a - wanted),
        relation="≤",
        bound=BOUND,
        conditions={
            "below, few are disturbed": max(shares[BELOW]) < FEW,
            "below, n p falls with n": falls([expected(2**k, BELOW) for k in (10, 15, 20)]),
            "above, the share rises to 0.9": falls(shares[ABOVE][::-1]) and shares[ABOVE][-1] > 0.9,
        },
        picture=picture(sizes, shares),
        details={
            "constant": a,
            "disturbed at 0.7 n / (2 ln n), largest n": shares[BELOW][-1],
            "disturbed at 2 n / (2 ln n), largest n": shares[ABOVE][-1],
        },
    )


def picture(sizes: list[int], shares: dict[float, list[float]]) -> Picture:
    """Shares against n, and the bound n p."""
    axis = [float(n) for n in sizes]
    return Picture(
        title="Below n / (2 ln n) few patterns have errors; above it the share rises with n",
        x_label="units n",
        y_label="share of patterns with an error",
        points={f"{c:g} n / (2 ln n)": (axis, values) for c, values in shares.items()},
        bounds={
            f"n p, {c:g} n / (2 ln n)": (
                axis,
                [min(expected(n, c), 1.0) for n in sizes],
            )
            for c in shares
        },
        log="xy",
    )


def falls(values: list[float]) -> bool:
    return all(later < earlier for earlier, later in pairwise(values))


def expected(n: int, c: float) -> float:
    """n p, the errors per pattern, exactly."""
    return n * flip_probability(n, load(n, c))


def load(n: int, c: float) -> int:
    """c n / (2 ln n) patterns."""
    return round(c * n / (2 * math.log(n)))


def one_error(n: int, patterns: int, positive: float, generator: torch.Generator) -> float:
    """n/s at one wrong bit per pattern; the logarithm of the errors is linear in n/s."""
    numbers = [load(n, ONE_ERROR * around) for around in AROUND]
    errors = [wrong(n, s, patterns, positive, generator).mean().item() for s in numbers]
    return float(np.polyfit(np.log(errors), [n / s for s in numbers], 1)[1])


def disturbed(
    n: int, c: float, patterns: int, positive: float, generator: torch.Generator
) -> float:
    """Fraction of the stored patterns that one update changes."""
    found = wrong(n, load(n, c), patterns, positive, generator)
    return (found > 0).double().mean().item()


def wrong(n: int, s: int, patterns: int, positive: float, generator: torch.Generator) -> Tensor:
    """Bits that one update changes, for each stored pattern of several memories."""
    found = []
    for _ in range(math.ceil(patterns / s)):
        stored = (torch.rand(s, n, generator=generator) < positive).float() * 2 - 1
        changed = synchronous(hebb(stored), torch.zeros(n), stored) != stored
        found.append(changed.sum(1).double())
    return torch.cat(found)
