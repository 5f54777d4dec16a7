"""The words of a command line, compared with the flags of a form before it is filled in.

The first word that does not fit is refused in one sentence.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import tyro

from chainrule.errors import InputError
from chainrule.registry import nearest

HELP = ("-h", "--help")
SPELLED = {
    "from_run": "from",
    "model_name": "model",
}  # names that Python or a recipe uses otherwise
NUMBERS = {int: "a whole number", float: "a number"}


@dataclass(frozen=True)
class Slot:
    """One flag or positional argument of a form."""

    name: str
    """As it is typed: --batch-size, or RUN for a positional argument."""
    kind: type
    choices: tuple[str, ...]
    """The values of a Literal."""
    many: bool
    positional: bool
    required: bool


def as_words(name: str) -> str:
    """The flag of a setting: --batch-size."""
    return f"--{SPELLED.get(name, name).replace('_', '-')}"


def slots(form: Any) -> Iterator[Slot]:
    """Every flag of a dataclass and of those inside it."""
    hints = get_type_hints(form, include_extras=True)
    for field in fields(form):
        kind, *marks = annotation(hints[field.name])
        if is_dataclass(kind):
            yield from slots(kind)
            continue
        positional = tyro.conf.Positional in marks
        metavars = [mark.metavar for mark in marks if getattr(mark, "metavar", None)]
        name = [*metavars, field.name.upper()][0] if positional else as_words(field.name)
        yield Slot(name, *plain(kind), positional, field.default is MISSING)


def annotation(hint: Any) -> tuple[Any, ...]:
    """A type and what it is annotated with."""
    return get_args(hint) if get_origin(hint) is Annotated else (hint,)


def plain(kind: Any) -> tuple[type, tuple[str, ...], bool]:
    """The type of one value, its choices, and whether there may be many."""
    if get_origin(kind) in (Union, UnionType):
        (kind,) = (part for part in get_args(kind) if part is not NoneType)
    if get_origin(kind) is tuple:
        one, choices, _ = plain(get_args(kind)[0])
        return one, choices, True
    return (str, get_args(kind), False) if get_origin(kind) is Literal else (kind, (), False)


def check(words: Sequence[str], known: Sequence[Slot], command: str) -> None:
    """Refuse the first word that the form of this command has no use for."""
    flags = {slot.name: slot for slot in known if not slot.positional}
    rest, given = list(words), set()
    loose: list[str] = []
    while rest:
        word = rest.pop(0)
        if word in HELP:
            return
        if word == "--":
            loose, rest = loose + rest, []
        elif not is_flag(word):
            loose.append(word)
        else:
            slot, values = taken(word, rest, flags, command)
            if slot.name in given:
                raise InputError(f"{slot.name} is given twice; leave one of them out")
            given.add(slot.name)
            check_values(slot, values)
    check_loose(loose, [slot for slot in known if slot.positional], command)
    if missing := [
        slot.name for slot in flags.values() if slot.required and slot.name not in given
    ]:
        raise InputError(f"chainrule {command} needs {' and '.join(missing)}; --help says more")


def abbreviated(name: str, flags: Iterable[str]) -> list[str]:
    """Flags of two words or more with these initials: --lr of --learning-rate."""
    parts = {flag: flag.lstrip("-").split("-") for flag in flags}
    wanted = name.lstrip("-").lower()
    return [f for f, words in parts.items() if len(words) > 1 and initials(words) == wanted]


def initials(words: Iterable[str]) -> str:
    return "".join(word[:1] for word in words)


def taken(
    word: str, rest: list[str], flags: dict[str, Slot], command: str
) -> tuple[Slot, list[str]]:
    """The slot of a flag and its values, which are removed from the rest."""
    name, equals, value = word.partition("=")
    slot = flags.get(name.replace("_", "-"))
    if slot is None:
        near = abbreviated(name, flags) or nearest(name, list(flags))
        hint = f"did you mean {' or '.join(near)}?" if near else "--help lists them"
        raise InputError(f"chainrule {command} has no flag {name}; {hint}")
    if slot.kind is bool:
        if equals:
            raise InputError(f"{slot.name} takes no value, got {value!r}")
        return slot, []
    values = [value] if equals else []
    while rest and not is_flag(rest[0]) and rest[0] != "--" and (slot.many or not values):
        values.append(rest.pop(0))
    if not values and not slot.many:
        raise InputError(f"{slot.name} needs a value: {expected(slot)}")
    return slot, values


def check_loose(words: Sequence[str], places: Sequence[Slot], command: str) -> None:
    """Compare the words that belong to no flag with the positional arguments."""
    rest = list(words)
    for place in places:
        values, rest = (rest, []) if place.many else (rest[:1], rest[1:])
        if not values and place.required:
            raise InputError(f"chainrule {command} needs {place.name}; --help says more")
        check_values(place, values)
    if rest:
        raise InputError(f"chainrule {command} has no use for {rest[0]!r}; --help lists its flags")


def check_values(slot: Slot, values: Sequence[str]) -> None:
    """Refuse a value of another type."""
    for value in values:
        fits = is_number(value, slot.kind) if slot.kind in NUMBERS else True
        if not fits or (slot.choices and value not in slot.choices):
            raise InputError(f"{slot.name} must be {expected(slot)}, got {value!r}")


def expected(slot: Slot) -> str:
    """The values of a slot in words."""
    if slot.choices:
        return f"one of {', '.join(slot.choices)}"
    return NUMBERS.get(slot.kind, "a path" if slot.kind is not str else "a word")


def is_flag(word: str) -> bool:
    """Whether a word is a flag and no negative number."""
    return word[:1] == "-" and word.strip("-")[:1].isalpha() and not is_number(word, float)


def is_number(word: str, kind: type) -> bool:
    try:
        kind(word)
    except ValueError:
        return False
    return True
