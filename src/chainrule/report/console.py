"""What a person sees in the terminal: progress while training, sentences, tables."""

import json
import time
from collections.abc import Iterator, Mapping
from typing import Protocol, TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

REDRAWS = 5  # a second, at most
LINE_EVERY = 1.0  # seconds between two plain lines, where there is no terminal

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)


class Step(Protocol):
    """What the bar needs of a report of progress."""

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


def watch(steps: Iterator[S], quiet: bool = False) -> Iterator[S]:
    """Pass the steps on while showing them: a bar on a terminal, plain lines elsewhere."""
    if quiet:
        return steps
    return _bar(steps) if err.is_terminal else _lines(steps)


def _bar(steps: Iterator[S]) -> Iterator[S]:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=err, refresh_per_second=REDRAWS, transient=True) as bar:
        task = bar.add_task("reading data", total=1.0)
        figures = ""
        for step in steps:
            figures = validation(step.record) if step.record else figures
            words = f"epoch {step.epoch}/{step.epochs}  loss {step.loss:.4f}{figures}"
            bar.update(task, completed=step.fraction, description=words)
            yield step


def _lines(steps: Iterator[S]) -> Iterator[S]:
    began = written = time.perf_counter()
    for step in steps:
        now = time.perf_counter()
        last = step.record is not None and (step.epoch == step.epochs or step.stopped)
        if step.record and (now - written >= LINE_EVERY or last):
            written = now
            words = f"epoch {step.epoch}/{step.epochs}  loss {step.loss:.4f}"
            err.print(f"{words}{validation(step.record)}  {now - began:.0f} s")
        yield step


def validation(record: Mapping[str, int | float]) -> str:
    """The first metric of the validation split, or its loss."""
    names = [name for name in record if name.startswith("validation_")]
    if not names:
        return ""
    name = next((n for n in names if n != "validation_loss"), names[0])
    return f"  {name.replace('_', ' ')} {figure(name, record[name])}"


def figure(name: str, value: float) -> str:
    """A number as people write it: errors and accuracies in per cent."""
    if name.endswith(("error", "accuracy")):
        return f"{100 * value:.2f} %"
    return f"{value:.4g}"


def say(text: str, quiet: bool = False) -> None:
    """One line for a person; never mixed into what a program reads."""
    if not quiet:
        err.print(text, soft_wrap=True)


def print_json(value: object) -> None:
    """One JSON object on standard output."""
    print(json.dumps(value, indent=2, ensure_ascii=False))
