"""Claim: inverted dropout leaves the mean of every unit unchanged (L exercise 10.5 a, J 8.4).

    h̃ = m ⊙ h / p,   m_j ~ Bernoulli(p)   ⇒   E h̃ = h,   Var h̃_j = (1 - p)/p h_j²

Measured: the mean of h̃ over sampled masks, for five dropout rates; the largest distance from h, in
the standard errors |h_j| √((1 - p)/(p S)) of S masks.
Bound: the normal quantile that all units and rates together exceed for one seed in 10⁶.
Srivastava et al. (2014).
"""

from collections.abc import Callable

import torch
from scipy.stats import norm
from torch import Tensor

from chainrule.errors import InputError
from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.nn.dropout import dropout

RATES = (0.1, 0.2, 0.5, 0.8, 0.9)
DRAWN = (0.2, 0.5, 0.9)
LEVEL = 1e-6


def check(units: int = 40, masks: int = 20_000, seed: int = 0) -> Verdict:
    """Division by p.

    Args:
        units: Units.
        masks: Random masks for each rate, at least 100.
    """
    if masks < 100:
        raise InputError(f"`masks` must be at least 100, got {masks}")
    return verdict(units, masks, seed, lambda h, rate: dropout(h, rate, training=True))


def broken() -> Verdict:
    """No division: E h̃ = p h."""
    return verdict(40, 2000, 0, lambda h, rate: (1 - rate) * dropout(h, rate, training=True))


def near() -> Near:
    """Units divided by almost p."""

    def scaled(factor: float) -> Verdict:
        return verdict(40, 2000, 0, lambda h, rate: factor * dropout(h, rate, training=True))

    return ten_percent("h̃", scaled)


def verdict(units: int, masks: int, seed: int, drop: Callable[[Tensor, float], Tensor]) -> Verdict:
    """Means over masks, relative to h."""
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        h = torch.randn(units, dtype=torch.float64)
        dropped = {rate: drop(h.expand(masks, units), rate) / h for rate in RATES}
    worst = max(
        (dropped[rate].mean(0) - 1).abs().max().item() / error(rate, masks) for rate in RATES
    )
    bound = float(norm.isf(LEVEL / 2 / units / len(RATES)))
    counts = [round(10 ** (k / 5)) for k in range(8, 22) if 10 ** (k / 5) <= masks]
    x = [float(count) for count in counts]
    above = [1 + 2 * error(max(DRAWN), count) for count in counts]
    return Verdict(
        quantity="largest |mean of h̃ - h|, standard errors",
        measured=worst,
        relation="≤",
        bound=bound,
        picture=Picture(
            title="On average dropout changes nothing",
            x_label="masks averaged",
            y_label="mean of one unit, relative to its value h",
            curves={"h̃ = h": ([x[0], x[-1]], [1.0, 1.0])},
            points={
                f"rate {rate:g}": (x, [dropped[rate][:n, 0].mean().item() for n in counts])
                for rate in DRAWN
            },
            bounds={
                f"2 standard errors at rate {max(DRAWN):g}": (
                    x + x[::-1],
                    above + [2 - y for y in above[::-1]],
                )
            },
            log="x",
        ),
        details={"masks": float(masks * len(RATES))},
    )


def error(rate: float, masks: int) -> float:
    """√((1 - p)/(p S))."""
    return (rate / (1 - rate) / masks) ** 0.5
