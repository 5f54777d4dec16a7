"""`chainrule lab [CLAIM …]`: check claims by measurement. Exit code 1 if one fails."""

from dataclasses import dataclass, make_dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from chainrule.cli.options import parse
from chainrule.console.output import counted, out, print_json
from chainrule.console.tables import names_table, verdict_table
from chainrule.errors import InputError
from chainrule.registry import Entry, entries, find

ABOUT = "Check claims of the theory by measurement."


@dataclass(frozen=True)
class Options:
    """What is printed and drawn."""

    json: bool = False
    """Print one JSON object instead of tables."""
    out: Path = Path("runs/lab")
    """Folder for the pictures."""


@dataclass(frozen=True)
class Several(Options):
    """Claims with their default settings."""

    claims: Annotated[tuple[str, ...], tyro.conf.Positional] = ()
    """Their names."""
    all: bool = False
    """All of them; a page with everything is left as index.html beside the pictures."""
    seeds: int = 1
    """Seeds with which every claim is checked: 0, 1, 2, …"""


def run(arguments: list[str]) -> int:
    first = arguments[:1]
    if first and not first[0].startswith("-") and not any(a in names() for a in arguments[1:]):
        return one(find("claims", first[0]), arguments[1:])
    options = parse(Several, arguments, "lab", ABOUT)
    if options.all and options.claims:
        raise InputError("give the names of claims or --all, not both")
    chosen = entries("claims") if options.all else [find("claims", n) for n in options.claims]
    if not chosen:
        out.print("usage: chainrule lab CLAIM [flags of the claim] | CLAIM … | --all\n")
        out.print(names_table("Claims", [(e.name, e.title) for e in entries("claims")]))
        return 0
    from chainrule.lab.runner import check_many

    steps = check_many(chosen, options.out, options.seeds)
    verdicts = dict(counted(steps, len(chosen), "checking", options.json))
    if options.all:
        write_page(chosen, verdicts, options.out)
    return report(verdicts, options)


def one(entry: Entry, arguments: list[str]) -> int:
    """A single claim, whose arguments are flags too."""
    from chainrule.lab.runner import check_and_draw
    from chainrule.lab.claim import settings_of

    form = make_dataclass("form", [("claim", settings_of(entry)), ("options", Options)])
    filled: Any = parse(form, arguments, f"lab {entry.name}", entry.title)
    verdict = check_and_draw(entry, vars(filled.claim), filled.options.out)
    return report({entry.name: verdict}, filled.options)


def write_page(claims: list[Entry], verdicts: dict[str, dict[str, Any]], folder: Path) -> None:
    """Everything on one page that needs no other file."""
    from chainrule.plots.lab_page import Shown, lab_page

    shown = [
        Shown(c.name, c.chapter_title, c.docstring, verdicts[c.name], folder / f"{c.name}.svg")
        for c in claims
    ]
    (folder / "index.html").write_text(lab_page(shown), "utf-8")


def report(verdicts: dict[str, dict[str, Any]], options: Options) -> int:
    """Print what was found; 0 only if every claim holds."""
    if options.json:
        print_json(verdicts)
    else:
        out.print(verdict_table(verdicts))
        holding = sum(verdict["holds"] for verdict in verdicts.values())
        seeds = max(verdict.get("seeds", 1) for verdict in verdicts.values())
        over = f" over {seeds} seeds" if seeds > 1 else ""
        out.print(f"{holding} of {len(verdicts)} hold{over}; pictures in {options.out}/")
    return 0 if all(verdict["holds"] for verdict in verdicts.values()) else 1


def names() -> set[str]:
    return {entry.name for entry in entries("claims")}
