"""Run folders at a glance: what they are, how far they came, and where two of them differ."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from chainrule.errors import InputError
from chainrule.runs.folder import CONFIG, RESULT, Json, read_json, records
from chainrule.runs.predictions import SPLITS
from chainrule.runs.schema import Config, Result
from chainrule.training import Record


@dataclass(frozen=True)
class RunSummary:
    """What a run folder holds, read from its files alone.

    Args:
        name: the folder.
        recipe: as `chainrule train` takes it.
        state: `finished`, `epoch 3 of 40`, or `not started`.
        metric: the name of the metric that sums the run up, such as `test error`.
        value: of that metric.
        seconds: of training.
        date: when it was begun.
        settings: every setting by name.
        metrics: by split, of a finished run.
        history: one record per epoch.
    """

    name: str
    recipe: str
    state: str
    metric: str
    value: float | None
    seconds: float
    date: str
    settings: Json
    metrics: dict[str, dict[str, float]]
    history: list[Record]


def summarize(folder: Path) -> RunSummary:
    """What a run folder holds; refuses a folder that is broken."""
    config = read_json(folder / CONFIG, Config)
    finished = (folder / RESULT).is_file()
    result: Json = dict(read_json(folder / RESULT, Result)) if finished else {}
    history, settings = records(folder), config["settings"]
    metric, value = key_metric(result, history)
    return RunSummary(
        str(folder),
        Path(config["recipe"]).stem,
        "finished" if finished else progress_of(history, settings),
        metric,
        value,
        result["seconds"] if finished else sum((r.get("seconds", 0.0) for r in history), 0.0),
        begun(folder),
        settings,
        result["metrics"] if finished else {},
        history,
    )


def progress_of(history: Sequence[Record], settings: Json) -> str:
    if not history:
        return "not started"
    whole = f" of {settings['epochs']}" if "epochs" in settings else ""
    return f"epoch {history[-1]['epoch']}{whole}"


def key_metric(result: Json, history: Sequence[Record]) -> tuple[str, float | None]:
    """The published metric or the first after the loss; before the end that of the last epoch."""
    if result:
        metrics = result["metrics"]
        all_names = {
            f"{s} {name}": metrics[s][name] for s in reversed(SPLITS) for name in metrics.get(s, {})
        }
        published = [p["metric"] for p in result["published"]]
        others = sorted(all_names, key=lambda name: name.endswith(" loss"))
        name = next((n for n in [*published, *others] if n in all_names), "")
        return name, all_names.get(name)
    last = history[-1] if history else {}
    names = [name for name in last if name.startswith("validation_")]
    name = next((n for n in names if n != "validation_loss"), names[0] if names else "")
    return name.replace("_", " ", 1), last.get(name)


def begun(folder: Path) -> str:
    """When the run was begun, to the minute."""
    moment = datetime.fromtimestamp((folder / CONFIG).stat().st_mtime)
    return moment.isoformat(" ", "minutes")


def run_folders(given: Iterable[Path]) -> list[Path]:
    """The run folders given, and those directly inside other folders."""
    found: list[Path] = []
    for folder in given:
        if not folder.is_dir():
            raise InputError(f"there is no folder {folder}; chainrule train makes runs")
        inside = sorted(path.parent for path in folder.glob(f"*/{CONFIG}"))
        found += [folder] if (folder / CONFIG).is_file() else inside
    return found


def overview(folders: Iterable[Path]) -> tuple[list[RunSummary], list[str]]:
    """The runs by date, and what is wrong with the folders that are left out."""
    found, broken = [], []
    for folder in folders:
        try:
            found.append(summarize(folder))
        except InputError as error:
            broken.append(str(error))
    return sorted(found, key=lambda run: (run.date, run.name)), broken


def differences(runs: Sequence[RunSummary]) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
    """Settings in which the runs differ, and all their final metrics, one value for each run."""
    names = dict.fromkeys(name for run in runs for name in run.settings)
    rows = {name: [run.settings.get(name) for run in runs] for name in names}
    settings = {k: values for k, values in rows.items() if any(v != values[0] for v in values)}
    if len({run.recipe for run in runs}) > 1:
        settings = {"recipe": [run.recipe for run in runs], **settings}
    each = [
        {
            f"{split} {name}": value
            for split in run.metrics
            for name, value in run.metrics[split].items()
        }
        for run in runs
    ]
    named = dict.fromkeys(name for metrics in each for name in metrics)
    return settings, {name: [metrics.get(name) for metrics in each] for name in named}
