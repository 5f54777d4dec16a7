"""`chainrule runs [FOLDER …]`: list run folders, or compare some of them."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import tyro

from chainrule.cli.options import parse
from chainrule.console.output import out, print_json, say
from chainrule.console.tables import comparison_table, runs_table
from chainrule.errors import InputError
from chainrule.learning.metrics import format_metric
from chainrule.runs.overview import RunSummary, differences, overview, run_folders


@dataclass(frozen=True)
class Runs:
    """Which runs, and what is said about them."""

    folders: Annotated[tuple[Path, ...], tyro.conf.Positional] = (Path("runs"),)
    """Run folders, or folders that hold some."""
    compare: bool = False
    """Print settings that differ and all metrics side by side, and draw the learning curves."""
    out: Path = Path("runs/comparison.png")
    """The picture of a comparison."""
    json: bool = False
    """Print one JSON object instead of tables."""


def run(arguments: list[str]) -> int:
    options = parse(Runs, arguments, "runs", "List run folders, or compare some of them.")
    found, broken = overview(run_folders(options.folders))
    for message in broken:
        say(f"skipped: {message}")
    if not found:
        places = ", ".join(map(str, options.folders))
        raise InputError(f"there are no readable runs in {places}; chainrule train makes some")
    if options.compare:
        compare(found, options)
    elif options.json:
        print_json({"runs": [without_history(run) for run in found]})
    else:
        out.print(runs_table([asdict(run) for run in found], format_metric))
    return 0


def compare(runs: list[RunSummary], options: Runs) -> None:
    """Differing settings and metrics as a table, the learning curves as a picture."""
    if len(runs) < 2:
        raise InputError("`compare` needs two runs or more: chainrule runs A B --compare")
    from chainrule.plots.comparison import compared_curves
    from chainrule.plots.style import save

    settings, metrics = differences(runs)
    histories = {run.name: run.history for run in runs}
    picture = save(compared_curves(histories), options.out) if any(histories.values()) else None
    if options.json:
        names = [run.name for run in runs]
        found = {"runs": names, "settings": settings, "metrics": metrics}
        print_json(found | {"picture": str(picture) if picture else None})
        return
    out.print(comparison_table([run.name for run in runs], settings, metrics, format_metric))
    if picture:
        say(f"drawn: {picture}")


def without_history(run: RunSummary) -> dict[str, object]:
    """A run as one JSON object; its epochs are in the folder."""
    return {name: value for name, value in asdict(run).items() if name != "history"}
