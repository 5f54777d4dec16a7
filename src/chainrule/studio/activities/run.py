"""One run or several, watched: curves as they grow, settings, metrics, pictures, differences.

A run that a shell trains can be stopped: its process is asked to, and saves first.
"""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from chainrule.errors import InputError
from chainrule.learning.metrics import format_metric
from chainrule.registry import unknown
from chainrule.runs.interrupt import interrupt
from chainrule.runs.overview import RunSummary, summarize
from chainrule.studio.activities.runs import PERIOD, brief, changed, compared
from chainrule.studio.activity import Activity, Json, Range, View, read, rounded
from chainrule.studio.place import run_folder

TEXT = 4000  # characters of a text file that are shown
SHOWN = (".png", ".svg")


@dataclass(frozen=True)
class Settings:
    """Which runs, by their names."""

    names: Annotated[tuple[str, ...], Range(1, 8)]


@dataclass(frozen=True)
class Stop:
    """The only message: which of the runs to stop."""

    stop: str


def run(settings: Json) -> Activity:
    found = {name: run_folder(name) for name in read(Settings, settings).names}
    seen: object = None
    view, notice = View(dict), ""
    while True:
        state = notice, [changed(folder) for folder in found.values()]
        if state != seen:
            seen = state
            view = View(lambda now=notice: details([*found.values()]) | {"notice": now})  # type: ignore[misc]
        message = yield view
        if message is not None:
            notice = stopped(found, read(Stop, message).stop)
        else:
            time.sleep(PERIOD)


def stopped(folders: dict[str, Path], name: str) -> str:
    """Ask the process that trains the run to stop; what came of it, in words."""
    if name not in folders:
        raise InputError(unknown("run", name[:80], list(folders)))
    try:
        interrupt(folders[name])
    except InputError as error:
        return str(error)
    return f"{name} was asked to stop; it saves a checkpoint first"


def details(folders: list[Path]) -> Json:
    summaries = [summarize(folder) for folder in folders]
    shown = [described(summary, folder) for summary, folder in zip(summaries, folders, strict=True)]
    return {"runs": shown, "comparison": compared(summaries) if len(summaries) > 1 else None}


def described(summary: RunSummary, folder: Path) -> Json:
    return brief(summary) | {
        "settings": {name: str(value) for name, value in summary.settings.items()},
        "metrics": {
            split: {name: format_metric(name, value) for name, value in metrics.items()}
            for split, metrics in summary.metrics.items()
        },
        "curves": curves(summary),
        "pictures": sorted(path.name for path in folder.iterdir() if path.suffix in SHOWN),
        "texts": {path.name: beginning(path) for path in sorted(folder.glob("*.txt"))},
    }


def curves(summary: RunSummary) -> Json:
    """Each recorded metric by epoch."""
    names = dict.fromkeys(name for record in summary.history for name in record)
    return {
        name: rounded([number(record.get(name)) for record in summary.history], 5)
        for name in names
        if name != "seconds"
    }


def number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else float("nan")


def beginning(path: Path) -> str:
    try:
        with path.open(encoding="utf-8") as file:
            return file.read(TEXT)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {path.name}: {error}") from None
