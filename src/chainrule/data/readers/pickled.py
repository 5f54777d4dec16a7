"""Pickles of numbers read as data: nothing in the file is imported, called or built.

    array              numpy.core.multiarray._reconstruct, then its state
    CSR matrix         scipy.sparse.csr.csr_matrix, then a dictionary of arrays
    neighbor lists     collections.defaultdict of lists of whole numbers

A pickle is a program for a stack machine. This reader runs the few instructions that Python 2 wrote
for these three, keeps every call as a plain record of its name and arguments, and converts the last
record, checked, into an array, a matrix or lists. Its time and memory are linear in the file.
"""

import math
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from chainrule.errors import InputError

ARRAY, NDARRAY = "numpy.core.multiarray _reconstruct", "numpy ndarray"
DTYPE, MATRIX = "numpy dtype", "scipy.sparse.csr csr_matrix"
LISTS, LIST = "collections defaultdict", "__builtin__ list"
ALLOWED = frozenset({ARRAY, NDARRAY, DTYPE, MATRIX, LISTS, LIST})

# Instructions by their code; "<H" and the like are the numbers that follow it, as in `struct`.
NUMBER = {b"J": "<i", b"K": "<B", b"M": "<H"}
STRING = {b"T": "<i", b"U": "<B", b"B": "<I", b"C": "<B", b"X": "<I"}  # the length, then the bytes
CONSTANT = {b"N": None, b"\x88": True, b"\x89": False}
TUPLE = {b")": 0, b"\x85": 1, b"\x86": 2, b"\x87": 3}
PUT, GET = {b"q": "<B", b"r": "<I"}, {b"h": "<B", b"j": "<I"}
STOP = b"."

NUMBERS = (b"i4", b"i8", b"f4", b"f8")
BYTE_ORDERS = (b"<", b">")
MAX_NEIGHBORS = 10**6  # of all nodes together; lists in a pickle may be shared


class Name(NamedTuple):
    """A class or function that the pickle names."""

    name: str


@dataclass(eq=False, repr=False)
class Call:
    """What the pickle would have called, and what it would have done with the result."""

    name: str
    arguments: tuple[Any, ...]
    state: Any = None
    items: dict[Any, Any] = field(default_factory=dict)


MARK = object()
Neighbors = dict[int, list[int]]


def read_pickle(content: bytes) -> np.ndarray | csr_array | Neighbors:
    """The array, the matrix or the neighbor lists of a pickle."""
    found = Machine(content).run()
    name = found.name if isinstance(found, Call) else type(found).__name__
    if name == ARRAY:
        return to_array(found)
    if name == MATRIX:
        return to_matrix(found)
    if name == LISTS:
        return to_neighbors(found)
    raise InputError(f"expected an array, a matrix or neighbor lists, got {name}")


class Machine:
    """The instructions that are allowed, with their stack and memo. Strings are bytes."""

    def __init__(self, content: bytes) -> None:
        self.content, self.place = content, 0
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def run(self) -> Any:
        """The value that is left at the end."""
        while (code := self.take(1)) != STOP:
            self.step(code)
        (found,) = self.pop(1)
        return found

    def step(self, code: bytes) -> None:
        if code in NUMBER:
            self.stack.append(self.number(NUMBER[code]))
        elif code in STRING:
            self.stack.append(self.take(self.number(STRING[code])))
        elif code in CONSTANT:
            self.stack.append(CONSTANT[code])
        elif code in TUPLE:
            self.stack.append(tuple(self.pop(TUPLE[code])))
        elif code in PUT:
            self.memo[self.number(PUT[code])] = self.stack[-1]
        elif code in GET:
            self.stack.append(self.memo[self.number(GET[code])])
        elif code in OTHER:
            OTHER[code](self)
        else:
            raise InputError(f"the instruction {code!r} is not allowed")

    def take(self, size: int) -> bytes:
        """The next bytes."""
        end = self.place + size
        if not self.place <= end <= len(self.content):
            raise InputError("expected more bytes, got the end of the file")
        found, self.place = self.content[self.place : end], end
        return found

    def number(self, form: str) -> int:
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def line(self) -> str:
        end = self.content.index(b"\n", self.place)
        return (self.take(end - self.place) + self.take(1))[:-1].decode("ascii")

    def pop(self, number: int) -> list[Any]:
        """The last values, in their order."""
        start = len(self.stack) - number
        if start < 0 or any(value is MARK for value in self.stack[start:]):
            raise InputError(f"expected {number} values before an instruction, got fewer")
        found = self.stack[start:]
        del self.stack[start:]
        return found

    def pop_to_mark(self) -> list[Any]:
        """The values after the last mark."""
        found = []
        while (value := self.stack.pop()) is not MARK:
            found.append(value)
        return found[::-1]

    def name(self) -> None:
        self.stack.append(Name(allowed(f"{self.line()} {self.line()}")))

    def call(self) -> None:
        function, arguments = self.pop(2)
        self.stack.append(Call(of(Name, function).name, of(tuple, arguments)))

    def build(self) -> None:
        (state,) = self.pop(1)
        of(Call, self.stack[-1]).state = state

    def append(self, values: list[Any]) -> None:
        of(list, self.stack[-1]).extend(values)

    def set_items(self, flat: list[Any]) -> None:
        """Only numbers and strings are keys: the hash of nested values may take forever."""
        target = self.stack[-1]
        items = target.items if isinstance(target, Call) else of(dict, target)
        for key, value in zip(flat[::2], flat[1::2], strict=True):
            items[of(int | bytes, key)] = value


OTHER: Mapping[bytes, Callable[[Machine], Any]] = {
    b"\x80": lambda machine: machine.take(1),  # the protocol
    b"c": Machine.name,
    b"(": lambda machine: machine.stack.append(MARK),
    b"t": lambda machine: machine.stack.append(tuple(machine.pop_to_mark())),
    b"]": lambda machine: machine.stack.append([]),
    b"}": lambda machine: machine.stack.append({}),
    b"a": lambda machine: machine.append(machine.pop(1)),
    b"e": lambda machine: machine.append(machine.pop_to_mark()),
    b"u": lambda machine: machine.set_items(machine.pop_to_mark()),
    b"R": Machine.call,
    b"\x81": Machine.call,
    b"b": Machine.build,
}


def allowed(name: str) -> str:
    """The name, if it is one of the few."""
    if name not in ALLOWED:
        raise InputError(f"{name} is not allowed")
    return name


def of(kind: Any, value: Any) -> Any:
    """The value, if it is of this kind; its content is never printed or compared."""
    if not isinstance(value, kind):
        raise InputError(f"expected {getattr(kind, '__name__', kind)}, got {type(value).__name__}")
    return value


def to_array(call: Any) -> np.ndarray:
    """The array of a recorded `_reconstruct` and its state: version, shape, type, order, bytes."""
    if of(Call, call).name != ARRAY or len(of(tuple, call.state)) != 5:
        raise InputError("expected an array with five values of state")
    _, shape, dtype, fortran_order, content = call.state
    kind, sizes, raw = to_dtype(dtype), to_shape(shape), of(bytes, content)
    if fortran_order or math.prod(sizes) * kind.itemsize != len(raw):
        raise InputError(f"expected {math.prod(sizes)} numbers row by row, got {len(raw)} bytes")
    return np.frombuffer(raw, kind).reshape(sizes)


def to_dtype(call: Any) -> np.dtype[Any]:
    """A plain type of numbers, never one of objects or records."""
    state = of(tuple, of(Call, call).state)
    code = call.arguments[0] if call.name == DTYPE and call.arguments else None
    order = state[1] if len(state) == 8 and state[2:5] == (None, None, None) else None
    if code not in NUMBERS or order not in BYTE_ORDERS:
        raise InputError("expected numbers of the type i4, i8, f4 or f8, got another type")
    return np.dtype((order + code).decode())


def to_shape(shape: Any) -> tuple[int, ...]:
    """At most two sizes."""
    sizes = tuple(of(int, size) for size in of(tuple, shape))
    if len(sizes) > 2 or min(sizes, default=0) < 0:
        raise InputError("expected an array of at most two axes")
    return sizes


def to_matrix(call: Call) -> csr_array:
    """The matrix with the recorded state."""
    state = of(dict, call.state)
    parts = tuple(to_array(state.get(name)) for name in (b"data", b"indices", b"indptr"))
    rows = csr_array(parts, shape=to_shape(state.get(b"_shape")))
    rows.check_format(full_check=True)
    return rows


def to_neighbors(call: Call) -> Neighbors:
    """Nodes and the lists of their neighbors."""
    total = sum(len(of(list, near)) for near in call.items.values())
    if total > MAX_NEIGHBORS:
        raise InputError(f"expected at most {MAX_NEIGHBORS:,} neighbors, got {total:,}")
    return {of(int, node): [of(int, other) for other in near] for node, near in call.items.items()}
