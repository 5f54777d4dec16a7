"""What a signature says of its arguments, checked at the door.

    @checked
    class Layer(nn.Module):
        def __init__(self, inputs: Count, dropout: Rate = 0.0): ...
        def forward(self, x: Float[Tensor, "batch n"]) -> Float[Tensor, "batch m"]: ...

Numbers, names, modules and all arguments of a constructor are checked before the call. Tensors of
other calls are not looked at, so that a forward pass costs nothing more: if it fails, they are
compared with the shapes in the signature, and the error says which argument cannot be used.
"""

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from inspect import Parameter, signature
from numbers import Integral, Real
from types import FunctionType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin

from chainrule.errors import InputError

Door = TypeVar("Door", bound=Callable[..., Any])
SYMBOLS = ("SymInt", "SymFloat")  # torch's sizes while it traces a program, of no value yet
RAW = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    MemoryError,
    RuntimeError,
    TypeError,
)
"""What torch, numpy and Python raise in the middle of a computation."""
NAMED = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
LONGEST = 60  # characters of a value in a message


class Range(NamedTuple):
    """Numbers from `least` to `most`, in words for messages."""

    words: str
    least: float = -math.inf
    most: float = sys.float_info.max
    open_least: bool = False
    open_most: bool = False

    def holds(self, value: int | float) -> bool:
        above = value > self.least if self.open_least else value >= self.least
        below = value < self.most if self.open_most else value <= self.most
        return above and below


Count = Annotated[int, Range("a whole number of at least 1", 1)]
TwoOrMore = Annotated[int, Range("a whole number of at least 2", 2)]
Natural = Annotated[int, Range("a whole number of at least 0", 0)]
Finite = Annotated[float, Range("a finite number", -sys.float_info.max)]
Positive = Annotated[float, Range("a number above 0", 0, open_least=True)]
NonNegative = Annotated[float, Range("a number of at least 0", 0)]
PositiveOrInfinite = Annotated[float, Range("a number above 0", 0, math.inf, open_least=True)]
Share = Annotated[float, Range("a number from 0 to 1", 0, 1)]
Rate = Annotated[float, Range("a number from 0 to below 1", 0, 1, open_most=True)]


def checked(target: Door) -> Door:
    """The function, or a class with its constructor and public methods, behind a checked door."""
    if isinstance(target, type):
        for name, member in list(vars(target).items()):
            if isinstance(member, FunctionType) and (name == "__init__" or name[0] != "_"):
                setattr(target, name, checked(member))
        return target
    return checked_function(target)


def checked_function(function: Door) -> Door:
    """The function, whose arguments are compared with its annotations."""
    parameters = signature(function).parameters
    kinds = {
        name: parameter.annotation
        for name, parameter in parameters.items()
        if parameter.kind in NAMED and parameter.annotation is not Parameter.empty
    }
    places = {
        name: place
        for place, (name, parameter) in enumerate(parameters.items())
        if parameter.kind is Parameter.POSITIONAL_OR_KEYWORD
    }
    constructor = function.__name__ == "__init__"
    early = [
        (places.get(name, math.inf), name, kind)
        for name, kind in kinds.items()
        if constructor or not holds_tensor(kind)
    ]

    @wraps(function)
    def door(*args: Any, **options: Any) -> Any:
        for place, name, kind in early:
            if place < len(args):
                check(function, name, kind, args[int(place)])
            elif name in options:
                check(function, name, kind, options[name])
        try:
            return function(*args, **options)
        except RAW as error:
            explain(function, kinds, args, options, error)
            raise

    return door  # type: ignore[return-value]


def check(function: Callable[..., Any], name: str, kind: Any, value: Any) -> None:
    """Refuse a value that an annotation rules out."""
    if not fits(value, kind) and type(value).__name__ not in SYMBOLS:
        raise InputError(
            f"{title(function)}: `{name}` must be {in_words(kind)}, got {shown(value)}"
        )


def explain(
    function: Callable[..., Any],
    kinds: Mapping[str, Any],
    args: Sequence[Any],
    options: Mapping[str, Any],
    error: Exception,
) -> None:
    """Say in one sentence why a call failed, unless Python itself has refused its arguments."""
    try:
        given = signature(function).bind(*args, **options).arguments
    except TypeError:
        return
    for name in given.keys() & kinds.keys():
        check(function, name, kinds[name], given[name])
    values = [f"`{name}` {shown(value)}" for name, value in given.items() if name != "self"]
    reason = next(iter(str(error).splitlines()), type(error).__name__)
    raise InputError(f"{title(function)} cannot take {', '.join(values)}: {reason}") from error


def title(function: Callable[..., Any]) -> str:
    """`MLP` for its constructor and its forward pass, the name for everything else."""
    return function.__qualname__.removesuffix(".__init__").removesuffix(".forward")


def fits(value: Any, kind: Any) -> bool:
    """Whether a value is what an annotation says; annotations of other forms allow everything."""
    if type(value) is kind:  # most are, and to take an annotation apart costs more
        return True
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        whole = inner[0] is int
        return (fits(value, int) if whole else is_number(value)) and inner[1].holds(value)
    if origin in (Union, UnionType):
        return any(fits(value, one) for one in inner)
    if origin is Literal:
        return any(value is one or (type(value) is type(one) and value == one) for one in inner)
    if origin is tuple and inner[-1] is not Ellipsis:
        same = isinstance(value, tuple | list) and len(value) == len(inner)
        return same and all(map(fits, value, inner))
    if origin is not None and isinstance(origin, type):
        return is_collection(value, origin) and elements_fit(value, inner)
    if kind is int:
        return isinstance(value, Integral) and not isinstance(value, bool)
    if kind is float:
        return is_number(value)
    return not isinstance(kind, type) or is_instance(value, kind)


def is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def is_collection(value: Any, origin: type) -> bool:
    """Any sequence will do for a list or tuple, but not a string, whose letters are strings."""
    if origin in (list, tuple, Sequence):
        return isinstance(value, Sequence) and not isinstance(value, str | bytes)
    return isinstance(value, origin)


def elements_fit(value: Any, inner: tuple[Any, ...]) -> bool:
    """Whether every element of a sequence is of the kind in the brackets."""
    if not isinstance(value, Sequence):
        return True
    return all(fits(one, inner[0]) for one in value)


def is_instance(value: Any, kind: type) -> bool:
    try:
        return isinstance(value, kind)
    except (TypeError, RuntimeError, NameError, AttributeError):  # a shape that depends on others
        return True


def holds_tensor(kind: Any) -> bool:
    """Whether tensors are among what an annotation allows."""
    named = getattr(kind, "__name__", "") == "Tensor" or hasattr(kind, "dim_str")
    return named or any(map(holds_tensor, get_args(kind)))


def in_words(kind: Any) -> str:
    """An annotation as people say it."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return inner[1].words
    if origin in (Union, UnionType):
        return " or ".join(in_words(one) for one in inner)
    if origin is Literal:
        return " or ".join(map(repr, inner))
    if origin in (list, tuple, Sequence):
        number = f" of {len(inner)}" if origin is tuple and inner[-1] is not Ellipsis else ""
        return f"a sequence{number}, each {in_words(inner[0])}"
    if origin is Callable:
        return "a function"
    if hasattr(kind, "dim_str"):
        kinds, axes = kind.__name__.split("[")[0].lower(), ", ".join(kind.dim_str.split())
        return f"a {kinds} tensor of shape ({axes})"
    return WORDS.get(kind) or f"of type {getattr(kind, '__name__', kind)}"


WORDS = {
    int: "a whole number",
    float: "a number",
    str: "a string",
    bool: "True or False",
    type(None): "None",
}


def shown(value: Any) -> str:
    """A value for a message: tensors by type and shape."""
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return f"{str(value.dtype).removeprefix('torch.')} of shape {tuple(value.shape)}"
    text = repr(value)
    return text if len(text) <= LONGEST and "\n" not in text else f"a {type(value).__name__}"
