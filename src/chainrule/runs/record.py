"""Recorded results: benchmarks/results/RECIPE.json, and the table of results made from them.

A file is a list of runs, each with its command, date, settings and metrics. A run with the same
settings replaces the older one, and all runs of a file differ in nothing but the seed, so a mean is
always over seeds: recording other settings starts the file anew. A setting that came after a run
has its default in it.
"""

import json
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from chainrule.console.output import to_json
from chainrule.errors import InputError
from chainrule.learning.metrics import format_metric
from chainrule.training.files import replace

FOLDER = Path("benchmarks/results")
BESIDE = ("auc", "exact_match", "perplexity")  # told with whatever is wanted
ROUNDING = 1e-6  # share of a mean below which a spread is that of the sums' order
MOST_COMPARED = 8  # a recipe that compares more has a table of its own
KEPT = (
    "seed",
    "epochs",
    "stopped",
    "metrics",
    "compared",
    "parameters",
    "seconds",
    "settings",
    "versions",
)


def check_folder() -> None:
    """Recording belongs to a checkout of the project."""
    if not FOLDER.is_dir():
        raise InputError(
            f"`record` writes to {FOLDER}/, which is not here; run it in the root of a checkout"
        )


def record(result: dict[str, Any], command: str, defaults: Mapping[str, Any] | None = None) -> Path:
    """Add a finished run to its recipe's file.

    Args:
        result: of the run.
        command: that anyone can run.
        defaults: of the recipe's settings.
    """
    result = json.loads(to_json(result | {"settings": without_folder(result["settings"])}))
    path = FOLDER / f"{Path(result['recipe']).stem.replace('_', '-')}.json"
    usual = json.loads(to_json(dict(defaults or {})))
    wanted = usual | but_seed(result["settings"])
    same = [run for run in load(path) if usual | but_seed(run["settings"]) == wanted]
    runs = [run for run in same if run["seed"] != result["seed"]]
    runs.append({"command": command, "date": str(date.today())} | {k: result[k] for k in KEPT})
    runs.sort(key=lambda run: run["seed"])
    text = json.dumps(
        {"published": result["published"], "runs": runs}, indent=1, ensure_ascii=False
    )
    replace(path, (text + "\n").encode())
    return path


def without_folder(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings with paths as seen from the checkout, wherever it lies."""
    here = f"{Path.cwd()}/"
    return {k: v.removeprefix(here) if isinstance(v, str) else v for k, v in settings.items()}


def but_seed(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings that all runs of a file share."""
    return {name: value for name, value in settings.items() if name != "seed"}


def load(path: Path) -> list[dict[str, Any]]:
    """The runs recorded so far."""
    return json.loads(path.read_text("utf-8"))["runs"] if path.exists() else []


def markdown(folder: Path = FOLDER) -> str:
    """The table of results: mean ± standard deviation over the seeds, beside what was published."""
    lines = ["| recipe | here | published | seeds | time |", "|---|---|---|---|---|"]
    for path in sorted(folder.glob("*.json")):
        content = json.loads(path.read_text("utf-8"))
        lines += rows(path.stem, content["runs"], content["published"])
    return "\n".join(lines) + "\n"


def rows(name: str, runs: list[dict[str, Any]], published: list[dict[str, Any]]) -> list[str]:
    """The recipe's own row, and one for every other method measured beside it."""
    metric = published[0]["metric"] if published else headline(runs[0])
    claims = "; ".join(
        f"{format_metric(p['metric'], p['value'])} ({p['source']})" for p in published
    )
    seconds = mean(run["seconds"] for run in runs)
    own = summary([run["metrics"] for run in runs], metric)
    table = [f"| `{name}` | {own} | {claims or '–'} | {len(runs)} | {brief(seconds)} s |"]
    others = runs[0]["compared"]
    for other in others if len(others) <= MOST_COMPARED else ():
        found = summary([run["compared"][other] for run in runs], metric)
        table.append(f"| – {other} | {found} | – | {len(runs)} | |")
    return table


def brief(seconds: float) -> str:
    return f"{seconds:.0f}" if seconds >= 10 else f"{seconds:.2g}"


def headline(run: dict[str, Any]) -> str:
    """The metric to show where nothing was published: the first after the loss."""
    split = "test" if "test" in run["metrics"] else next(iter(run["metrics"]))
    names = [name for name in run["metrics"][split] if name != "loss"]
    return f"{split} {names[0]}"


def summary(metrics: list[dict[str, dict[str, float]]], wanted: str) -> str:
    """The wanted figure as `test error 1.63 %`, and those told beside it; else all there are."""
    split, _, name = wanted.partition(" ")
    present = metrics[0].get(split, {})
    names = {f"{split} {n}": n for n in (name, *BESIDE) if n in present} or {n: n for n in present}
    found = {shown: over_seeds(n, [m[split][n] for m in metrics]) for shown, n in names.items()}
    return ", ".join(f"{shown} {figure}" for shown, figure in found.items())


def over_seeds(name: str, values: list[float | None]) -> str:
    """`1.63 ± 0.05 %`: the mean and the standard deviation; a single seed has none."""
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return "–"
    middle = format_metric(name, mean(known))
    if len(known) == 1:
        return middle
    spread = stdev(known)
    if spread < ROUNDING * abs(mean(known)):
        spread = 0.0
    if middle.endswith(" %"):
        return f"{middle.removesuffix(' %')} ± {100 * spread:.2f} %"
    return f"{middle} ± {spread:.2g}"
