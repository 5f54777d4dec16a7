"""`chainrule train RECIPE [flags]`: train it and leave a run folder."""

import shlex
from dataclasses import dataclass, make_dataclass
from pathlib import Path

from chainrule.cli.options import Place, parse
from chainrule.console.output import out, say
from chainrule.console.tables import names_table
from chainrule.registry import entries, find


@dataclass(frozen=True)
class Train(Place):
    """Where the run lives and what is printed."""

    out: Path | None = None
    """The run folder (else runs/RECIPE-1, -2, …)."""
    record: bool = False
    """Add the result to benchmarks/results of this checkout."""


def run(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help"):
        out.print("usage: chainrule train RECIPE [flags]   (RECIPE --help lists the flags)\n")
        out.print(names_table("Recipes", [(e.name, e.title) for e in entries("recipes")]))
        return 0
    entry = find("recipes", arguments[0])
    from chainrule.cli.progress import follow
    from chainrule.runs import record as recording
    from chainrule.runs.run import begin, discard, next_folder

    form = make_dataclass("form", [("settings", entry.load().Recipe), ("run", Train)])
    filled = parse(form, arguments[1:], f"train {entry.name}", entry.title)
    recipe, place = filled.settings, filled.run
    if place.record:
        recording.check_folder()
    folder = place.out or next_folder(entry.name)
    begin(entry.name, recipe, folder, place.data, place.device)
    say(f"{entry.title}  →  {folder}", place.quiet or place.json)
    try:
        result = follow(folder, place)
    except Exception:
        discard(folder)
        raise
    if place.record:
        path = recording.record(result, shlex.join(["chainrule", "train", *repeatable(arguments)]))
        say(f"recorded in {path}", place.quiet or place.json)
    return 0


def repeatable(arguments: list[str]) -> list[str]:
    """The command as anybody may give it: without --record and without folders of this machine."""
    kept = [word for word in arguments if word != "--record"]
    for flag in ("--out", "--data"):
        while flag in kept and Path(kept[kept.index(flag) + 1]).is_absolute():
            del kept[kept.index(flag) : kept.index(flag) + 2]
    return kept
