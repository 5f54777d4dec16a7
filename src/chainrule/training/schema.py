"""Forms of JSON values: type hints say what a file must hold, one function checks it.

A form is a `TypedDict` or a dataclass for an object, `list[int]`, `dict[str, float]`, a union, a
`Literal`, or `Annotated[int, range(10)]` for a number in a range. Other hints accept any value.
"""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from itertools import accumulate
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from chainrule.errors import InputError

Count = Annotated[int, range(2**53)]
DEEPEST = 32  # levels of nested lists and objects
STRINGS = re.compile(rb'"(?:[^"\\]|\\.)*+"?', re.DOTALL)
OTHERS = bytes(set(range(256)) - set(b"[]{}"))
LISTED = 40  # characters of a value in a message
WORDS = {str: "text", bool: "true or false", int: "a whole number", float: "a number"}
WORDS |= {NoneType: "null", dict: "an object", list: "a list", tuple: "a list"}


def parsed(text: bytes, path: Path | str, strict: bool = True) -> Any:
    """The JSON value of a file's text; strict refuses numbers that are not finite."""
    if depth(text) > DEEPEST:  # the parser would stop as well, but at the end of its stack
        raise InputError(f"{path} is nested too deeply to be one of ours")
    number = finite_number if strict else None
    try:
        return json.loads(text.decode(), parse_constant=number, parse_float=number)
    except ValueError as error:  # no UTF-8, no JSON, or a number of thousands of digits
        raise InputError(
            f"{path} is damaged, it holds no valid JSON ({str(error).splitlines()[0]}); "
            "restore it from a copy, or start again"
        ) from None


def depth(text: bytes) -> int:
    """Levels of nested lists and objects."""
    brackets = STRINGS.sub(b"", text).translate(None, OTHERS)
    return max(accumulate(1 if bracket in b"[{" else -1 for bracket in brackets), default=0)


def finite_number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"expected finite numbers, got {text[:LISTED]}")
    return value


def conform(value: Any, form: Any, path: Path | str, key: str = "") -> Any:
    """The value, refused with the name of the file and the key where it has another form."""
    if found := fault(value, form, key):
        raise InputError(f"{path} is damaged: {found}; restore it from a copy, or start again")
    return value


def fault(value: Any, form: Any, key: str) -> str:
    """What is wrong with a value; empty if nothing is."""
    origin, parts = get_origin(form), get_args(form)
    if origin is NotRequired:
        return fault(value, parts[0], key)
    if origin is Annotated:
        return fault(value, parts[0], key) or out_of_range(value, parts[1], key)
    if origin in (Union, UnionType):
        faults = [fault(value, part, key) for part in parts]
        if not all(faults):
            return ""
        return faults[0] if isinstance(value, dict | list) else told(key, words(form), value)
    if origin is Literal:
        return "" if value in parts else told(key, words(form), value)
    if is_typeddict(form) or is_dataclass(form):
        return object_fault(value, form, key)
    if origin in (list, tuple, dict):
        return container_fault(value, origin, parts, key)
    return "" if is_a(value, form) else told(key, words(form), value)


def object_fault(value: Any, form: Any, key: str) -> str:
    """What is wrong with an object of named keys."""
    if not isinstance(value, dict):
        return told(key, WORDS[dict], value)
    hints = get_type_hints(form, include_extras=True)
    names = [f.name for f in fields(form)] if is_dataclass(form) else list(hints)
    required = names if is_dataclass(form) else form.__required_keys__
    for name in names:
        inner = f"{key}.{name}" if key else name
        if name not in value and name in required:
            return f'"{inner}" is missing'
        if name in value and (found := fault(value[name], hints[name], inner)):
            return found
    strange = next((k for k in value if k not in names), None) if is_dataclass(form) else None
    return "" if strange is None else f'"{key}" has an unknown key {brief(strange)}'


def container_fault(value: Any, origin: type, parts: tuple[Any, ...], key: str) -> str:
    """What is wrong with a list or a mapping of alike values."""
    kind = dict if origin is dict else list
    if not isinstance(value, kind):
        return told(key, WORDS[kind], value)
    pairs = value.items() if isinstance(value, Mapping) else enumerate(value)
    form = parts[1] if kind is dict else parts[0]
    return next((found for k, v in pairs if (found := fault(v, form, f"{key}.{brief(k)}"))), "")


def is_a(value: Any, form: Any) -> bool:
    """Whether a plain value is of a type; a whole number is a number, but true is none."""
    whole = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**64
    if form is int or form is float:
        return whole or (form is float and isinstance(value, float))
    return isinstance(value, form) if form in WORDS else True


def out_of_range(value: Any, allowed: range, key: str) -> str:
    low, high = allowed[0], allowed[-1]
    return "" if value in allowed else told(key, f"a whole number from {low} to {high}", value)


def words(form: Any) -> str:
    """A hint in words."""
    if form in WORDS:
        return WORDS[form]
    origin, parts = get_origin(form), get_args(form)
    if origin is Literal:
        return " or ".join(map(str, parts))
    if origin in (Union, UnionType):
        return " or ".join(map(words, parts))
    if origin is Annotated:
        return words(parts[0])
    return WORDS.get(origin, WORDS[dict]) if origin else WORDS[dict]


def told(key: str, expected: str, value: Any) -> str:
    """What was expected and what came."""
    place = f' as "{key}"' if key else ""
    return f"expected {expected}{place}, got {brief(value)}"


def brief(value: Any) -> str:
    """A value in at most a few words."""
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return text if len(text) <= LISTED else f"{text[:LISTED]}…"
