"""What a claim returns, and its arguments as flags.

A claim file defines `check(...) -> Verdict`. Its arguments are its settings, all with defaults that
take seconds; `seed` is one of them. Nothing is drawn there: the picture is a value.
"""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, make_dataclass
from typing import Any

from chainrule.registry import Entry

Series = Mapping[str, tuple[Sequence[float], Sequence[float]]]


@dataclass(frozen=True)
class Picture:
    """Predicted curves and measured points in the same axes; bounds dashed.

    A mark is an upright line at a number, or a word at a pair of numbers.
    """

    title: str
    x_label: str
    y_label: str
    curves: Series = field(default_factory=dict)
    points: Series = field(default_factory=dict)
    marks: Mapping[str, float | tuple[float, float]] = field(default_factory=dict)
    bounds: Series = field(default_factory=dict)
    log: str = ""


@dataclass(frozen=True)
class Verdict:
    """predicted: the statement in numbers. measured: what came out, compared with the bound."""

    predicted: str
    measured: float
    bound: float
    holds: bool
    picture: Picture
    details: Mapping[str, float] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def settings_of(entry: Entry) -> type:
    """The arguments of `check` as a dataclass, so that they become flags."""
    arguments = inspect.signature(entry.load().check).parameters.values()
    fields = [(p.name, p.annotation, field(default=p.default)) for p in arguments]
    return make_dataclass("Settings", fields)
