"""Several networks trained one after another, seen as one run.

Each network has its own settings and checkpoints; the run counts the epochs of all of them, and
every record says which network it is of.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import NamedTuple

from chainrule.training import Progress, Record

ALL_TRAINED = "all networks trained"


class Turn(NamedTuple):
    """The training of one network: how it starts, its epochs, and what is added to its records."""

    start: Callable[[], Generator[Progress]]
    epochs: int
    labels: Mapping[str, int]


def in_turn(
    turns: Sequence[Turn], is_solved: Callable[[Record | None], bool] = lambda record: False
) -> Generator[Progress]:
    """Train one after another, each for its epochs or until it is solved."""
    before, total = 0, sum(turn.epochs for turn in turns)
    for place, turn in enumerate(turns):
        last = place == len(turns) - 1
        with closing(turn.start()) as steps:
            for now in steps:
                solved = is_solved(now.record)
                yield replace(
                    now,
                    epoch=before + now.epoch,
                    epochs=total,
                    record=now.record and {**now.record, "network": place, **turn.labels},
                    stopped=ALL_TRAINED if last and (solved or now.stopped) else "",
                )
                if solved:
                    break
        before += turn.epochs
