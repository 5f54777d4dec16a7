"""Schedules: the learning rate as a function of the step.

    constant         η
    step             η / 10 from half of the steps on, η / 100 from three quarters on
    exponential      η γ^(t/T),                    γ = 0.01
    cosine           η ½ (1 + cos π t/T)
    warm-up          linearly up from η/100 over the first 5 % of the steps, then η
    warm-up-cosine   the same, then down to 0 along a cosine
    inverse-sqrt     linearly up over the first 4 %, then η √(0.04 T/t), as for the transformer
    one-cycle        up from η/25 over the first 30 %, then down to η/10⁴, both along a cosine

Each returns the factor of η as a function of t/T, so a resumed run needs no state for it. One of
your own is a function (t, T) ↦ factor, such as `lambda step, steps: 0.99**step`.
He et al. (2016), Loshchilov and Hutter (2017), Vaswani et al. (2017), Smith and Topin (2018).
Notes: L "Gradient descent".
"""

import math
from collections.abc import Callable, Mapping, Sequence

from chainrule.arguments import checked
from chainrule.errors import InputError
from chainrule.registry import unknown

Schedule = Callable[[float], float]
OwnSchedule = Callable[[int, int], float]


@checked
def constant(progress: float) -> float:
    """1."""
    return 1.0


@checked
def step(progress: float, drops: Sequence[float] = (0.5, 0.75), factor: float = 0.1) -> float:
    """γᵏ after k drops."""
    return factor ** sum(progress >= drop for drop in drops)


@checked
def exponential(progress: float, end: float = 0.01) -> float:
    """γ^(t/T)."""
    return end**progress


@checked
def cosine(progress: float) -> float:
    """½ (1 + cos π t/T)."""
    return 0.5 * (1 + math.cos(math.pi * progress))


@checked
def warm_up(progress: float, rise: float = 0.05, start: float = 0.01) -> float:
    """Linearly from `start` up to 1 at `rise`, then 1."""
    return min(1.0, start + (1 - start) * progress / rise)


@checked
def warm_up_cosine(progress: float, rise: float = 0.05, start: float = 0.01) -> float:
    """Warm-up, then ½ (1 + cos π s) with s the fraction of the remaining steps."""
    if progress < rise:
        return warm_up(progress, rise, start)
    return cosine((progress - rise) / (1 - rise))


@checked
def inverse_sqrt(progress: float, rise: float = 0.04, start: float = 0.01) -> float:
    """Warm-up, then √(rise · T/t)."""
    return warm_up(progress, rise, start) if progress < rise else math.sqrt(rise / progress)


@checked
def one_cycle(
    progress: float, rise: float = 0.3, start: float = 1 / 25, end: float = 1e-4
) -> float:
    """From `start` up to 1 at `rise`, then down to `end`."""
    if progress < rise:
        return 1 + (start - 1) * cosine(progress / rise)
    return end + (1 - end) * cosine((progress - rise) / (1 - rise))


SCHEDULES: Mapping[str, Schedule] = {
    "constant": constant,
    "step": step,
    "exponential": exponential,
    "cosine": cosine,
    "warm-up": warm_up,
    "warm-up-cosine": warm_up_cosine,
    "inverse-sqrt": inverse_sqrt,
    "one-cycle": one_cycle,
}


UNCHECKED = {name: function.__wrapped__ for name, function in SCHEDULES.items()}  # type: ignore[attr-defined]
"""The same for the engine, which calls them in every step."""


@checked
def schedule(name: str) -> Schedule:
    """The schedule called `name`."""
    check_schedule(name)
    return SCHEDULES[name]


def check_schedule(name: object) -> None:
    """A key of `SCHEDULES`, or a function (step, steps) ↦ factor."""
    kind = name if isinstance(name, type) else type(name)
    if any(base.__name__ == "LRScheduler" for base in kind.__mro__):
        raise InputError(
            "`schedule` must be a name such as cosine, or a function (step, steps) ↦ factor "
            "such as lambda step, steps: 0.1 ** (3 * step // steps), got torch's "
            f"{kind.__name__}, which sets the rates of an optimizer itself"
        )
    if not isinstance(name, str) and not callable(name):
        raise InputError(
            f"`schedule` must be a name or a function (step, steps) ↦ factor, got {name!r}"
        )
    if isinstance(name, str) and name not in SCHEDULES:
        raise InputError(unknown("schedule", name, list(SCHEDULES)))


def rate_factor(name: str | OwnSchedule, step: int, steps: int) -> float:
    """The factor of η in step t of T, by a schedule's name or by a function (t, T) of your own."""
    if isinstance(name, str):
        return UNCHECKED[name](step / steps)
    try:
        factor = float(name(step, steps))
    except (TypeError, ValueError) as error:
        raise InputError(
            f"`schedule` must be a name or a function (step, steps) ↦ factor: {error}"
        ) from error
    if not (math.isfinite(factor) and factor >= 0):
        raise InputError(
            f"expected a factor of at least 0 from `schedule`, got {factor} in step {step} of "
            f"{steps}"
        )
    return factor
