"""A claim of the lab, measured again whenever the page changes its arguments."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from chainrule.errors import InputError
from chainrule.lab.claim import Picture, Verdict, help_of, near_of, parameters_of
from chainrule.lab.result import BROKEN, check_entry, violate
from chainrule.registry import Entry, find
from chainrule.studio.activity import Activity, Json, Range, View, read, rounded


@dataclass(frozen=True)
class Measurement:
    """What is measured.

    Args:
        arguments: of the claim's `check`; none for the defaults.
        violation: measure the claim under this one instead: "broken" or a near violation.
    """

    arguments: dict = field(default_factory=dict)
    violation: Annotated[str, Range(0, 80)] = ""


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
    known = {"arguments": arguments(entry), "violations": violations(entry)}
    while True:
        yield View(lambda: {"measuring": True} | known)
        content = {"measuring": False} | known | measured(entry, chosen)
        message = yield View(lambda content=content: content, waiting=True)  # type: ignore[misc]
        chosen = read(Measurement, message or {})


def measured(entry: Entry, chosen: Measurement) -> Json:
    """The verdict; arguments that the claim refuses are told, and others may follow."""
    try:
        if chosen.violation:
            return plain(violate(entry, chosen.violation).verdict)
        return plain(check_entry(entry, chosen.arguments).verdict)
    except InputError as error:
        return {"refused": str(error)}


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


def violations(entry: Entry) -> Json:
    """The name of each violation, and what it does in the words of the claim's file."""
    module, near = entry.load(), near_of(entry)
    found = {BROKEN: first_line(module.broken)}
    return found | dict.fromkeys(near, first_line(module.near)) if near else found


def first_line(function: Callable[..., Any]) -> str:
    return (function.__doc__ or "").split("\n", 1)[0]


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
