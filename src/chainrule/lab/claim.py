"""The contract of a claim file: `check(...) -> Verdict`, `broken() -> Verdict`, `near() -> Near`.

The arguments of `check` are its settings. All have defaults with which it takes seconds, `seed` is
one of them if anything is random, and an `Args:` section of its docstring says what they mean.
`broken` violates the hypothesis, so that the claim must fail. `near`, which may be missing, names
subtle violations: a constant off by 10 %, a formula as misprinted, a hypothesis violated a little.
Each is a function that measures the claim under it within a second; a claim that is narrow enough
fails. Nothing is drawn: the picture is a value.
"""

import inspect
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, make_dataclass
from functools import partial
from typing import Any

from chainrule.errors import InputError
from chainrule.registry import Entry, unknown

Series = Mapping[str, tuple[Sequence[float], Sequence[float]]]
RELATIONS: Mapping[str, Callable[[float, float], bool]] = {
    "≤": operator.le,
    "<": operator.lt,
    "≥": operator.ge,
    ">": operator.gt,
    "=": operator.eq,
}
SEED_HELP = "Seed of everything random."


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
    """A measured quantity beside its bound.

    Args:
        quantity: What was measured, with its unit.
        measured: The value found.
        relation: How `measured` must compare with `bound`: ≤, <, ≥, > or =.
        bound: A value of the same quantity.
        picture: What was predicted and measured, to be drawn.
        conditions: Everything else that must be true, by name.
        details: Further numbers, by name.
    """

    quantity: str
    measured: float
    relation: str
    bound: float
    picture: Picture
    conditions: Mapping[str, bool] = field(default_factory=dict)
    details: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.relation not in RELATIONS:
            known = ", ".join(RELATIONS)
            raise InputError(f"relation must be one of {known}, got {self.relation!r}")

    @property
    def holds(self) -> bool:
        """Whether the bound is kept and every condition true; not a number keeps no bound."""
        within = RELATIONS[self.relation](self.measured, self.bound)
        return bool(within) and all(self.conditions.values())

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"holds": self.holds}


Near = dict[str, Callable[[], Verdict]]


def near_of(entry: Entry) -> Near:
    """The near violations of a claim, by name; none where its file defines none. Nothing is run."""
    module = entry.load()
    return module.near() if hasattr(module, "near") else {}


def ten_percent(quantity: str, measure: Callable[[float], Verdict]) -> Near:
    """The quantity 10 % too small and too large: `measure` is given the factors 0.9 and 1.1."""
    return {f"{quantity} × {factor}": partial(measure, factor) for factor in (0.9, 1.1)}


def parameters_of(entry: Entry) -> list[inspect.Parameter]:
    """The arguments of `check`, each with a type and a default."""
    parameters = list(inspect.signature(entry.load().check, eval_str=True).parameters.values())
    for p in parameters:
        if p.default is p.empty or p.annotation is p.empty:
            raise InputError(f"argument {p.name} of check in {entry.path} needs a type and default")
    return parameters


def help_of(entry: Entry) -> dict[str, str]:
    """The `Args:` section of the docstring of `check`; `seed` means the same everywhere."""
    _, _, section = (inspect.getdoc(entry.load().check) or "").partition("Args:\n")
    texts = re.findall(r"^ {4}(\w+): (.+(?:\n {5,}.+)*)", section, re.MULTILINE)
    return {"seed": SEED_HELP} | {name: " ".join(text.split()) for name, text in texts}


def settings_of(entry: Entry) -> type:
    """The arguments of `check` as a dataclass whose docstring is their help: they become flags."""
    parameters, texts = parameters_of(entry), help_of(entry)
    fields = [(p.name, p.annotation, field(default=p.default)) for p in parameters]
    lines = [f"    {p.name}: {texts[p.name]}" for p in parameters if p.name in texts]
    return make_dataclass(
        "Settings",
        fields,
        namespace={"__doc__": "\n".join(["Arguments of the claim.", "", "Args:", *lines])},
    )


def validate(entry: Entry, arguments: Mapping[str, Any]) -> None:
    """Refuse arguments that `check` does not have, of another type, or of no size."""
    known = {p.name: p.annotation for p in parameters_of(entry)}
    for name, value in arguments.items():
        if name not in known:
            raise InputError(unknown(f"argument of {entry.name}", name, list(known)))
        wanted = known[name]
        if wanted in (int, float) and not is_number(value, wanted):
            raise InputError(f"`{name}` must be of type {wanted.__name__}, got {value!r}")
        if name != "seed" and wanted is int and value < 1:
            raise InputError(f"`{name}` must be at least 1, got {value}")


def is_number(value: object, kind: type) -> bool:
    """An int is a float too, but True is neither."""
    return isinstance(value, (int, float) if kind is float else int) and not isinstance(value, bool)
