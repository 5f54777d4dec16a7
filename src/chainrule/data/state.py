"""Values read from JSON, checked: an error names the key, what was expected and what came."""

import re
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from chainrule.errors import InputError

SURROGATE = re.compile("[\ud800-\udfff]")  # half of a character; no file or terminal takes it
SHOWN = 60  # characters of a value in a message


class Kind(NamedTuple):
    """What a value may be.

    words: as a message says it.
    holds: whether a value is of this kind.
    required: whether it must be there and not null.
    """

    words: str
    holds: Callable[[Any], bool]
    required: bool = True


def is_text(value: Any) -> bool:
    return isinstance(value, str) and not SURROGATE.search(value)


def is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)  # a tuple: never written to JSON


def is_number(value: Any) -> bool:
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    return plain and abs(value) <= sys.float_info.max


TEXT = Kind("a text", is_text)
TEXTS = Kind("a list of texts", lambda value: is_list(value) and all(map(is_text, value)))
NAMES = Kind("a list of one or more texts", lambda value: TEXTS.holds(value) and len(value) > 0)
FLAG = Kind("true or false", lambda value: isinstance(value, bool))
LIST = Kind("a list", is_list)
OBJECT = Kind("an object", lambda value: isinstance(value, dict))
NUMBER = Kind("a finite number", is_number)
POSITIVE = Kind("a number above 0", lambda value: is_number(value) and value > 0)


def whole(least: int, most: int) -> Kind:
    """A whole number in this range."""
    return Kind(
        f"a whole number from {least:,} to {most:,}",
        lambda value: is_number(value) and isinstance(value, int) and least <= value <= most,
    )


def number(least: float, most: float) -> Kind:
    """A number in this range, the upper end not included."""
    return Kind(
        f"a number from {least} to below {most}",
        lambda value: is_number(value) and least <= value < most,
    )


def one_of(*values: Any) -> Kind:
    """One of these values."""
    words = " or ".join(map(repr, values))
    return Kind(words, lambda value: type(value) in map(type, values) and value in values)


def optional(kind: Kind) -> Kind:
    """The same, or null, or no such key."""
    return kind._replace(required=False)


def fields(state: Any, what: str, **kinds: Kind) -> dict[str, Any]:
    """The values of these keys; an optional one that is not there is left out.

    state: a value that JSON held.
    what: what it is, for messages.
    kinds: what each key must hold; other keys are ignored.
    """
    if not isinstance(state, dict):
        raise InputError(f"expected {what} to be an object, got {shown(state)}")
    found = {}
    for key, kind in kinds.items():
        value = state.get(key)
        if key not in state and kind.required:
            raise InputError(f"expected {kind.words} as {key!r} of {what}, got nothing")
        if value is None and not kind.required:
            continue
        if not kind.holds(value):
            raise InputError(f"expected {kind.words} as {key!r} of {what}, got {shown(value)}")
        found[key] = value
    return found


def shown(value: Any) -> str:
    """A value for a message: short, and never nested."""
    if isinstance(value, list | tuple | dict):
        kind, entries = ("a list", "values") if is_list(value) else ("an object", "keys")
        return f"{kind} with {len(value):,} {entries}"
    if isinstance(value, int) and abs(value) > 10**SHOWN:
        return "a huge number"
    text = ascii(value) if isinstance(value, str) and not is_text(value) else repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
