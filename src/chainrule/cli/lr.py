"""`chainrule lr RECIPE [flags]`: try all learning rates once and draw the curve."""

from dataclasses import dataclass, make_dataclass
from pathlib import Path
from typing import Any

from chainrule.cli.options import Output, parse
from chainrule.console.output import figure, out, print_json, say
from chainrule.console.tables import names_table
from chainrule.errors import InputError
from chainrule.registry import entries, find


@dataclass(frozen=True)
class Search(Output):
    """Which rates to try."""

    lowest: float = 1e-6
    """First rate."""
    highest: float = 10.0
    """Last rate."""
    steps: int = 200
    """Rates tried, one step of training each."""
    data: Path | None = None
    """Folder of the data sets (else $CHAINRULE_DATA, else the user's cache)."""
    out: Path = Path("runs/lr")
    """Folder for the picture."""


def run(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help"):
        out.print("usage: chainrule lr RECIPE [flags]   (RECIPE --help lists the flags)\n")
        out.print(names_table("Recipes", [(e.name, e.title) for e in entries("recipes")]))
        return 0
    entry = find("recipes", arguments[0])
    from chainrule.plots.style import save
    from chainrule.runs.learning_rates import rates_of, rates_picture
    from chainrule.runs.recipe import Trained

    form = make_dataclass("form", [("settings", entry.load().Recipe), ("search", Search)])
    filled: Any = parse(form, arguments[1:], f"lr {entry.name}", f"Learning rates for {entry.name}")
    search: Search = filled.search
    if not isinstance(filled.settings, Trained):
        raise InputError(f"{entry.name} does not learn by gradients, so it has no rate")
    trial = rates_of(filled.settings, search.data, search.lowest, search.highest, search.steps)
    path = save(rates_picture(trial, entry.name), search.out / f"{entry.name}.png")
    if search.json:
        print_json(trial._asdict() | {"picture": str(path)})
    elif not search.quiet:
        out.print(f"try --learning-rate {figure('', trial.suggestion)}")
        say(f"drawn: {path}")
    return 0
