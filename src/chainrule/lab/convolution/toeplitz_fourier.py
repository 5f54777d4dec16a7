"""Claim: sums, a Toeplitz matrix and a Fourier product give the same convolution (J 4.1).

    Σ_t h[t] f[u - t]  =  (H f)[u],  H[u, s] = h[u - s]  =  ℱ⁻¹(ℱf · ℱh)[u]

Measured: the largest difference from the sums over random signals of 4 … `max_length` entries in
all modes, in one dimension, and in two with the matrix of Toeplitz blocks; relative to Σ |f| Σ |h|
/ n, the size of the terms, and divided by the bound.
Bound: 1e-14 (1 + log₂ n), so a ratio of 1. The fast Fourier transform loses about 1.1e-16 in each
of its log₂ n rounds, three times; the sums lose less (Higham 2002, chapter 24).
Cooley and Tukey (1965).
"""

import math
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.nn.convolution import MODES, by_fourier, convolution, doubly_blocked, toeplitz


def check(max_length: int = 1024, seed: int = 0) -> Verdict:
    """Fourier products on as many points as the result has entries.

    Args:
        max_length: Entries of the longest signal.
    """
    return verdict(by_fourier, max_length, seed)


def broken() -> Verdict:
    """Products on only n points, so that the end wraps around to the front."""

    def wrapped(f: Tensor, h: Tensor, mode: str) -> Tensor:
        padded = torch.zeros_like(convolution(f, h, mode))
        round_the_ring = by_fourier(f, h, "circular")
        places = tuple(slice(min(n, m)) for n, m in zip(f.shape, padded.shape, strict=True))
        padded[places] = round_the_ring[places]
        return padded

    return verdict(wrapped, 16, 0)


def near() -> Near:
    """Products that are off by a constant."""

    def scaled(factor: float) -> Verdict:
        return verdict(lambda *given: factor * by_fourier(*given), 16, 0)

    return {f"ℱf · ℱh × {factor}": partial(scaled, factor) for factor in (0.9, 1.1, 1 + 1e-12)}


def verdict(fourier: Callable[..., Tensor], longest: int, seed: int) -> Verdict:
    """Three ways to the same numbers, by length."""
    generator = torch.Generator().manual_seed(seed)
    lengths = [2**k for k in range(2, max(4, int(math.log2(longest)) + 1))]
    by_matrix, by_product = zip(*(differences(fourier, n, generator) for n in lengths), strict=True)
    ratios = [max(pair) / bound(n) for *pair, n in zip(by_matrix, by_product, lengths, strict=True)]
    sizes = [float(n) for n in lengths]
    return Verdict(
        quantity="largest relative difference / (1e-14 (1 + log₂ n))",
        measured=max(ratios),
        relation="≤",
        bound=1.0,
        picture=Picture(
            title="A sum, a matrix and a Fourier product: one convolution",
            x_label="entries of the signal, n",
            y_label="relative difference from the sums",
            points={
                "Toeplitz matrix": (sizes, list(by_matrix)),
                "Fourier product": (sizes, list(by_product)),
            },
            bounds={"rounding": (sizes, [bound(n) for n in lengths])},
            log="xy",
        ),
    )


def bound(n: int) -> float:
    return 1e-14 * (1 + math.log2(n))


def differences(
    fourier: Callable[..., Tensor], n: int, generator: torch.Generator
) -> tuple[float, float]:
    """Of the matrix and of the Fourier product from the sums, in one and two dimensions."""
    side = max(2, math.isqrt(n) // 2)
    draws = {1: (n, min(n, 16)), 2: (side, min(side, 4))}
    worst = torch.zeros(2, dtype=torch.float64)
    for dimension, sizes in draws.items():
        f, h = (
            torch.randn([size] * dimension, dtype=torch.float64, generator=generator)
            for size in sizes
        )
        scale = f.abs().sum() * h.abs().sum() / f.numel()
        for mode in MODES:
            H = toeplitz(h, n, mode) if dimension == 1 else doubly_blocked(h, (side, side), mode)
            sums = convolution(f, h, mode)
            found = torch.stack([(H @ f.flatten()).view_as(sums), fourier(f, h, mode)])
            worst = torch.maximum(worst, (found - sums).abs().flatten(1).amax(1) / scale)
    return worst[0].item(), worst[1].item()
