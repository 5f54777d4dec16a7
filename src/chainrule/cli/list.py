"""`chainrule list [KIND] [--search WORD]`: what there is, without importing any of it."""

from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, Literal

import tyro

from chainrule.catalog import KINDS, Item, listed, search
from chainrule.cli.options import parse
from chainrule.console.output import out, print_json
from chainrule.console.tables import chapters_table
from chainrule.errors import InputError

Kind = Literal[
    "models",
    "environments",
    "data",
    "recipes",
    "claims",
    "optimizers",
    "schedules",
    "losses",
    "metrics",
    "activations",
    "initializations",
    "tools",
    "all",
]


@dataclass(frozen=True)
class List:
    """What there is."""

    kind: Annotated[Kind, tyro.conf.Positional] = "all"
    """Only these; tools are files that are none of the others."""
    search: str = ""
    """Only what has this word in its name or description, or names this section of the notes:
    --search dropout, --search "J 3.1"."""
    json: bool = False
    """Print one JSON object instead of tables."""


def run(arguments: list[str]) -> int:
    about = "List models, data sets, recipes, claims, and functions that are chosen by name."
    options = parse(List, arguments, "list", about)
    found = chosen(options)
    if options.search and not any(found.values()):
        where = "anything" if options.kind == "all" else options.kind
        raise InputError(f"found no {options.search!r} in the names and descriptions of {where}")
    if options.json:
        print_json({kind: {i.name: i.title for i in items} for kind, items in found.items()})
        return 0
    for kind, items in found.items():
        chapters = groupby(items, key=lambda item: item.chapter_title)
        rows = {title: [(i.name, i.title) for i in group] for title, group in chapters}
        if items:
            out.print(chapters_table(kind.capitalize(), rows))
    return 0


def chosen(options: List) -> dict[str, list[Item]]:
    """By kind; a search also looks at tools."""
    if not options.search:
        kinds = KINDS if options.kind == "all" else (options.kind,)
        return {kind: list(listed(kind)) for kind in kinds}
    kinds = (*KINDS, "tools") if options.kind == "all" else (options.kind,)
    found = search(options.search, kinds)
    return {kind: [item for item in found if item.kind == kind] for kind in kinds}
