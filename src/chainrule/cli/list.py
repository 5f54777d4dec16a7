"""`chainrule list [models|data|recipes|claims]`: what there is, without importing any of it."""

from dataclasses import dataclass
from typing import Annotated, Literal

import tyro

from chainrule.cli.options import parse
from chainrule.console.output import out, print_json
from chainrule.console.tables import names_table
from chainrule.registry import CONTRACTS, entries


@dataclass(frozen=True)
class List:
    """What there is."""

    kind: Annotated[Literal["models", "data", "recipes", "claims", "all"], tyro.conf.Positional] = (
        "all"
    )
    """Which of them."""
    json: bool = False
    """Print one JSON object instead of tables."""


def run(arguments: list[str]) -> int:
    options = parse(List, arguments, "list", "What there is: models, data sets, recipes, claims.")
    kinds = list(CONTRACTS) if options.kind == "all" else [options.kind]
    found = {kind: [(entry.name, entry.title) for entry in entries(kind)] for kind in kinds}
    if options.json:
        print_json({kind: dict(rows) for kind, rows in found.items()})
        return 0
    for kind, rows in found.items():
        out.print(names_table(kind.capitalize(), rows))
    return 0
