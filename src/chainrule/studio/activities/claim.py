"""A claim of the lab, measured again whenever the page changes its arguments."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from chainrule.lab.claim import Picture, Verdict, help_of, parameters_of
from chainrule.lab.result import check_entry, violate
from chainrule.registry import Entry, find
from chainrule.studio.activity import Activity, Json, Range, View, read, rounded


@dataclass(frozen=True)
class Measurement:
    """What is measured.

    Args:
        arguments: of the claim's `check`; none for the defaults.
        violated: measure the violation of its hypothesis instead.
    """

    arguments: dict = field(default_factory=dict)
    violated: bool = False


@dataclass(frozen=True)
class Settings(Measurement):
    """Which claim, and what is measured first.

    Args:
        claim: its name.
    """

    claim: Annotated[str, Range(1, 80)] = ""


def run(settings: Json) -> Activity:
    chosen: Measurement = read(Settings, settings)
    entry = find("claims", settings.get("claim", ""))
    known = {"arguments": arguments(entry), "violation": violation(entry)}
    while True:
        yield View(lambda: {"measuring": True} | known)
        result = violate(entry) if chosen.violated else check_entry(entry, chosen.arguments)
        content = {"measuring": False} | known | plain(result.verdict)
        message = yield View(lambda content=content: content, waiting=True)  # type: ignore[misc]
        chosen = read(Measurement, message or {})


def arguments(entry: Entry) -> list[Json]:
    """Name, type, default and help of each argument of `check`."""
    texts = help_of(entry)
    return [
        {
            "name": p.name,
            "type": getattr(p.annotation, "__name__", str(p.annotation)),
            "default": p.default,
            "help": texts.get(p.name, ""),
        }
        for p in parameters_of(entry)
    ]


def violation(entry: Entry) -> str:
    """How the hypothesis is violated, in the words of the claim's file."""
    return (entry.load().broken.__doc__ or "").split("\n", 1)[0]


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
