"""All run folders at a glance, watched: those that a shell trains too."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from chainrule.learning.metrics import format_metric
from chainrule.runs.folder import CONFIG, METRICS, RESULT
from chainrule.runs.lock import LOCK, busy
from chainrule.runs.overview import RunSummary, differences, overview, run_folders
from chainrule.studio import place
from chainrule.studio.activity import Activity, Json, View, read, rounded

PERIOD = 0.5  # seconds between two looks at the folders
WATCHED = (CONFIG, METRICS, RESULT, LOCK)


@dataclass(frozen=True)
class Settings:
    """There is nothing to choose."""


def run(settings: Json) -> Activity:
    read(Settings, settings)
    seen: object = None
    view = View(dict)
    while True:
        found = stamp(place.root())
        if found != seen:
            seen, view = found, View(everything)
        yield view
        time.sleep(PERIOD)


def stamp(root: Path) -> list[tuple[str, tuple[float, ...]]]:
    """What changes whenever a run does."""
    return [(folder.name, changed(folder)) for folder in folders(root)]


def changed(folder: Path) -> tuple[float, ...]:
    """When each watched file was last written; 0 where it is missing."""
    times = []
    for name in WATCHED:
        try:
            times.append((folder / name).stat().st_mtime)
        except OSError:
            times.append(0.0)
    return (*times, float(busy(folder)))


def folders(root: Path) -> list[Path]:
    return run_folders([root]) if root.is_dir() else []


def everything() -> Json:
    found, broken = overview(folders(place.root()))
    return {"runs": [brief(run) for run in reversed(found)], "broken": broken}


def brief(run: RunSummary) -> Json:
    """One row of the table."""
    metric = run.metric.split(" ", 1)[-1]
    return {
        "name": Path(run.name).name,
        "recipe": run.recipe,
        "state": "training" if busy(Path(run.name)) else run.state,
        "finished": bool(run.metrics),
        "metric": run.metric,
        "value": "" if run.value is None else format_metric(metric, run.value),
        "seconds": rounded(run.seconds),
        "date": run.date,
    }


def compared(runs: Sequence[RunSummary]) -> Json:
    """Settings in which runs differ, and all final metrics."""
    settings, metrics = differences(runs)
    return {
        "names": [Path(run.name).name for run in runs],
        "settings": {name: list(map(str, values)) for name, values in settings.items()},
        "metrics": {
            name: ["" if v is None else format_metric(name.split(" ", 1)[-1], v) for v in values]
            for name, values in metrics.items()
        },
    }
