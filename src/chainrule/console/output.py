"""Output in the terminal: progress bars, sentences, JSON and code."""

import json
import math
import re
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol, TypeVar, runtime_checkable

from rich.console import Console, ConsoleOptions
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

REDRAWS = 5  # a second, at most
LINE_EVERY = 1.0  # seconds between two plain lines, where there is no terminal
NEEDED = 80  # columns of a table
Format = Callable[[str, float | None], str]


class Page(Console):
    """As wide as the tables need: a narrower terminal wraps their lines, and nothing is cut off."""

    @property
    def options(self) -> ConsoleOptions:
        return super().options.update(width=max(self.width, NEEDED))


out = Page(highlight=False, markup=False)
err = Console(stderr=True, highlight=False, markup=False)


@runtime_checkable
class Step(Protocol):
    """What the bar needs to know about progress."""

    @property
    def epoch(self) -> int: ...
    @property
    def epochs(self) -> int: ...
    @property
    def loss(self) -> float: ...
    @property
    def fraction(self) -> float: ...
    @property
    def record(self) -> Mapping[str, int | float] | None: ...
    @property
    def stopped(self) -> str: ...


S = TypeVar("S", bound=Step)
T = TypeVar("T")


def plain(name: str, value: float | None) -> str:
    """Four digits, for a metric of unknown kind."""
    return number(value)


def shown(progress: bool | None) -> bool:
    """Whether progress is shown: as asked, or where somebody looks."""
    return sys.stderr.isatty() or "ipykernel" in sys.modules if progress is None else progress


def watch(steps: Iterator[S], quiet: bool = False, show: Format = plain) -> Iterator[S]:
    """Pass the steps on while showing them: a bar on a terminal, plain lines elsewhere.

    Args:
        steps: reports of progress.
        quiet: show nothing.
        show: (name of a metric, its value) ↦ text.
    """
    if quiet:
        return steps
    return _bar(steps, show) if err.is_interactive else _lines(steps, show)


def _bar(steps: Iterator[S], show: Format) -> Iterator[S]:
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=None),
        TimeRemainingColumn(compact=True),
        TextColumn("left"),
    )
    with Progress(*columns, console=err, refresh_per_second=REDRAWS, transient=True) as bar:
        task = bar.add_task("reading data", total=None)
        measured = ""
        for step in steps:
            words = epoch_line(step, show, 3)
            if step.record:
                measured = words.partition("  validation ")[2]
            elif measured:
                words = f"{words}  validation {measured}"
            bar.update(task, total=1.0, completed=step.fraction, description=words)
            if step.stopped:
                bar.update(task, total=None, description="measuring and drawing")
            yield step


def _lines(steps: Iterator[S], show: Format) -> Iterator[S]:
    written = time.perf_counter()
    for step in steps:
        now = time.perf_counter()
        if step.record and step.epochs > 1 and (now - written >= LINE_EVERY or step.stopped):
            written = now
            err.print(epoch_line(step, show, 4))
        yield step


def counted(steps: Iterator[T], total: int, doing: str, quiet: bool = False) -> Iterator[T]:
    """Pass the steps on while counting them: a bar on a terminal, occasional lines elsewhere."""
    if not quiet and err.is_interactive:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
        )
        with Progress(*columns, console=err, refresh_per_second=REDRAWS, transient=True) as bar:
            yield from bar.track(steps, total, description=doing)
        return
    written = time.perf_counter()
    for number, step in enumerate(steps, 1):
        if not quiet and time.perf_counter() - written >= LINE_EVERY:
            written = time.perf_counter()
            err.print(f"{doing} {number}/{total}")
        yield step


def epoch_line(step: Step, show: Format, digits: int) -> str:
    """The progress of a run: its training loss and the first metric of the validation split."""
    usual = not 1e4 <= abs(step.loss) < math.inf
    loss = f"{step.loss:.{digits}f}" if usual else number(step.loss)
    words = f"epoch {step.epoch}/{step.epochs}  training loss {loss}"
    record = step.record or {}
    names = [name for name in record if name.startswith("validation_")]
    if not names:
        return words
    name = next((n for n in names if n != "validation_loss"), names[0])
    return f"{words}  validation {name.removeprefix('validation_')} {show(name, record[name])}"


def number(value: float | None) -> str:
    """Four digits, thousands in groups, or a dash for none."""
    if value is None or math.isnan(value):
        return "–"
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:.4g}"


def in_steps(value: float, unit: float) -> str:
    """A number as people write it, to a hundredth of `unit`: 1,700,000,082.9."""
    places = 2 - math.floor(math.log10(unit)) if unit > 0 else 4
    if abs(value) >= 1e16 or places > 12:
        return f"{value:.6g}"
    return f"{round(value, places):,.{max(0, places)}f}"


def say(text: str, quiet: bool = False) -> None:
    """Print a line on the error stream, apart from output that a program may read."""
    if not quiet:
        err.print(text, soft_wrap=True)


def flowing(text: str, width: int) -> str:
    """Wrap paragraphs at the width; blocks with indented lines, such as equations, stay as is."""
    blocks = text.split("\n\n")
    return "\n\n".join(
        block if re.search(r"^\s", block, re.MULTILINE) else textwrap.fill(block, width)
        for block in blocks
    )


def print_code(code: str, path: str) -> None:
    """Print a Python file, highlighted on a terminal and plain elsewhere."""
    if not out.is_terminal:
        print(code, end="")
        return
    from rich.syntax import Syntax

    out.print(path, style="bold")
    out.print(Syntax(code, "python", theme="ansi_dark", background_color="default"))


def to_json(value: object, indent: int | None = 2, ascii_only: bool = False) -> str:
    """Valid JSON: numbers that are not finite become null."""
    return json.dumps(
        finite(value), indent=indent, ensure_ascii=ascii_only, allow_nan=False, default=str
    )


def finite(value: Any) -> Any:
    """The value with null for every number that JSON cannot write."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [finite(part) for part in value]
    return value


def print_json(value: object) -> None:
    """One JSON object on standard output."""
    print(to_json(value, ascii_only=not out.encoding.startswith("utf")))
