"""`chainrule train RECIPE [flags]`: train it and leave a run folder."""

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from chainrule.cli.options import Parallel, parse_recipe
from chainrule.console.output import out, say
from chainrule.console.tables import names_table
from chainrule.registry import Entry, entries, entry_from_file, find


@dataclass(frozen=True)
class Train(Parallel):
    """The run folder and its output."""

    out: Path | None = None
    """The run folder (default: runs/RECIPE-1, -2, …)."""
    log: tuple[Literal["csv", "tensorboard", "mlflow", "wandb"], ...] = ()
    """Also log every epoch, texts and pictures for another program; several may be named."""
    record: bool = False
    """Add the result to benchmarks/results of this checkout."""


def run(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help"):
        out.print("usage: chainrule train RECIPE [flags]   (RECIPE --help lists the flags)")
        out.print("       chainrule train ./my_recipe.py [flags]\n")
        out.print(names_table("Recipes", [(e.name, e.title) for e in entries("recipes")]))
        return 0
    entry = named_or_file("recipes", arguments[0])
    from chainrule.cli.processes import chosen, in_processes, is_first
    from chainrule.cli.progress import follow
    from chainrule.runs import record as recording
    from chainrule.runs.configuration import defaults
    from chainrule.runs.processes import create

    kind = entry.load().Recipe
    command = f"train {arguments[0]}"
    configuration, place = parse_recipe(kind, Train, arguments[1:], command, entry.title)
    if place.record:
        recording.check_folder()
    silent = place.quiet or place.json or not is_first()
    several = chosen(place, configuration.options.processes)
    where = (place.out, place.data, place.device, place.log)
    started = create(entry, configuration, several, *where)
    say(f"{entry.title}  →  {started.folder}", silent)
    if several.launched(configuration):
        if code := in_processes(started, place, several):
            return code
    else:
        follow(started, place)
    if place.record and is_first():
        words = shlex.join(["chainrule", "train", *repeatable(arguments)])
        path = recording.record(started.result, words, defaults(kind))
        say(f"recorded in {path}", silent)
    return 0


def named_or_file(kind: str, given: str) -> Entry:
    """An entry of ours by name, or a user's own file with the same contract."""
    return entry_from_file(kind, Path(given)) if given.endswith(".py") else find(kind, given)


def repeatable(arguments: list[str]) -> list[str]:
    """The command as anyone can run it: without --record and without absolute folders."""
    kept = [word for word in arguments if word != "--record"]
    for flag in ("--out", "--data"):
        while flag in kept and Path(kept[kept.index(flag) + 1]).is_absolute():
            del kept[kept.index(flag) : kept.index(flag) + 2]
    return kept
