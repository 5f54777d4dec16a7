"""What an attempt is, and how it may end."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple


class Outcome(StrEnum):
    """How an attempt ended; all but the first three are failures."""

    RIGHT = "right"
    REFUSED = "refused"  # with one sentence
    SKIPPED = "skipped"  # this machine does not allow it
    RAW = "raw error"
    CRASH = "crash"
    HANG = "hang"
    DAMAGE = "silent damage"
    ORPHAN = "orphan"
    CEILING = "over the ceiling"


GOOD = (Outcome.RIGHT, Outcome.REFUSED, Outcome.SKIPPED)


class Found(NamedTuple):
    """The outcome of one attempt, and what somebody needs to understand it."""

    outcome: Outcome
    detail: str = ""


@dataclass(frozen=True)
class Attack:
    """One kind of attempt.

    Args:
        name: of the kind.
        attempt: (number, what draws, an empty folder) ↦ what was found.
        small: number of attempts that a commit must survive, in seconds.
        full: number of attempts of the whole campaign.
    """

    name: str
    attempt: Callable[[int, random.Random, Path], Found]
    small: int
    full: int

    def draws(self, seed: int, number: int) -> random.Random:
        """The same draws for the same attempt, whatever was tried before."""
        return random.Random(f"{seed}/{self.name}/{number}")
