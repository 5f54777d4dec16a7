"""What a row of the suite is: `benchmarks/rows/NAME.py` defines a docstring and `ROW`.

A race compares contenders on the same work; the first of them is ours, and ratios are to it. A
growth times one thing by its size. Each contender is built in a process of its own, which knows it
by name; so a row imports its peers inside the functions that need them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

Sizes = Mapping[str, Any]
TINY = "tiny"  # the case that only shows that everything runs


class Work(NamedTuple):
    """What a unit has to do at least, whoever does it."""

    flops: float = 0.0
    """Multiplications and additions."""
    bytes: float = 0.0
    """Bytes that must come from or go to memory."""
    items: float = 0.0
    """Examples, tokens or steps in a unit, for a rate."""
    of: str = ""
    """What the items are."""


@dataclass(frozen=True)
class Ready:
    """A contender whose data is in memory and whose model is built."""

    unit: Callable[[], float | None]
    """One timed unit; it may return its seconds, where something around it does not count."""
    quality: Callable[[int], float] | None = None
    """The figure of quality, given a seed; it trains a model of its own."""
    parameters: int | None = None
    """Trained numbers, where the contender can count them; all must agree."""
    trial: Callable[[], object] | None = None
    """A step by which one thread is compared with all, when nobody else starts or runs."""


@dataclass(frozen=True)
class Contender:
    """One way to do the work."""

    build: Callable[..., Ready]
    """Takes the sizes of a case as keywords."""
    needs: tuple[str, ...] = ()
    """Packages without which it is skipped."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables that its process starts with."""
    precision: str = "float32"
    """Of its products: which peak it is compared with."""
    cases: tuple[str, ...] = ()
    """The cases it takes part in; empty: all."""


@dataclass(frozen=True)
class Quality:
    """What must agree between contenders for their times to be comparable."""

    what: str
    tolerance: float
    """Largest difference from ours: a share of ours, or absolute."""
    absolute: bool = False
    seeds: int = 1

    def agrees(self, value: float, ours: float) -> bool:
        return abs(value - ours) <= self.tolerance * (1.0 if self.absolute else abs(ours))


@dataclass(frozen=True)
class Race:
    """Contenders that do the same work."""

    unit: str
    """What is timed, such as `an epoch of 60,000 images`."""
    contenders: Mapping[str, Contender]
    """By name, ours first."""
    tiny: Sizes
    """Sizes for a test: everything runs, nothing takes time."""
    cases: Mapping[str, Sizes]
    """Sizes by the name of the case; a single case may have an empty name."""
    quality: Quality | None = None
    work: Callable[..., Work] | None = None
    """Of a unit, given the sizes."""
    starts_processes: bool = False
    """Whether a unit runs the library in processes of its own, so that all of it counts."""


@dataclass(frozen=True)
class Line:
    """One thing whose cost grows with its size."""

    build: Callable[[int], Callable[[], object]]
    """The unit of one size."""
    sizes: Sequence[int]
    """From small to large."""
    expected: float
    """The exponent of time that the algorithm promises."""
    expected_memory: float | None = None
    needs: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Growth:
    """Lines over one axis, such as the length of a sequence."""

    axis: str
    lines: Mapping[str, Line]
    tiny: Sequence[int]
    """Two sizes for a test."""
    starts_processes: bool = False

    def shrunk(self) -> "Growth":
        """The same lines at the sizes for a test."""
        lines = {name: replace(line, sizes=self.tiny) for name, line in self.lines.items()}
        return replace(self, lines=lines)


def sizes_of(row: Race, case: str) -> Sizes:
    """Of a case; `tiny` is one in every row."""
    return row.tiny if case == TINY else row.cases[case]


def ours(row: Race) -> str:
    """The contender that the others are compared with."""
    return next(iter(row.contenders))
