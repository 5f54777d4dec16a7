"""Claim: a steeper energy stores far more patterns, nᵏ⁻¹ or exponentially many (J 1.4).

    E = -Σ_μ (ξ_μᵀx)ᵏ:      flip if D_1 + … + D_s > S = nᵏ - (n - 2)ᵏ,  D = ±((m + 1)ᵏ - (m - 1)ᵏ)
                            S² / Var D ≈ nᵏ⁻¹ / (2k - 3)!!   ⇒   s ≈ nᵏ⁻¹ / ((2k - 3)!! z²)
    E = -Σ_μ exp(ξ_μᵀx):    P(flip) ≤ ½ s ((1 + e⁻⁴) / 2)ⁿ⁻¹

Here s counts the other patterns, m is the sum of n - 1 random signs, and z the normal quantile of
the errors allowed.
Measured: for degrees 2 to 4 and s patterns with about 2 % of wrong bits, the fraction of stored
bits whose flip lowers the energy; its largest distance from the exact law of Σ D, in standard
errors over memories.
Bound: 5, which one seed in 10⁵ exceeds. For n = 4096, S² / Var D must also equal nᵏ⁻¹ / (2k - 3)!!
within 1 %, as S and Var D have relative corrections below k²/n. The exponential memory must stay
below its bound, Chebyshev's inequality, up to 5 standard errors; it uses about half of it.
Krotov and Hopfield (2016); Demircigil et al. (2017).
"""

from collections.abc import Callable
from math import exp, prod

import numpy as np
import torch
from scipy.stats import binom, norm
from torch import Tensor, nn

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.models.connectionism.dense_hopfield import DenseHopfield
from chainrule.models.connectionism.exponential_hopfield import ExponentialHopfield

ERRORS, LEVEL = 0.02, 5.0
LARGE, RELATIVE = 4096, 0.01
SIZES = {2: (32, 64), 3: (16, 32, 48), 4: (16, 24)}
EXPONENTIAL = (8, 11, 14)
Law = Callable[[int, int], float]


def check(bits: int = 80_000, seed: int = 0) -> Verdict:
    """Energies of degree k against the law of degree k.

    Args:
        bits: Bits tested for each number of units.
    """
    return verdict(bits, seed)


def broken() -> Verdict:
    """Energies of one degree less."""
    return verdict(2000, 0, lower=1)


def near() -> Near:
    """Other numbers of patterns than predicted for, another exponent, another constant."""
    return {
        **ten_percent("patterns s", lambda factor: verdict(40_000, 0, crowd=factor)),
        **ten_percent("exponent k - 1", lambda f: verdict(500, 0, law=lambda n, k: limit(n, k, f))),
        "(2k - 1)!!": lambda: verdict(500, 0, law=lambda n, k: limit(n, k) / (2 * k - 1)),
    }


def limit(n: int, k: int, power: float = 1.0) -> float:
    """nᵏ⁻¹ / (2k - 3)!!."""
    return n ** (power * (k - 1)) / prod(range(2 * k - 3, 0, -2))


def verdict(bits: int, seed: int, lower: int = 0, crowd: float = 1.0, law: Law = limit) -> Verdict:
    """Flips at the predicted capacities, and the capacities' growth."""
    generator = torch.Generator().manual_seed(seed)
    z2 = float(norm.isf(ERRORS)) ** 2
    curves, points, distances = {}, {}, []
    for k, sizes in SIZES.items():
        predicted = [round(capacity(n, k) / z2) for n in sizes]
        found = []
        for n, s in zip(sizes, predicted, strict=True):
            tested = flips(
                DenseHopfield, n, round(crowd * s) + 1, bits, generator, degree=k - lower
            )
            share, p = tested.mean().item(), exact(n, k, s)
            error = max(tested.std().item() / len(tested) ** 0.5, (p / bits) ** 0.5)
            distances.append(abs(share - p) / error)
            found.append(s * float(norm.isf(p) / norm.isf(min(max(share, 1e-6), 0.4999))) ** -2)
        curves[f"degree {k}"] = ([float(n) for n in sizes], [float(s) for s in predicted])
        points[f"degree {k}"] = ([float(n) for n in sizes], found)
    shares, least, below = exponential(bits // 4 + 1, generator)
    off = max(abs(capacity(LARGE, k) / law(LARGE, k) - 1) for k in SIZES)
    return Verdict(
        quantity="largest |flipped - exact law|, standard errors",
        measured=max(distances),
        relation="≤",
        bound=LEVEL,
        conditions={
            "capacity grows like nᵏ⁻¹ / (2k - 3)!!": off <= RELATIVE,
            "exponential memory below its bound": below,
        },
        picture=Picture(
            title="Steeper energies store far more than one pattern per unit",
            x_label="units n",
            y_label="patterns with 2 % of the bits wrong",
            curves=curves,
            points=points,
            bounds={"exponential, at least": ([float(n) for n in EXPONENTIAL], least)},
            log="y",
        ),
        details={
            "|S² / Var D / limit - 1|, n = 4096": off,
            "exponential: share of the bound used": max(shares) / ERRORS,
        },
    )


def exponential(bits: int, generator: torch.Generator) -> tuple[list[float], list[float], bool]:
    """Flips at the number of patterns for which the bound is 2 %, that number, and the verdict."""
    least = [2 * ERRORS / (0.5 + 0.5 * exp(-4)) ** (n - 1) for n in EXPONENTIAL]
    shares = [
        flips(ExponentialHopfield, n, round(s) + 1, bits, generator).mean().item()
        for n, s in zip(EXPONENTIAL, least, strict=True)
    ]
    most = ERRORS + 5 * (ERRORS / bits) ** 0.5
    return shares, least, max(shares) <= most


def capacity(n: int, k: int) -> float:
    """S² / Var D, the number of other patterns times z²."""
    values, weights = contributions(n, k)
    return float(n**k - (n - 2) ** k) ** 2 / float(weights @ values.astype(float) ** 2)


def contributions(n: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """(m + 1)ᵏ - (m - 1)ᵏ for the sum m of n - 1 random signs, and its probabilities."""
    m = np.arange(-(n - 1), n, 2)
    return (m + 1) ** k - (m - 1) ** k, binom.pmf(np.arange(n), n - 1, 0.5)


def exact(n: int, k: int, s: int) -> float:
    """P(D_1 + … + D_s > S), each D with a random sign, by a fast Fourier transform."""
    values, weights = contributions(n, k)
    span = int(np.gcd.reduce(np.concatenate([values, [n**k - (n - 2) ** k]])))
    signal = (n**k - (n - 2) ** k) // span
    cells = 1 << (16 * signal).bit_length()  # sums wrap around far beyond the signal
    one = np.zeros(cells)
    for sign in (1, -1):
        np.add.at(one, sign * values // span % cells, weights / 2)
    law = np.fft.irfft(np.fft.rfft(one) ** s, cells)
    return float(law[signal + 1 : cells // 2].sum())


def flips(
    kind: type[nn.Module], n: int, s: int, bits: int, generator: torch.Generator, **settings: int
) -> Tensor:
    """For each of several memories, the fraction of stored bits whose flip lowers the energy."""
    fractions: list[Tensor] = []
    each = min(8, max(1, bits // (8 * s)))  # bits asked of a pattern, so that memories are many
    while len(fractions) * min(s, bits) * each < bits:
        patterns = torch.randint(0, 2, (s, n), generator=generator).double() * 2 - 1
        memory = kind(patterns, **settings)
        shown = patterns[:bits].repeat(each, 1)
        rows = torch.arange(len(shown))
        flipped = shown.clone()
        flipped[rows, rows % n] *= -1  # another bit each time, as errors of one bit go together
        lowered = memory.energy(flipped) < memory.energy(shown)  # type: ignore[operator]
        fractions.append(lowered.double().mean())
    return torch.stack(fractions)
