"""An activity about one sentence: a network that has learned, or learns, answers for it."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Protocol, TypeVar

from chainrule.studio.activity import Activity, Json, Range, View, read
from chainrule.studio.sequences.learner import Learner


@dataclass(frozen=True)
class Message:
    """The sentence; None leaves it."""

    sentence: Annotated[str, Range(1, 400)] | None = None


class Source(Protocol):
    """A network, and how it learns, unless it has."""

    @property
    def learner(self) -> Learner | None: ...


S = TypeVar("S", bound=Source)


def followed(
    made: Callable[[], S],
    drawn: Callable[[S, str], Json],
    sentence: str,
    steps: int | float = math.inf,
) -> Activity:
    """Train step by step, and draw the answer for the latest sentence.

    Args:
        made: the network; it may take a moment.
        drawn: (network, sentence) ↦ what the page shows.
        sentence: the first one.
        steps: after which nothing more is learned.
    """
    message = yield View(lambda: {"loading": True})
    source = made()
    sentence = heard(message, sentence)
    while True:
        done = source.learner is None or source.learner.step >= steps
        message = yield View(partial(drawn, source, sentence), waiting=done)
        sentence = heard(message, sentence)
        if message is None and source.learner:
            source.learner.advance()


def heard(message: Json | None, sentence: str) -> str:
    """The sentence of a message, or the one before."""
    return sentence if message is None else read(Message, message).sentence or sentence
