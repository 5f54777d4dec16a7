"""The contract of an activity: a generator of views, which messages from the page may steer.

    def run(settings: Json) -> Activity:
        chosen = read(Settings, settings)           refuses what is unknown, of another type or size
        ...
        while True:
            message = yield View(draw)              one small step of work lies between two views
            if message is None: step()
            else: apply(message)                    a message is answered without a step

`draw()` returns a dictionary that becomes JSON. It is called only when the page wants to see it, at
most twenty times a second, so drawing may cost more than a step. `View(draw, waiting=True)` says
that nothing happens before the next message. The same view, yielded again, is not shown again. When
the generator returns, the last view stays.
"""

import base64
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from chainrule.errors import InputError
from chainrule.registry import unknown

Json = dict[str, Any]
T = TypeVar("T")
LONGEST_TEXT = 100_000  # characters of a setting
LONGEST_LIST = 20_000  # entries of a setting
PLAIN = (int, float, bool, str)


@dataclass(frozen=True)
class View:
    """What the page may see now.

    Args:
        draw: makes the content, when it is wanted.
        waiting: nothing happens before the next message.
    """

    draw: Callable[[], Json]
    waiting: bool = False


Activity = Generator[View, Json | None, None]


@dataclass(frozen=True)
class Range:
    """Bounds of a number, or of the length of a list or text: `Annotated[int, Range(1, 8)]`."""

    low: int | float
    high: int | float


def read(kind: type[T], values: Mapping[str, Any]) -> T:
    """A dataclass of settings from what the page sent; everything is checked.

    Fields are int, float, bool, str, `Literal`, lists (`tuple[float, ...]`, nested too), optional
    ones of these, or `dict` of plain values; `Annotated` with a `Range` bounds numbers and lengths.

    Args:
        kind: the dataclass.
        values: by name.
    """
    hints = get_type_hints(kind, include_extras=True)
    for name in values:
        if name not in hints:
            raise InputError(unknown("setting", str(name), list(hints)))
    given = {name: checked(f"`{name}`", hints[name], value) for name, value in values.items()}
    for field in fields(kind):  # type: ignore[arg-type]
        if field.name not in given and field.default is field.default_factory is MISSING:
            raise InputError(f"`{field.name}` is missing")
    return kind(**given)


def checked(name: str, hint: Any, value: Any) -> Any:
    """The value as the hint wants it."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        bounds = [mark for mark in inner[1:] if isinstance(mark, Range)]
        if inner[0] is str:  # its own bound may be larger than that of other texts
            longest = max((bound.high for bound in bounds), default=LONGEST_TEXT)
            found = plain(name, str, value, longest)
        else:
            found = checked(name, inner[0], value)
        for bound in bounds:
            in_range(name, bound, found)
        return found
    if origin is Literal:
        return one_of(name, inner, value)
    if origin in (Union, UnionType):
        return None if value is None else checked(name, inner[0], value)
    if origin is tuple:
        if not isinstance(value, list | tuple) or len(value) > LONGEST_LIST:
            raise InputError(f"{name} must be a list of at most {LONGEST_LIST} entries")
        return tuple(checked(f"an entry of {name}", inner[0], part) for part in value)
    return plain(name, hint, value)


def one_of(name: str, known: Sequence[Any], value: Any) -> Any:
    if value not in known or isinstance(value, bool | float):
        raise InputError(unknown(f"value of {name}", str(value)[:40], list(known)))
    return value


def plain(name: str, kind: Any, value: Any, longest: int | float = LONGEST_TEXT) -> Any:
    """A number, a truth value, a text, or an object of these."""
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if not isinstance(value, kind) or (kind is not bool and isinstance(value, bool)):
        raise InputError(f"{name} must be of type {kind.__name__}, got {str(value)[:40]!r}")
    if isinstance(value, float) and not np.isfinite(value):
        raise InputError(f"{name} must be finite, got {value}")
    if isinstance(value, str) and len(value) > longest:
        raise InputError(f"{name} must have at most {longest} characters, got {len(value)}")
    if isinstance(value, dict) and not all(isinstance(part, PLAIN) for part in value.values()):
        raise InputError(f"{name} must hold numbers, truth values and texts only")
    return value


def in_range(name: str, allowed: Range, value: Any) -> None:
    """Refuse a number, or a list or text whose length, is outside the range."""
    if value is None:
        return
    sized = isinstance(value, str | tuple)
    if not allowed.low <= (len(value) if sized else value) <= allowed.high:
        what = f"the length of {name}" if sized else name
        got = len(value) if sized else value
        raise InputError(f"{what} must be from {allowed.low:g} to {allowed.high:g}, got {got}")


def raster(values: Any, low: int | float, high: int | float) -> Json:
    """An array for the page as bytes: low becomes 0, high 255.

    Args:
        values: an array or tensor of any shape.
        low: this value and everything below becomes 0.
        high: this value and everything above becomes 255.
    """
    array = np.asarray(values, dtype=np.float64)
    scaled = (array - low) * (255 / (high - low)) if high > low else np.zeros_like(array)
    content = np.nan_to_num(scaled, nan=0.0).clip(0, 255).round().astype(np.uint8)
    data = base64.b64encode(content.tobytes()).decode("ascii")
    return {"shape": list(array.shape), "low": low, "high": high, "data": data}


def rounded(values: Any, digits: int = 4) -> Any:
    """Nested lists of numbers with this many significant digits; None for what is not finite."""
    array = np.asarray(values, dtype=np.float64)
    short = [float(f"{v:.{digits}g}") if np.isfinite(v) else None for v in array.ravel()]
    nested: Any = short
    for size in reversed(array.shape[1:]):
        nested = [nested[i : i + size] for i in range(0, len(nested), size)] if size else []
    return nested if array.ndim else short[0]
