"""What `chainrule bench` does once it has found the checkout."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.suite import compare, machine, record, rows
from benchmarks.suite.contract import TINY, Growth, Race
from benchmarks.suite.growth import grow
from benchmarks.suite.race import Rules, Say, race
from benchmarks.suite.tables import comparison_table, growth_table, race_table, remarks, title
from chainrule.console.output import err, out
from chainrule.console.tables import names_table
from chainrule.errors import InputError
from chainrule.registry import Entry

QUICK_SECONDS, QUICK_ROUNDS = 8.0, 8


@dataclass(frozen=True)
class Request:
    """What is measured, and where it is kept."""

    rows: tuple[str, ...]
    rules: Rules
    folder: Path
    command: str
    cases: tuple[str, ...] = ()
    """Words of which the name of a case must have one; empty: all cases."""
    resume: bool = False
    old: Path | None = None
    quiet: bool = False


def listing() -> None:
    """All rows and what they time."""
    out.print(names_table("Rows", [(entry.name, entry.title) for entry in rows.entries()]))


def rules(
    threads: int, limit: float, quick: bool, peers: Sequence[str], against: Path | None
) -> Rules:
    """The number of threads is that of the cores, unless given."""
    return Rules(
        threads=threads or machine.cores(),
        seconds=min(limit, QUICK_SECONDS) if quick else limit,
        most_rounds=QUICK_ROUNDS if quick else Rules.most_rounds,
        peers=tuple(peers),
        against=against.resolve() if against else None,
    )


def measure(request: Request) -> list[dict[str, Any]]:
    """Every row in turn; each is written before the next begins."""
    chosen = rows.chosen(request.rows)
    old = compare.old_runs(request.old) if request.old else {}
    found = []
    for number, entry in enumerate(chosen):
        before = record.read(request.folder, entry.name) if request.resume else None
        if before and record.current(entry, rows.load(entry.name), before):
            found.append(before)
            continue

        def say(text: str, at: str = f"{entry.name} ({number + 1}/{len(chosen)})") -> None:
            if not request.quiet:
                err.print(f"{at}: {text}")

        found.append(one(entry, request, say))
        path = record.write(request.folder, found[-1])
        draw(path, found[-1])
        if not request.quiet:
            show(found[-1], old.get(entry.name))
            if request.old and entry.name not in old:
                out.print(f"compare: no record of {entry.name} in {request.old}")
            out.print(f"in {path.parent}/: {path.name}, {path.stem}.png")
    return found


def one(entry: Entry, request: Request, say: Say) -> dict[str, Any]:
    """The record of one row."""
    row = rows.load(entry.name)
    if isinstance(row, Growth):
        row = row.shrunk() if TINY in request.cases else row
        return grow(entry, row, request.rules, request.command, say)
    wanted = chosen_cases(entry.name, row, request.cases)
    cases = [race(entry.name, row, case, request.rules, say) for case in wanted]
    return record.raced(entry, row, cases, request.command, request.rules.threads)


def chosen_cases(name: str, row: Race, words: tuple[str, ...]) -> list[str]:
    """The cases with one of these words in their name; all, if there are no words."""
    if not words:
        return list(row.cases)
    found = [case for case in (*row.cases, TINY) if any(word in case for word in words)]
    if not found:
        known = ", ".join(case for case in (*row.cases, TINY) if case)
        raise InputError(f"row {name} has no case with {' or '.join(words)}; known: {known}")
    return found


def show(found: dict[str, Any], old: Any) -> None:
    """Print the tables of one row."""
    if found["kind"] == "growth":
        out.print(title(found))
        out.print(growth_table(found))
        return
    for case in found["cases"]:
        out.print(title(found, case))
        out.print(race_table(found, case))
        for line in remarks(case):
            out.print(line)
    if found["quality"]:
        out.print(f"agrees: {found['quality']}")
    if old:
        out.print(comparison_table(compare.changes(found, old)))


def draw(path: Path, found: dict[str, Any]) -> None:
    """A picture beside the record."""
    from benchmarks.suite.pictures import bars, growth
    from chainrule.plots.style import save

    save((growth if found["kind"] == "growth" else bars)([found]), path.with_suffix(".png"))
