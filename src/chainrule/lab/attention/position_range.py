"""Claim: sinusoidal positions stay apart beyond 10,000: their distance depends on t - s (A 2.6.1).

    ‖p_t - p_s‖² = 2 Σ_{i < d/2} (1 - cos (t - s) ω_i),     ω_i = 10000^{-2i/d}

Measured: the largest difference between the squared distances of the library's vectors and the
formula, for positions from 0, from 9,990 and from 1,000,000 on.
Bound: 1e-8 in double precision: angles of 10⁶ radians carry a rounding error of 10⁻¹⁰.
No two of the first 62,832 positions, the longest wavelength 2π · 10000, may be closer than
neighbors.
A asks what happens at an index above 10,000. The index i counts components and stays below d; the
10,000 belongs to the wavelengths and limits no position. A network that was trained on short texts
is another matter: it has not seen these vectors. Vaswani et al. (2017). Notes: L 8 (extrapolation).
"""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.nn.positions import BASE, sinusoidal

ROUNDING = 1e-8
STARTS = (0, 9_990, 1_000_000)
REACH = 62_832  # 2π · 10000
Encode = Callable[[int, int, int], Tensor]


def check(hidden_size: int = 64, offsets: int = 500) -> Verdict:
    """The library's positions.

    Args:
        hidden_size: Components d of a position vector.
        offsets: Distances t - s that are measured.
    """
    return verdict(encoded, hidden_size, offsets)


def broken() -> Verdict:
    """Positions that begin anew after 10,000, as if there were no others."""

    def repeated(steps: int, width: int, start: int) -> Tensor:
        t = torch.arange(start, start + steps) % int(BASE)
        return encoded(int(BASE), width, 0)[t]

    return verdict(repeated, 64, 500)


def near() -> Near:
    """Other wavelengths."""
    return {
        **ten_percent("10000", lambda factor: verdict(encoded, 64, 500, base=factor * BASE)),
        **ten_percent("exponent", lambda factor: verdict(encoded, 64, 500, power=factor)),
    }


def verdict(
    encode: Encode, width: int, offsets: int, base: float = BASE, power: float = 1.0
) -> Verdict:
    """Distances from three starts."""
    k = torch.arange(offsets, dtype=torch.float64)
    formula = partial(squared_distance, width=width, base=base, power=power)
    measured = {}
    for start in STARTS:
        p = encode(offsets, width, start)
        measured[start] = (p - p[0]).square().sum(1)
    worst = max((found - formula(k)).abs().max().item() for found in measured.values())
    all_offsets = torch.cat([formula(part) for part in torch.arange(1.0, REACH).split(10_000)])
    shown = list(range(1, offsets, 12))
    return Verdict(
        quantity="largest |‖p_t - p_s‖² - formula|",
        measured=worst,
        relation="≤",
        bound=ROUNDING,
        conditions={"no two are closer than neighbors": all_offsets.argmin().item() == 0},
        picture=Picture(
            title="Positions are as far apart after 10,000 as before",
            x_label="distance t - s",
            y_label="squared distance of p_t and p_s",
            curves={"formula": (k.tolist(), formula(k).tolist())},
            points={
                f"from s = {start:,}": (
                    [float(t) for t in shown[j::3]],
                    found[shown[j::3]].tolist(),
                )
                for j, (start, found) in enumerate(measured.items())
            },
        ),
        details={
            "squared distance of neighbors": all_offsets[0].item(),
            f"smallest up to {REACH}": all_offsets.min().item(),
        },
    )


def encoded(steps: int, width: int, start: int) -> Tensor:
    """p_start, … in double precision."""
    return sinusoidal(steps, width, start, like=torch.zeros(0, dtype=torch.float64))


def squared_distance(k: Tensor, width: int, base: float, power: float) -> Tensor:
    """2 Σ_i (1 - cos kω_i)."""
    i = torch.arange(width // 2, dtype=torch.float64)
    omega = base ** (-2 * power * i / width)
    return 2 * (1 - (k.double()[:, None] * omega).cos()).sum(1)
