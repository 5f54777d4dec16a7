"""Claim: a large Hopfield network loses all its patterns at s/n ≈ 0.138 (J 1.4).

    α_c = max_y ½ (erf(y)/y - 2/√π e^(-y²))² = 0.1379,     n → ∞: recalled if s/n < α_c, lost above

Measured: memories of n/4, n/2 and n units; patterns of independent fair signs are shown without
noise, and the fraction still recognized (overlap above 0.8) after recall falls more steeply the
larger n is. The load at which half are lost is extrapolated linearly in 1/√n to n = ∞; its distance
from α_c.
Bound: 0.025. The line neglects terms of order 1/n, which move its end by about 0.007; the standard
deviation of sampling is 0.003.
Amit, Gutfreund and Sompolinsky (1985), Physical Review Letters 55.
"""

import numpy as np
import torch
from scipy.special import erf

from chainrule.errors import InputError
from chainrule.lab.claim import Picture, Verdict
from chainrule.models.connectionism.hopfield import Hopfield

BOUND = 0.025
BEYOND = (-1.2, -0.6, 0.0, 0.3, 0.6, 0.9, 1.2, 1.5, 2.0)  # (s/n - α_c) √n
STEEP = slice(3, 8)  # where the share falls by about the same for each step
SHOWN, STEPS, RECOGNIZED = 40, 40, 0.8


def check(units: int = 1024, trials: int = 3, seed: int = 0) -> Verdict:
    """Patterns of fair signs.

    Args:
        units: Units n of the largest memory, at least 64.
        trials: Memories of n units at each load; proportionally more of the smaller ones.
    """
    if units < 64:
        raise InputError(f"`units` must be at least 64 for the transition to show, got {units}")
    return verdict(units, trials, seed, positive=0.5)


def broken() -> Verdict:
    """Biased signs interfere with each other more."""
    return verdict(256, 4, 0, positive=0.6)


def verdict(n: int, trials: int, seed: int, positive: float) -> Verdict:
    """The load at which half of the patterns are lost, by n, and its limit."""
    generator = torch.Generator().manual_seed(seed)
    sizes, critical = [n // 4, n // 2, n], critical_load()
    points, halves = {}, []
    for units in sizes:
        numbers = [max(round(critical * units + y * units**0.5), 1) for y in BEYOND]
        memories = trials * n // units
        shares = [recalled(units, s, memories, positive, generator) for s in numbers]
        loads = [s / units for s in numbers]
        points[f"{units} units"] = (loads, shares)
        slope, height = np.polyfit(loads[STEEP], shares[STEEP], 1)
        halves.append((0.5 - height) / slope)
    limit = float(np.polyfit([m**-0.5 for m in sizes], halves, 1)[1])
    return Verdict(
        quantity="|extrapolated critical load - 0.1379|",
        measured=abs(limit - critical),
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="The more units, the more sudden the loss of memory",
            x_label="patterns per unit, s / n",
            y_label="fraction of patterns recalled",
            points=points,
            bounds={"n → ∞": ([0.02, critical, critical, 0.3], [1.0, 1.0, 0.0, 0.0])},
            marks={f"{critical:.3f}": critical},
        ),
        details={"limit": limit, "at the largest n": float(halves[-1])},
    )


def critical_load() -> float:
    """max_y ½ (erf(y)/y - 2/√π e^(-y²))²."""
    y = np.linspace(0.5, 4, 10_000)
    return float((0.5 * (erf(y) / y - 2 / np.pi**0.5 * np.exp(-(y**2))) ** 2).max())


def recalled(n: int, s: int, memories: int, positive: float, generator: torch.Generator) -> float:
    """Fraction of patterns that memories of s patterns still recognize after recall."""
    model, kept = Hopfield(n), []
    for _ in range(memories):
        patterns = (torch.rand(s, n, generator=generator) < positive).float() * 2 - 1
        model.store(patterns)
        shown = patterns[:SHOWN]
        overlap = (model.recall_synchronous(shown, STEPS) * shown).mean(1)
        kept.append((overlap > RECOGNIZED).double().mean())
    return float(torch.stack(kept).mean())
