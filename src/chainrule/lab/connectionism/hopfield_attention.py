"""Claim: the update of a continuous Hopfield network is attention (J 1.4, J 6).

    x ← Kᵀ softmax(β K x)      =      softmax(Q Kᵀ / √d) V    with Q = X, V = K, β = 1/√d

Measured: the largest difference between the memory's update and torch's attention kernel, over
random patterns, states and inverse temperatures β, in double precision.
Bound: 1e-12, a thousand roundings of numbers of order one.
Ramsauer et al. (2020).
"""

import torch
import torch.nn.functional as F

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.models.connectionism.continuous_hopfield import update

ROUNDING = 1e-12


def check(units: int = 64, patterns: int = 20, states: int = 100, seed: int = 0) -> Verdict:
    """The same β on both sides.

    Args:
        units: Units, the dimension of a pattern.
        patterns: Stored patterns.
        states: Noisy states to update.
    """
    return verdict(units, patterns, states, seed, mismatch=1.0)


def broken() -> Verdict:
    """Attention with twice the memory's β."""
    return verdict(64, 20, 100, 0, mismatch=2.0)


def near() -> Near:
    """Attention with another β than the memory."""
    return ten_percent("β", lambda factor: verdict(64, 20, 100, 0, mismatch=factor))


def verdict(units: int, patterns: int, states: int, seed: int, mismatch: float) -> Verdict:
    """Both updates from noisy memories."""
    generator = torch.Generator().manual_seed(seed)
    K = torch.randn(patterns, units, generator=generator, dtype=torch.float64)
    noise = torch.randn(states, units, generator=generator, dtype=torch.float64)
    x = K[torch.arange(states) % patterns] + noise
    sharpnesses = [2.0**power / units**0.5 for power in range(-6, 5)]
    worst, near = 0.0, []
    for beta in sharpnesses:
        new = update(K, x, beta)
        attended = F.scaled_dot_product_attention(x[None], K[None], K[None], scale=beta * mismatch)
        worst = max(worst, (new - attended[0]).abs().max().item())
        distance = (new - K[torch.arange(states) % patterns]).norm(dim=1) / units**0.5
        near.append(distance.mean().item())
    return Verdict(
        quantity="largest |update of the memory - attention|",
        measured=worst,
        relation="≤",
        bound=ROUNDING,
        picture=Picture(
            title="Large β recalls one memory, small β averages all of them",
            x_label="inverse temperature, β √d",
            y_label="distance from the memory after one update, per unit",
            points={"mean over noisy states": ([b * units**0.5 for b in sharpnesses], near)},
            marks={"β = 1/√d": 1.0},
            log="x",
        ),
        details={"values of β": float(len(sharpnesses))},
    )
