"""A claim of the lab, measured with the arguments that the page chose."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from chainrule.lab.claim import Picture, Verdict
from chainrule.lab.result import check_entry, violate
from chainrule.registry import find
from chainrule.studio.activity import Activity, Json, Range, View, read, rounded


@dataclass(frozen=True)
class Settings:
    """Which claim, and how it is measured.

    Args:
        claim: its name.
        arguments: of its `check`; none for the defaults.
        violated: measure the violation of its hypothesis instead.
    """

    claim: Annotated[str, Range(1, 80)]
    arguments: dict = field(default_factory=dict)
    violated: bool = False


def run(settings: Json) -> Activity:
    chosen = read(Settings, settings)
    entry = find("claims", chosen.claim)
    yield View(lambda: {"measuring": True})
    result = violate(entry) if chosen.violated else check_entry(entry, chosen.arguments)
    yield View(lambda: {"measuring": False} | plain(result.verdict), waiting=True)


def plain(verdict: Verdict) -> Json:
    """The verdict as JSON, its picture as data to be drawn."""
    measured, bound = rounded([verdict.measured, verdict.bound], 6)
    return {
        "holds": verdict.holds,
        "quantity": verdict.quantity,
        "measured": measured,
        "relation": verdict.relation,
        "bound": bound,
        "conditions": dict(verdict.conditions),
        "details": {name: rounded(value, 6) for name, value in verdict.details.items()},
        "picture": drawn(verdict.picture),
    }


def drawn(picture: Picture) -> Json:
    return {
        "title": picture.title,
        "x_label": picture.x_label,
        "y_label": picture.y_label,
        "log": picture.log,
        "curves": lines(picture.curves),
        "points": lines(picture.points),
        "bounds": lines(picture.bounds),
        "marks": {name: rounded(place) for name, place in picture.marks.items()},
    }


def lines(series: Mapping[str, tuple[Sequence[float], Sequence[float]]]) -> dict[str, Any]:
    """Both coordinates of every series."""
    return {name: [rounded(list(x), 6), rounded(list(y), 6)] for name, (x, y) in series.items()}
