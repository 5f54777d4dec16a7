"""`chainrule tune RECIPE [flags]`: search settings by cross-validation, many networks at once."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from chainrule.children import die_with_parent
from chainrule.cli.options import Output, parse, parse_recipe
from chainrule.cli.train import named_or_file
from chainrule.console.output import out, print_json, say
from chainrule.console.search import importance_table, trials_table, watch_search, with_error
from chainrule.console.tables import names_table
from chainrule.errors import InputError
from chainrule.learning.metrics import format_metric
from chainrule.registry import entries

if TYPE_CHECKING:
    from chainrule.tuning.search import Plan, Tuning

PARENT = "CHAINRULE_TUNE_PARENT"  # variable that tells a worker which process it works for

POLL = 0.1  # seconds between checks of the workers
USAGE = """usage: chainrule tune RECIPE [flags]   (RECIPE --help lists the flags)
       chainrule tune --resume FOLDER [--trials N]
"""


@dataclass(frozen=True)
class Shared(Output):
    """Flags of a new search and of a resumed one."""

    trials: int | None = None
    """Number of trials (default 24, or the whole grid); 1 cross-validates the given settings."""
    workers: int = 1
    """Number of processes that share the search."""


@dataclass(frozen=True)
class Tune(Shared):
    """Search space and method."""

    folds: int = 5
    """Number of folds of the training and validation rows; each is held out once."""
    space: tuple[str, ...] = ()
    """Settings to search, such as learning_rate=1e-4:1e-1:log hidden="64|128,64" (default: chosen
    for the recipe)."""
    metric: str = ""
    """What to optimize: loss or a metric (default: error, or rmse for regression)."""
    sampler: Literal["tpe", "random", "grid"] = "tpe"
    """tpe learns from earlier trials; grid tries all combinations of listed values."""
    pruner: Literal["median", "none"] = "median"
    """median stops a batch of points early if all of them are worse than the median so far."""
    halving: bool = False
    """Successive halving: train all points briefly, the best third three times as long, …"""
    points: int = 0
    """Points of one architecture trained at once; 0: 8, or 27 with halving."""
    study: str = ""
    """File or URL of the study's database (default: study.db in the folder)."""
    out: Path | None = None
    """The folder (default: runs/tune-RECIPE-1, -2, …); the same search in it is continued."""
    data: Path | None = None
    """Folder of the data sets (default: $CHAINRULE_DATA, else the user's cache)."""


@dataclass(frozen=True)
class Resume(Shared):
    """Continue a search."""

    resume: Annotated[Path, tyro.conf.arg(metavar="FOLDER")] = Path()
    """The folder of the search."""
    join: bool = False
    """Only work on trials; the command that started the search writes tables and pictures."""


def run(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help"):
        out.print(USAGE)
        out.print(names_table("Recipes", [(e.name, e.title) for e in entries("recipes")]))
        return 0
    from chainrule.tuning import result as results

    if arguments[0].startswith("-"):
        options = parse(Resume, arguments, "tune", "Continue a search.")
        if parent := os.environ.pop(PARENT, ""):
            die_with_parent(int(parent))
        plan, config = results.open_plan(options.resume)
        trials = config["trials"] if options.trials is None else options.trials
        data = Path(config["data"]) if config["data"] else None
        place = results.place_of(options.resume, config)
        return go(ready(plan, place, trials, data, options), options.resume, options)
    return begin(arguments)


def begin(arguments: list[str]) -> int:
    """A new search, or the same one in a folder or study that holds it."""
    entry = named_or_file("recipes", arguments[0])
    from chainrule.runs.configuration import require
    from chainrule.runs.folder import next_folder
    from chainrule.runs.options import OPTION_OF
    from chainrule.tuning import result as results
    from chainrule.tuning.search import Plan

    kind = entry.load().Recipe
    require(kind, entry.name, "tune")
    command, title = f"tune {entry.name}", f"Tune {entry.name}"
    without = tuple(OPTION_OF)
    configuration, tune = parse_recipe(kind, Tune, arguments[1:], command, title, without)
    names = ("space", "folds", "metric", "sampler", "pruner", "halving", "points")
    chosen = {name: getattr(tune, name) for name in names}
    settings = {k: v for k, v in configuration.values().items() if k not in without}
    plan = Plan(recipe=entry.reference, settings=settings, **chosen)
    beside = Path(tune.study).parent if tune.study and "://" not in tune.study else None
    searched = beside if beside and (beside / results.PLAN).exists() else None
    given = tune.out or searched
    fresh = given is None or not given.exists()
    folder = given or next_folder(f"tune-{entry.name}")
    place = results.begin(plan, folder, tune.study, tune.trials, tune.data)
    tuning = None
    try:
        tuning = ready(plan, place, tune.trials, tune.data, tune)
        return go(tuning, folder, tune)
    except InputError:
        if fresh:
            discard(folder, tuning)
        raise


def ready(
    plan: "Plan", place: str, trials: int | None, data: Path | None, options: Shared
) -> "Tuning":
    """Open the study and enqueue its trials."""
    from chainrule.tuning.database import database_errors, optuna_or_refuse
    from chainrule.tuning.search import prepare

    if options.workers < 1:
        raise InputError(f"`workers` must be at least 1, got {options.workers}")
    optuna_or_refuse()
    with database_errors(place):
        return prepare(plan, place, trials, data)


def go(tuning: "Tuning", folder: Path, options: Shared) -> int:
    """Search to the end, then print and draw the result."""
    from chainrule.runs.folder import write_json
    from chainrule.tuning import result as tuning_result
    from chainrule.tuning import study as studies
    from chainrule.tuning.database import database_errors

    plan, silent, began = tuning.plan, options.quiet or options.json, time.perf_counter()
    joins = isinstance(options, Resume) and options.join
    number = "1 trial" if tuning.trials == 1 else f"{tuning.trials} trials"
    say(f"{plan.recipe}: {number}, {plan.folds} folds  →  {folder}", silent)
    if options.workers > (rounds := -(-tuning.trials // plan.together)):
        tuning.remarks.append(
            f"{options.workers} workers share {rounds} round{'s' if rounds > 1 else ''} of "
            f"{plan.together} points; a smaller --points gives all of them work"
        )
    with database_errors(str(folder)):
        try:
            search_on(tuning, folder, options.workers, silent)
        finally:
            seconds = 0.0 if joins else studies.spend(tuning.study, time.perf_counter() - began)
        if joins:
            return 0
        result = tuning_result.summary(tuning, seconds)
    write_json(folder / "result.json", result)
    tuning_result.draw(result, tuning, folder)
    if options.json:
        print_json(result)
    elif not options.quiet:
        show(result, folder)
    return 0


def search_on(tuning: "Tuning", folder: Path, workers: int, silent: bool) -> None:
    """Search with other workers until all trials have ended; a stopped study can be resumed."""
    from chainrule.cli.progress import gentle_interrupt
    from chainrule.tuning.search import search

    def stop() -> None:
        say(f"stopped; continue with:  chainrule tune --resume {folder}")
        raise KeyboardInterrupt

    with workers_for(folder, workers - 1) as others, gentle_interrupt() as interrupted:
        steps = search(tuning)
        with closing(steps):
            for _ in watch_search(steps, tuning.metric.name, format_metric, silent):
                if interrupted:
                    steps.close()
                    stop()
        while any(other.poll() is None for other in others):
            time.sleep(POLL)
            if interrupted:
                stop()
        failed = [other.returncode for other in others if other.returncode]
    if failed:
        codes = ", ".join(map(str, failed))
        tuning.remarks.append(f"{len(failed)} of {workers} workers failed (exit code {codes})")


@contextmanager
def workers_for(folder: Path, number: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """More processes on the same study; they end with this one."""
    threads = str(max(1, (os.cpu_count() or 1) // (number + 1)))
    command = [sys.executable, "-m", "chainrule", "tune", "--resume", str(folder)]
    environment = os.environ | {"OMP_NUM_THREADS": threads, PARENT: str(os.getpid())}
    if number:
        import torch

        torch.set_num_threads(int(threads))
    started = [
        subprocess.Popen([*command, "--join", "--quiet"], env=environment) for _ in range(number)
    ]
    try:
        yield started
    finally:
        for process in started:
            if process.poll() is None:
                process.terminate()
            process.wait()


def show(result: dict[str, Any], folder: Path) -> None:
    """Print the tables and the command that trains with the best settings."""
    metric, best = result["metric"], result["best"]
    if best is None:
        out.print("no trial reached a finite value; try smaller learning rates in --space")
        return
    out.print(trials_table(result, format_metric))
    if result["importance"]:
        out.print(importance_table(result["importance"]))
    states = [row["state"] for row in result["trials"]]
    out.print(
        f"best {metric}: {with_error(metric, best, format_metric)} in {result['folds']} folds of "
        f"{result['examples']:,} rows  ({states.count('complete')} complete, "
        f"{states.count('pruned')} pruned, {result['seconds']:.1f} s)"
    )
    for remark in result["remarks"]:
        out.print(f"note: {remark}")
    out.print("train it and measure it once on the test split:", style="bold")
    out.print(f"  {result['command']}", soft_wrap=True)
    pictures = sorted(path.name for path in folder.glob("*.png"))
    out.print(f"in {folder}/:  {'  '.join(['study.db', 'result.json', *pictures])}")


def discard(folder: Path, tuning: "Tuning | None") -> None:
    """Delete the folder of a search that was refused before a trial ended."""
    from chainrule.tuning.database import database_errors
    from chainrule.tuning.study import in_state

    with database_errors(str(folder)):
        if tuning and in_state(tuning.study, "COMPLETE", "PRUNED"):
            return
    for name in ("tune.json", "study.db"):
        (folder / name).unlink(missing_ok=True)
    if not any(folder.iterdir()):
        folder.rmdir()
