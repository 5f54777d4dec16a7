"""What a service takes, by the kind of its run: rows, texts, images, series, prompts or arrays.

Each kind reads the body of a request into examples, which are checked here, before they share a
batch with others; answers the examples of many requests at once; and describes itself in the words
of JSON Schema. Work that takes long looks at the clock, so that no request keeps the others waiting
after it was given up.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from threading import Event
from typing import Any, ClassVar

import torch
from torch import Tensor

from chainrule.data.readers.tables.column_encodings import NumericColumn
from chainrule.data.readers.tables.columns import Faults
from chainrule.data.readers.tables.table_encoder import TableEncoder
from chainrule.data.state import shown
from chainrule.errors import InputError
from chainrule.registry import nearest
from chainrule.runs.predict import answers
from chainrule.runs.run import Run

Json = dict[str, Any]
MOST_EXAMPLES = 10_000  # of one request
MOST_TOGETHER = 256  # examples in one forward pass, unless a single request has more
LONGEST = 30.0  # seconds until a request is given up
MOST_NAMES = 12  # in a message
MOST_OTHERS = 50  # unknown columns of a row, among which a misspelt one is looked for
WORD = {"type": ["string", "number", "boolean", "null"]}
NUMBER = {
    "anyOf": [
        {"type": "number", "minimum": -1e15, "maximum": 1e15},
        {"type": "string", "pattern": r"^-?[0-9]{1,12}(\.[0-9]{1,12})?$"},
        {"type": "null"},
    ]
}


class Inputs(ABC):
    """The examples of a request, for one run."""

    key: ClassVar[str]
    """Where they stand in the body."""
    most: ClassVar[int] = MOST_EXAMPLES
    """Examples of one request."""
    together: ClassVar[int] = MOST_TOGETHER
    """Examples that share a batch."""

    def __init__(self, run: Run):
        self.run, self.closing = run, Event()

    def read(self, body: Any) -> tuple[Any, int]:
        """The examples of a body, checked, and their number."""
        given = body.get(self.key) if isinstance(body, dict) else None
        if not isinstance(given, list) or not given or set(body) != {self.key}:
            raise InputError(
                f'expected an object {{"{self.key}": […]}} with one example or more, '
                f"got {self.form(body)}"
            )
        if len(given) > self.most:
            raise InputError(
                f"expected at most {self.most:,} examples in a request, got {len(given):,}"
            )
        return self.examples(given), len(given)

    def form(self, body: Any) -> str:
        """What a body is in place of what was expected."""
        if not isinstance(body, dict):
            return shown(body)
        if self.key in body and len(body) == 1:
            return f'"{self.key}": {shown(body[self.key])}'
        return f"an object with {listed(list(body)) or 'nothing in it'}"

    def check_time(self, start: float) -> None:
        """End work whose request has been given up, or whose service ends."""
        if self.closing.is_set() or time.monotonic() > start + LONGEST:
            raise InputError(f"no answer within {LONGEST:g} s; send fewer examples")

    @abstractmethod
    def examples(self, given: list[Any]) -> Any:
        """The examples of one request, in the form that `answer` takes."""

    @abstractmethod
    def answer(self, requests: list[Any]) -> list[list[Json]]:
        """The answers for the examples of each request."""

    def notes(self, body: Any) -> list[str]:
        """What the sender of this body should know about the answers."""
        return []

    @abstractmethod
    def item(self) -> Json:
        """The JSON schema of one example."""

    @abstractmethod
    def sample(self) -> Any:
        """One example for the documentation."""

    def schema(self) -> Json:
        """The JSON schema of a body."""
        examples = {"type": "array", "minItems": 1, "maxItems": self.most, "items": self.item()}
        return {
            "type": "object",
            "required": [self.key],
            "properties": {self.key: examples},
            "additionalProperties": False,
            "example": {self.key: [self.sample()]},
        }


class Tensors(Inputs):
    """Examples that become rows of one tensor."""

    def answer(self, requests: list[Tensor]) -> list[list[Json]]:
        return divided(answers(self.run, torch.cat(requests)), requests)


class Rows(Tensors):
    """Rows of a table: an object with a value for every column."""

    key = "rows"

    @property
    def encoder(self) -> TableEncoder:
        assert isinstance(self.run.summary.encoder, TableEncoder)
        return self.run.summary.encoder

    def examples(self, given: list[Any]) -> Tensor:
        faults, needed, start = Faults(), self.needed, time.monotonic()
        for number, row in enumerate(given, 1):
            self.check_time(start)
            with faults:
                self.check(number, row, needed)
        with faults:
            x = self.encoder.encode(self.columns(given))
        try:
            faults.refuse()
        except InputError as error:  # a request has no header
            raise InputError(str(error).replace(" below the header", "")) from None
        return x

    def check(self, number: int, row: Any, usual: set[str]) -> None:
        """Refuse a row that is no object of the columns; gaps of training may be left out."""
        if not isinstance(row, dict):
            raise InputError(f"row {number}: expected an object of columns, got {shown(row)}")
        names = [column.name for column in self.encoder.columns]
        lacking = [name for name in names if name not in row]
        others = [name for name in row if name not in names][:MOST_OTHERS] if lacking else []
        needed = [name for name in lacking if name in usual or nearest(name, others)]
        if needed:
            raise InputError(missing(number, others, needed, names))
        if wrong := [name for name in names if isinstance(row.get(name), dict | list)]:
            raise InputError(
                f"row {number}, {wrong[0]!r}: expected a number or a text, got "
                f"{shown(row[wrong[0]])}"
            )

    @property
    def needed(self) -> set[str]:
        """The columns of every row: those without gaps in training."""
        return {c.name for c in self.encoder.columns if not getattr(c, "missing", False)}

    def columns(self, given: list[Any]) -> dict[str, list[Any]]:
        """The cells of these rows; a gap where a row has none."""

        def cell(row: Any, name: str) -> Any:
            found = row.get(name) if isinstance(row, dict) else None
            return None if isinstance(found, dict | list) else found

        return {c.name: [cell(row, c.name) for row in given] for c in self.encoder.columns}

    def notes(self, body: Any) -> list[str]:
        return list(self.encoder.unseen(self.columns(body[self.key])))

    def item(self) -> Json:
        properties = {
            column.name: NUMBER if isinstance(column, NumericColumn) else WORD
            for column in self.encoder.columns
        }
        return {"type": "object", "required": sorted(self.needed), "properties": properties}

    def sample(self) -> Json:
        return {column.name: column.sample() for column in self.encoder.columns}


class Arrays(Tensors):
    """Inputs as the network takes them: nested lists of numbers."""

    key = "inputs"

    def examples(self, given: list[Any]) -> Tensor:
        shape = tuple(self.run.summary.shape)
        try:
            x = torch.as_tensor(given)
        except (TypeError, ValueError, RuntimeError, OverflowError):
            raise InputError(f"expected nested lists of numbers of shape {shape} each") from None
        if tuple(x.shape[1:]) != shape or x.is_complex():
            raise InputError(f"expected inputs of shape {shape} each, got {tuple(x.shape[1:])}")
        if not (x := x.float()).isfinite().all():
            raise InputError("expected finite numbers, got some that float32 cannot hold")
        return x

    def item(self) -> Json:
        nested: Json = {"type": "number"}
        for size in reversed(self.run.summary.shape):
            nested = {"type": "array", "minItems": size, "maxItems": size, "items": nested}
        return nested

    def sample(self) -> Any:
        return torch.zeros(self.run.summary.shape).tolist()


def divided(found: Sequence[Json], requests: Sequence[Any]) -> list[list[Json]]:
    """The answers by request."""
    rest = iter(found)
    return [[next(rest) for _ in range(len(request))] for request in requests]


def missing(
    number: int, others: Sequence[str], lacking: Sequence[str], names: Sequence[str]
) -> str:
    """The sentence on a row that lacks columns, which it may have under other names."""
    near = {name: found[0] for name in lacking if (found := nearest(name, others))}
    if near:
        pairs = ", ".join(f"{name!r}, but {other!r}" for name, other in near.items())
        return f"row {number} has no {pairs}; write it as in training"
    absent = ", ".join(map(repr, lacking[:MOST_NAMES]))
    return (
        f"row {number} has no {absent}; expected the columns {listed(names)}, with null for a "
        "missing value"
    )


def listed(names: Sequence[str]) -> str:
    """Names for a message, not too many of them."""
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(str(shown(name)).strip("'") for name in names[:MOST_NAMES]) + more
