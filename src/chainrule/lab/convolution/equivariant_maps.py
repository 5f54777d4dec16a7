"""Claim: a linear map that commutes with shifts is a convolution, with kernel T e₀ (J 4.1).

    T S = S T   ⇒   T f = T Σ_s f[s] Sˢ e₀ = Σ_s f[s] Sˢ T e₀ = f ∗ h,     h = T e₀

This line is the proof of theorem 4.6, which the notes leave open. The statement also holds
approximately: with the Frobenius norm and the mean over all shifts k,

    min_h ‖T - H(h)‖² = ½ mean_k ‖S⁻ᵏ T Sᵏ - T‖²,     H(h) the circulant matrix of h

since the nearest H is the mean of the S⁻ᵏ T Sᵏ.
Measured: random maps from equivariant to arbitrary; the largest difference between the square roots
of the two sides, relative to ‖T‖, and for equivariant maps between T f and f ∗ T e₀.
Bound: 1e-12, rounding of a few thousand sums in double precision.
Kondor and Trivedi (2018), ICML, for other groups.
"""

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.nn.convolution import circulant, convolution

BOUND = 1e-12


def check(size: int = 24, maps: int = 25, seed: int = 0) -> Verdict:
    """Shifts by any number of steps.

    Args:
        size: Entries of a signal.
        maps: Random linear maps.
    """
    return verdict(size, maps, seed, stride=1)


def broken() -> Verdict:
    """Only shifts by two: a layer of stride 2 commutes with them and is not a convolution."""
    return verdict(24, 25, 0, stride=2)


def near() -> Near:
    """Another factor than ½."""
    return ten_percent("√½", lambda factor: verdict(24, 10, 0, stride=1, scale=factor))


def verdict(size: int, maps: int, seed: int, stride: int, scale: float = 1.0) -> Verdict:
    """Distance from equivariance against distance from convolution."""
    generator = torch.Generator().manual_seed(seed)
    random = torch.randn(maps, 2, size, size, dtype=torch.float64, generator=generator)
    f = torch.randn(size, dtype=torch.float64, generator=generator)
    equivariant = [turned(T, stride).mean(0) for T in random[:, 0]]
    gaps = [
        ((T @ f - convolution(f, T[:, 0].clone(), "circular")).norm() / (T @ f).norm()).item()
        for T in equivariant
    ]
    astray = zip(equivariant, random[:, 1], torch.linspace(0, 1, maps).tolist(), strict=True)
    mixed = [T / T.norm() + share * other / other.norm() for T, other, share in astray]
    predicted = [scale * lack(T, stride) / 2**0.5 for T in mixed]
    measured = [distance(T) for T in mixed]
    worst = max(*gaps, *(abs(p - m) for p, m in zip(predicted, measured, strict=True)))
    line = [0.0, max(measured)]
    return Verdict(
        quantity="largest |T f - f ∗ T e₀|, and difference of the norms",
        measured=worst,
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="The only linear maps that commute with all shifts are convolutions",
            x_label="distance from equivariance, rms of ‖S⁻ᵏ T Sᵏ - T‖ / √2 in units of ‖T‖",
            y_label="distance from a convolution, ‖T‖",
            curves={"equal": (line, line)},
            points={"random linear maps": (predicted, measured)},
            marks={"convolutions": 0.0},
        ),
    )


def turned(T: Tensor, stride: int) -> Tensor:
    """S⁻ᵏ T Sᵏ for all multiples k of the stride: rows and columns rolled together."""
    return torch.stack([T.roll((-k, -k), (0, 1)) for k in range(0, len(T), stride)])


def lack(T: Tensor, stride: int) -> float:
    """Square root of mean_k ‖S⁻ᵏ T Sᵏ - T‖², relative to ‖T‖."""
    each = (turned(T, stride) - T).square().sum((1, 2))
    return (each.mean().sqrt() / T.norm()).item()


def distance(T: Tensor) -> float:
    """‖T - H(h)‖ for the nearest h, the mean of T along its diagonals, relative to ‖T‖."""
    s = torch.arange(len(T))
    h = torch.stack([T[(s + k) % len(T), s].mean() for k in range(len(T))])
    return ((T - circulant(h)).norm() / T.norm()).item()
