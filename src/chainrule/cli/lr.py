"""`chainrule lr RECIPE [flags]`: find a learning rate by trying many, one step each."""

from dataclasses import dataclass
from pathlib import Path

from chainrule.cli.options import Output, parse_recipe
from chainrule.cli.train import named_or_file
from chainrule.console.output import number, out, print_json, say
from chainrule.console.tables import names_table
from chainrule.registry import entries
from chainrule.runs.options import OPTION_OF


@dataclass(frozen=True)
class Search(Output):
    """The range of rates."""

    lowest: float = 1e-6
    """First rate."""
    highest: float = 10.0
    """Last rate."""
    steps: int = 200
    """Number of rates, with one training step each."""
    data: Path | None = None
    """Folder of the data sets (default: $CHAINRULE_DATA, else the user's cache)."""
    out: Path = Path("runs/lr")
    """Folder for the picture."""


UNUSED = (
    "epochs",
    "learning_rate",
    "schedule",
    "final_rate",
    "patience",
    "monitor",
    "ema_decay",
    "checkpoint_seconds",
)
"""Settings without a meaning for a search of rates."""


def run(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help"):
        out.print("usage: chainrule lr RECIPE [flags]   (RECIPE --help lists the flags)\n")
        out.print(names_table("Recipes", [(e.name, e.title) for e in entries("recipes")]))
        return 0
    entry = named_or_file("recipes", arguments[0])
    from chainrule.plots.style import save
    from chainrule.runs.configuration import require
    from chainrule.runs.learning_rates import rates_figure, search_rates

    kind = entry.load().Recipe
    require(kind, entry.name, "lr")
    command = f"lr {entry.name}"
    title = f"Learning rates for {entry.name}"
    without = (*OPTION_OF, *UNUSED)
    configuration, options = parse_recipe(kind, Search, arguments[1:], command, title, without)
    recipe, ends = configuration.recipe, (options.lowest, options.highest)
    found = search_rates(recipe, options.data, *ends, options.steps)
    path = save(rates_figure(found, entry.name), options.out / f"{entry.name}.png")
    if options.json:
        print_json(found._asdict() | {"picture": str(path)})
    elif not options.quiet:
        out.print(f"try --learning-rate {number(found.suggestion)}")
        say(f"drawn: {path}")
    return 0
