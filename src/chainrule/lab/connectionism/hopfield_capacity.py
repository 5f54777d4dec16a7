"""Claim: a large Hopfield network loses all its patterns at s/n ≈ 0.138 (J 1.4).

    √(2α) = erf(y)/y - 2/√π e^(-y²),   m = erf(y)         load α = s/n, overlap m after recall
    α_c = max_y ½ (erf(y)/y - 2/√π e^(-y²))² = 0.1379        beyond it, no m solves the equation

Measured: patterns of independent fair signs are shown without noise. The load at which half of them
are lost (overlap below 0.8 after recall) is found for three n and extrapolated linearly in n^(-2/3)
to n = ∞; its distance from α_c.
Bound: 0.01. A recalled state that disappears at a tangent shifts the transition by n^(-2/3); terms
of higher order move the limit by 0.004 at these n, and sampling by 0.001, as a bootstrap over the
memories shows. Before the transition, the load that the equation gives for the measured overlap
must also lie within 5 % of s/n, of which sampling is 0.7 %.
Amit, Gutfreund and Sompolinsky (1985), Physical Review Letters 55.
"""

from collections.abc import Callable

import numpy as np
import torch
from scipy.special import erf, erfinv

from chainrule.errors import InputError
from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.models.connectionism.hopfield import recall_stored

BOUND, RELATIVE = 0.01, 0.05
BEYOND = (0.3, 0.55, 0.8, 1.05, 1.3)  # (s/n - α_c) √n, where half of the patterns are lost
LOADS = (0.11, 0.125)  # before the transition
SHOWN, STEPS, RECOGNIZED = 10, 40, 0.8
Load = Callable[[float], float]


def check(units: int = 1024, memories: int = 60, seed: int = 0) -> Verdict:
    """Patterns of fair signs.

    Args:
        units: Units n of the largest memory, at least 256.
        memories: Memories of n units at each load; more of the smaller ones.
    """
    if units < 256:
        raise InputError(f"`units` must be at least 256 for the transition to show, got {units}")
    return verdict(units, memories, seed)


def broken() -> Verdict:
    """Biased signs interfere with each other more."""
    return verdict(256, 30, 0, positive=0.6)


def near() -> Near:
    """Another load than the memory has, and slightly biased signs."""
    return {
        **ten_percent("s/n", lambda factor: verdict(512, 12, 0, lambda m: factor * load_of(m))),
        "55 % positive signs": lambda: verdict(512, 12, 0, positive=0.55),
    }


def load_of(m: float) -> float:
    """α of the overlap m."""
    y = erfinv(m)
    return float(0.5 * (m / y - 2 / np.pi**0.5 * np.exp(-(y**2))) ** 2)


def verdict(
    n: int, memories: int, seed: int, law: Load = load_of, positive: float = 0.5
) -> Verdict:
    """The load at which half of the patterns are lost, by n, its limit, and loads by overlap."""
    generator = torch.Generator().manual_seed(seed)
    critical = max(law(float(m)) for m in erf(np.linspace(1.0, 2.5, 3000)))
    points, halves, errors = {}, [], []
    sizes = [n // 4, n // 2, n]
    for units in sizes:
        numbers = [round(0.1379 * units + y * units**0.5) for y in BEYOND]
        tried = round(memories * (n / units) ** 0.7)
        kept = np.stack([recalled(units, s, tried, positive, generator)[0] for s in numbers])
        loads = np.array(numbers) / units
        points[f"{units} units"] = (loads.tolist(), kept.mean(1).tolist())
        halves.append(half_lost(loads, kept.mean(1)))
        errors.append(bootstrap(loads, kept, seed))
    limit, error = extrapolated(sizes, halves, errors)
    implied = [before(2 * n, alpha, positive, generator, law) for alpha in LOADS]
    return Verdict(
        quantity="|extrapolated critical load - α_c|",
        measured=abs(limit - critical),
        relation="≤",
        bound=BOUND,
        conditions={
            "overlaps before it, within 5 %": max(abs(ratio - 1) for ratio in implied) <= RELATIVE
        },
        picture=Picture(
            title="The more units, the more sudden the loss of memory",
            x_label="patterns per unit, s / n",
            y_label="fraction of patterns recalled",
            points=points,
            bounds={"n → ∞": ([0.1, critical, critical, 0.25], [1.0, 1.0, 0.0, 0.0])},
            marks={f"{critical:.3f}": critical},
        ),
        details={
            "limit": limit,
            "standard error": error,
            **{f"load by overlap / {a:g}": r for a, r in zip(LOADS, implied, strict=True)},
        },
    )


def half_lost(loads: np.ndarray, shares: np.ndarray) -> float:
    """The load at which the share, as a line, is ½."""
    slope, height = np.polyfit(loads, shares, 1)
    return float((0.5 - height) / slope)


def bootstrap(loads: np.ndarray, kept: np.ndarray, seed: int, draws: int = 100) -> float:
    """Standard deviation of the load over memories drawn again with replacement."""
    generator = np.random.default_rng(seed)
    chosen = generator.integers(kept.shape[1], size=(draws, kept.shape[1]))
    return float(np.std([half_lost(loads, kept[:, rows].mean(1)) for rows in chosen]))


def extrapolated(sizes: list[int], halves: list[float], errors: list[float]) -> tuple[float, float]:
    """The end at n = ∞ of the line in n^(-2/3), and its standard error."""
    x = np.array(sizes) ** (-2 / 3)
    to_limit = np.linalg.pinv(np.stack([np.ones_like(x), x], 1))[0]
    return float(to_limit @ halves), float(np.sqrt(to_limit**2 @ np.square(errors)))


def before(n: int, alpha: float, positive: float, generator: torch.Generator, law: Load) -> float:
    """The load by the overlap of recognized patterns, divided by that of the memory."""
    s = round(alpha * n)
    _, overlaps = recalled(n, s, 4, positive, generator, shown=40)
    kept = overlaps[overlaps > RECOGNIZED]
    return law(float(kept.mean())) * n / s if len(kept) else 0.0


def recalled(
    n: int,
    s: int,
    memories: int,
    positive: float,
    generator: torch.Generator,
    shown: int = SHOWN,
) -> tuple[np.ndarray, np.ndarray]:
    """The share of recognized patterns of each memory, and all overlaps after recall."""
    overlaps = []
    for _ in range(memories):
        patterns = (torch.rand(s, n, generator=generator) < positive).float() * 2 - 1
        cues = patterns[:shown]
        overlaps.append((recall_stored(patterns, cues, STEPS) * cues).mean(1))
    found = torch.stack(overlaps).numpy()
    return (found > RECOGNIZED).mean(1), found.ravel()
