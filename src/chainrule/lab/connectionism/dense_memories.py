"""Claim: a steeper energy stores far more patterns, nᵏ⁻¹ or exponentially many (J 1.4).

    E = -Σ_μ (ξ_μᵀx)ᵏ:      P(flip) = ½ erfc √(S² / 2sV)    ⇒   s ≈ nᵏ⁻¹ / ((2k - 3)!! z²)
    E = -Σ_μ exp(ξ_μᵀx):    P(flip) ≤ ½ s ((1 + e⁻⁴) / 2)ⁿ⁻¹

Here s counts the other patterns, S = nᵏ - (n - 2)ᵏ is the signal of the pattern itself, V the
variance that each other pattern adds, z the normal quantile of the errors allowed.
Measured: for degrees 2 to 4, the number of random patterns at which 2 % of the bits would flip,
divided by its prediction or vice versa; the largest factor.
Bound: 1.5, more than six standard errors for 12000 bits at each size. The exponential memory must
also stay below its bound, Chebyshev's inequality, up to 5 standard errors.
Krotov and Hopfield (2016); Demircigil et al. (2017).
"""

from math import exp

import torch
from scipy.stats import binom, norm
from torch import Tensor, nn

from chainrule.lab.claim import Picture, Verdict
from chainrule.models.connectionism.dense_hopfield import DenseHopfield
from chainrule.models.connectionism.exponential_hopfield import ExponentialHopfield

ERRORS = 0.02
FACTOR = 1.5
SIZES = {2: (32, 48, 64), 3: (16, 24, 32, 48, 64), 4: (16, 24, 32)}
EXPONENTIAL = (8, 10, 12, 14, 16)


def check(bits: int = 12000, seed: int = 0) -> Verdict:
    """Energies of degree k against the law of degree k.

    Args:
        bits: Bits tested for each number of units.
    """
    return verdict(bits, seed, lower=0)


def broken() -> Verdict:
    """Energies of one degree less."""
    return verdict(2000, 0, lower=1)


def verdict(bits: int, seed: int, lower: int) -> Verdict:
    """Capacities by number of units."""
    generator = torch.Generator().manual_seed(seed)
    z = float(norm.isf(ERRORS))
    curves, points, worst = {}, {}, 1.0
    for k, sizes in SIZES.items():
        predicted, measured = [], []
        for n in sizes:
            capacity = signal(n, k) ** 2 / variance(n, k) / z**2
            share = flips(DenseHopfield, n, round(capacity) + 1, bits, generator, degree=k - lower)
            quantile = max(float(norm.isf(min(max(share, 0.5 / bits), 0.5))), 1e-3)
            predicted.append(capacity)
            measured.append(capacity * (quantile / z) ** 2)  # the law makes z² s the same for all s
            worst = max(worst, measured[-1] / capacity, capacity / measured[-1])
        curves[f"degree {k}"] = ([float(n) for n in sizes], predicted)
        points[f"degree {k}"] = ([float(n) for n in sizes], measured)
    least = [2 * ERRORS / (0.5 + 0.5 * exp(-4)) ** (n - 1) for n in EXPONENTIAL]
    shares = [
        flips(ExponentialHopfield, n, int(s) + 1, bits // 4 + 1, generator)
        for n, s in zip(EXPONENTIAL, least, strict=True)
    ]
    most = ERRORS + 5 * (ERRORS / (bits // 4 + 1)) ** 0.5
    return Verdict(
        quantity="largest factor between stored and predicted",
        measured=worst,
        relation="≤",
        bound=FACTOR,
        conditions={"exponential memory below Chebyshev's bound": max(shares) <= most},
        picture=Picture(
            title="Steeper energies store far more than one pattern per unit",
            x_label="units n",
            y_label="patterns with 2 % of the bits wrong",
            curves=curves,
            points=points,
            bounds={"exponential, at least": ([float(n) for n in EXPONENTIAL], least)},
            log="y",
        ),
        details={"exponential: fraction of wrong bits": max(shares)},
    )


def signal(n: int, k: int) -> float:
    """nᵏ - (n - 2)ᵏ."""
    return float(n**k - (n - 2) ** k)


def variance(n: int, k: int) -> float:
    """E ((m + 1)ᵏ - (m - 1)ᵏ)² for the sum m of n - 1 random signs."""
    law = binom(n - 1, 0.5)
    return float(law.expect(lambda i: ((2 * i - n + 2.0) ** k - (2 * i - n) ** k) ** 2))


def flips(
    kind: type[nn.Module], n: int, s: int, bits: int, generator: torch.Generator, **settings: int
) -> float:
    """Fraction of stored bits whose flip lowers the energy, over many memories."""
    lowered: list[Tensor] = []
    each = min(8, max(1, bits // (4 * s)))  # bits asked of a pattern, so that memories are many
    while sum(map(len, lowered)) < bits:
        patterns = torch.randint(0, 2, (s, n), generator=generator).double() * 2 - 1
        memory = kind(patterns, **settings)
        shown = patterns[:bits].repeat(each, 1)
        rows = torch.arange(len(shown))
        flipped = shown.clone()
        flipped[rows, rows % n] *= -1  # another bit each time, as errors of one bit go together
        lowered.append(memory.energy(flipped) < memory.energy(shown))  # type: ignore[operator]
    return torch.cat(lowered).double().mean().item()
