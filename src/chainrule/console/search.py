"""Terminal output of a search: a progress bar, then tables of at most 80 columns."""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar, runtime_checkable

from rich import box
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from chainrule.console.output import LINE_EVERY, REDRAWS, Format, err

BEST = 8  # trials in the table


@runtime_checkable
class Step(Protocol):
    """What the bar needs to know about progress."""

    @property
    def done(self) -> int: ...
    @property
    def trials(self) -> int: ...
    @property
    def fraction(self) -> float: ...
    @property
    def best(self) -> float | None: ...


S = TypeVar("S", bound=Step)


def watch_search(steps: Iterator[S], metric: str, show: Format, quiet: bool = False) -> Iterator[S]:
    """Pass the steps on while showing them: a bar on a terminal, plain lines elsewhere."""
    if quiet:
        return steps
    return _bar(steps, metric, show) if err.is_interactive else _lines(steps, metric, show)


def _bar(steps: Iterator[S], metric: str, show: Format) -> Iterator[S]:
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=None),
        TimeRemainingColumn(compact=True),
        TextColumn("left"),
    )
    with Progress(*columns, console=err, refresh_per_second=REDRAWS, transient=True) as bar:
        task = bar.add_task("searching", total=1.0)
        for step in steps:
            bar.update(task, completed=step.fraction, description=_words(step, metric, show))
            yield step


def _lines(steps: Iterator[S], metric: str, show: Format) -> Iterator[S]:
    shown, written = -1, time.perf_counter()
    for step in steps:
        if step.done != shown and time.perf_counter() - written >= LINE_EVERY:
            shown, written = step.done, time.perf_counter()
            err.print(_words(step, metric, show))
        yield step


def _words(step: Step, metric: str, show: Format) -> str:
    best = "" if step.best is None else f"  best {metric} {show(metric, step.best)}"
    return f"trial {step.done}/{step.trials}{best}"


def trials_table(result: Mapping[str, Any], show: Format) -> Table:
    """The best trials, each with its settings."""
    sign = 1 if result["better"] == "smaller" else -1
    ended = [row for row in result["trials"] if row["state"] == "complete"]
    ended.sort(key=lambda row: (sign * row["value"], row["trial"]))
    metric = result["metric"]
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    table.add_column("trial", justify="right")
    table.add_column(f"{result['folds']}-fold {metric}", justify="right", no_wrap=True)
    for name in ended[0]["settings"] if ended else ():
        table.add_column(name.replace("_", " "), justify="right")
    for place, row in enumerate(ended[:BEST]):
        cells = [
            str(row["trial"]),
            with_error(metric, row, show),
            *map(shown, row["settings"].values()),
        ]
        table.add_row(*cells, style="bold" if place == 0 else "")
    return table


def with_error(metric: str, row: Mapping[str, Any], show: Format) -> str:
    """The mean over the folds ± its standard error, with one unit."""
    value, error = show(metric, row["value"]), show(metric, row["standard_error"])
    return f"{value.removesuffix(' %')} ± {error}"


def importance_table(importance: Mapping[str, float]) -> Table:
    """The settings by importance."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    table.add_column("setting")
    table.add_column("importance", justify="right")
    for name, share in importance.items():
        table.add_row(Text(name.replace("_", " ")), f"{100 * share:.0f} %")
    return table


def shown(value: Any) -> str:
    """A setting as it is typed."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        parts = [shown(part) for part in value]
        return parts[0] if len(set(parts)) == 1 and "." in parts[0] else " ".join(parts)
    return f"{value:.3g}" if isinstance(value, float) else str(value)
