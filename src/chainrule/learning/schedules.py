"""Schedules: the learning rate as a function of the step.

    constant    η
    cosine      η ½ (1 + cos π t/T)
    one-cycle   up from η/25 over the first 30 % of the steps, then down to η/10⁴, both by cosine

Each returns the factor on η, a function of t/T alone, so a resumed run needs no state for it.
Smith and Topin (2018), Loshchilov and Hutter (2017). Notes: L "Gradient descent".
"""

import math
from collections.abc import Callable, Mapping

from chainrule.errors import InputError

Schedule = Callable[[float], float]


def constant(progress: float) -> float:
    """1."""
    return 1.0


def cosine(progress: float) -> float:
    """½ (1 + cos π t/T)."""
    return 0.5 * (1 + math.cos(math.pi * progress))


def one_cycle(
    progress: float, rise: float = 0.3, start: float = 1 / 25, end: float = 1e-4
) -> float:
    """From `start` up to 1 at `rise`, then down to `end`."""
    if progress < rise:
        return 1 + (start - 1) * cosine(progress / rise)
    return end + (1 - end) * cosine((progress - rise) / (1 - rise))


SCHEDULES: Mapping[str, Schedule] = {
    "constant": constant,
    "cosine": cosine,
    "one-cycle": one_cycle,
}


def schedule(name: str) -> Schedule:
    """The schedule of that name."""
    if name not in SCHEDULES:
        raise InputError(f"there is no schedule {name!r}; known: {', '.join(SCHEDULES)}")
    return SCHEDULES[name]
