"""`chainrule lab [CLAIM …]`: check claims by measurement. Exit code 1 if one fails."""

from dataclasses import dataclass, make_dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from chainrule.cli.options import parse
from chainrule.console.output import counted, out, print_json
from chainrule.console.tables import mutation_table, names_table, verdict_table
from chainrule.errors import InputError
from chainrule.registry import Entry, entries

ABOUT = "Check claims of the theory by measurement."
USAGE = "usage: chainrule lab CLAIM [flags of the claim] | CLAIM … | FILE.py | --all\n"


@dataclass(frozen=True)
class Options:
    """What is printed and drawn."""

    json: bool = False
    """Print one JSON object instead of tables."""
    out: Path = Path("runs/lab")
    """Folder for the pictures."""
    mutate: bool = False
    """Measure the near violations, which a claim should detect, with settings of their own."""


@dataclass(frozen=True)
class Single(Options):
    """What is checked, printed and drawn."""

    broken: bool = False
    """Violate the hypothesis as well, with settings of its own: the claim must then fail."""


@dataclass(frozen=True)
class Several(Options):
    """Claims with their default settings."""

    claims: Annotated[tuple[str, ...], tyro.conf.Positional] = ()
    """Names of claims, or files of your own."""
    all: bool = False
    """Check all claims and write index.html, a page with everything, beside the pictures."""
    seeds: int = 1
    """Number of seeds with which every claim is checked: 0, 1, 2, …"""


def run(arguments: list[str]) -> int:
    from chainrule.lab.result import claim

    first, rest = arguments[:1], arguments[1:]
    single = first and not first[0].startswith("-") and not claims_among(rest)
    if single and not any(word.partition("=")[0] == "--seeds" for word in rest):
        return one(claim(first[0]), rest)
    options = parse(Several, arguments, "lab", ABOUT)
    if options.all and options.claims:
        raise InputError("give the names of claims or `all`, not both")
    chosen = entries("claims") if options.all else [claim(name) for name in options.claims]
    if not chosen:
        out.print(USAGE)
        out.print(names_table("Claims", [(e.name, e.title) for e in entries("claims")]))
        return 0
    if options.mutate:
        return mutate(chosen, options)
    from chainrule.lab.runner import check_many

    steps = check_many(chosen, options.out, options.seeds)
    verdicts = dict(counted(steps, len(chosen), "checking", options.json))
    if options.all:
        write_page(chosen, verdicts, options.out)
    return report(verdicts, options)


def one(entry: Entry, arguments: list[str]) -> int:
    """A single claim, whose arguments are flags too."""
    from chainrule.lab.claim import settings_of
    from chainrule.lab.runner import break_and_draw, check_and_draw, mutated

    form = make_dataclass("form", [("claim", settings_of(entry)), ("output", Single)])
    filled: Any = parse(form, arguments, f"lab {entry.name}", entry.title)
    options = filled.output
    if options.mutate and options.broken:
        raise InputError("give `mutate` or `broken`, not both")
    near = mutated(entry)[1] if options.mutate else {}
    verdict = check_and_draw(entry, vars(filled.claim), options.out)
    if options.mutate:
        return report_near({entry.name: verdict | near}, options)
    if not options.broken:
        return report({entry.name: verdict}, options)
    return compare(entry, verdict, break_and_draw(entry, options.out), options)


def mutate(claims: list[Entry], options: Several) -> int:
    """Near violations of many claims; those of all that define some."""
    from chainrule.lab.claim import near_of
    from chainrule.lab.runner import mutate_many

    if options.seeds != 1:
        raise InputError("`seeds` does not go with `mutate`: near violations choose their own")
    chosen = [claim for claim in claims if near_of(claim) or not options.all]
    steps = mutate_many(chosen)
    return report_near(dict(counted(steps, len(chosen), "mutating", options.json)), options)


def report_near(found: dict[str, dict[str, Any]], options: Options) -> int:
    """Print what was measured; 0 only if every claim holds and detects a near violation."""
    if options.json:
        print_json(found)
    else:
        out.print(mutation_table(found))
        detected = [row["detected"] for claim in found.values() for row in claim["near"].values()]
        out.print(f"{sum(detected)} of {len(detected)} near violations detected")
    blind = [not any(row["detected"] for row in claim["near"].values()) for claim in found.values()]
    failing = [not claim.get("holds", True) for claim in found.values()]
    return 1 if any(blind + failing) else 0


def compare(entry: Entry, stated: dict[str, Any], violated: dict[str, Any], options: Single) -> int:
    """Print the claim as stated and violated; 0 only if the first holds and the second fails."""
    if options.json:
        print_json({entry.name: stated | {"broken": violated}})
    else:
        out.print(verdict_table({"as stated": stated, "violated": violated}, entry.name))
        how = (entry.load().broken.__doc__ or "").split("\n", 1)[0]
        out.print(f"violated: {how}\npictures in {options.out}/")
    return 0 if stated["holds"] and not violated["holds"] else 1


def write_page(claims: list[Entry], verdicts: dict[str, dict[str, Any]], folder: Path) -> None:
    """Everything on one page that needs no other file."""
    from chainrule.console.lab_page import Shown, lab_page
    from chainrule.plots.style import write_whole

    shown = [
        Shown(c.name, c.chapter_title, c.docstring, verdicts[c.name], folder / f"{c.name}.svg")
        for c in claims
    ]
    write_whole(folder / "index.html", lab_page(shown).encode())


def report(verdicts: dict[str, dict[str, Any]], options: Options) -> int:
    """Print the verdicts; 0 only if every claim holds."""
    if options.json:
        print_json(verdicts)
    else:
        out.print(verdict_table(verdicts))
        holding = sum(verdict["holds"] for verdict in verdicts.values())
        seeds = max(verdict.get("seeds", 1) for verdict in verdicts.values())
        over = f" over {seeds} seeds" if seeds > 1 else ""
        out.print(f"{holding} of {len(verdicts)} hold{over}; pictures in {options.out}/")
    return 0 if all(verdict["holds"] for verdict in verdicts.values()) else 1


def claims_among(arguments: list[str]) -> bool:
    """Whether further claims are named, so that flags of a single one make no sense."""
    known = {entry.name for entry in entries("claims")} if arguments else set()
    return any(argument.endswith(".py") or argument in known for argument in arguments)
