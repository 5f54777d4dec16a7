"""The page of one model, environment, data set, recipe or claim."""

import json
from functools import cache
from typing import Any

from book.code import documented, public, section
from book.links import PROJECT
from book.text import cell, escaped, fence, prose, table
from chainrule.catalog import facts_of, links
from chainrule.console.tables import side_by_side
from chainrule.registry import Entry

RECORDED = PROJECT / "benchmarks"


def entry_page(entry: Entry) -> str:
    """Title, docstring, what its kind adds, what belongs together, and the file."""
    from book.reference import TITLES, source

    rest = entry.docstring.partition("\n")[2]
    where = f"[{TITLES[entry.kind]}](index.md) · {escaped(entry.chapter_title)}"
    shown = fence(f"chainrule {use(entry)}", "console")
    parts = [f"# {escaped(entry.title)}\n", f"{where} · `{entry.name}`\n", prose(rest), shown]
    parts += [OWN[entry.kind](entry), see_also(entry), source(entry.path, entry.kind)]
    return "\n".join(parts)


def use(entry: Entry) -> str:
    """How it is called on the command line."""
    verb = {"claims": "lab", "recipes": "train"}.get(entry.kind, "show")
    return f"{verb} {entry.name}"


def see_also(entry: Entry) -> str:
    """Entries that import it, that it imports, or that share its section of the notes."""
    if entry.kind == "environments":
        return ""
    rows = [
        (kind, ", ".join(f"[{name}](../{kind}/{name}.md)" for name in names))
        for kind, names in links().related(entry).items()
    ]
    return f"## See also\n\n{table(('kind', 'names'), rows)}" if rows else ""


def model(entry: Entry) -> str:
    """A small instance with its shapes, then classes and functions."""
    facts = facts_of(entry)
    example = f"Example: {escaped(facts['example'])}.\n\n" if "example" in facts else ""
    return example + documented(entry.path)


def data_set(entry: Entry) -> str:
    """Source, license, citation, shapes; how it is loaded."""
    rows = [(cell(name), cell(shown(value))) for name, value in facts_of(entry).items() if value]
    load = next(found for found in public(entry.path) if found.name == "load")
    call = f"cr.data.{entry.path.stem}()"
    return f"{table(('fact', ''), rows)}\n{fence(call, 'python')}\n{section(load)}"


def shown(value: object) -> str:
    """A plain value in words."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {v}" for name, v in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def recipe(entry: Entry) -> str:
    """The recorded result beside the published figure, then every setting."""
    from chainrule.cli.show import flag_rows

    flags = [(f"`{flag}`", cell(default), cell(what)) for flag, default, what in flag_rows(entry)]
    settings = table(("flag", "default", "meaning"), flags)
    return f"{recorded(entry)}\n## Settings\n\n{settings}"


def recorded(entry: Entry) -> str:
    """What benchmarks/results holds, and what was published."""
    from chainrule.runs.record import rows

    path = RECORDED / "results" / f"{entry.name}.json"
    facts = facts_of(entry)
    if not path.exists():
        published = f" Published: {escaped(facts['published'])}." if facts["published"] else ""
        return f"## Result\n\nNo run is recorded.{published}\n"
    content = json.loads(path.read_text("utf-8"))
    runs = content["runs"]
    lines = [line.strip("| ").split(" | ") for line in rows(entry.name, runs, content["published"])]
    cells = [tuple(cell(word.strip("|")) for word in [*line, "", ""][:5]) for line in lines]
    head = ("recipe", "here", "published", "seeds", "time")
    last = runs[-1]
    told = f"`{last['command']}`, {last['date']}, {last['parameters'] or 0:,} parameters."
    return f"## Result\n\n{table(head, cells)}\n{told}\n"


def claim(entry: Entry) -> str:
    """The recorded verdict, the near violations, and the arguments of the check."""
    verdict = read("lab.json")["verdicts"].get(entry.name)
    near = read("lab_mutations.json")["table"].get(entry.name, {}).get("near", {})
    parts = ["## Verdict\n", measured(verdict)]
    if near:
        rows = [(cell(name), "yes" if row["detected"] else "no") for name, row in near.items()]
        parts += ["## Near violations\n", table(("violation", "detected"), rows)]
    check = next(found for found in public(entry.path) if found.name == "check")
    return "\n".join([*parts, section(check)])


def measured(verdict: dict[str, Any] | None) -> str:
    """One row: quantity, value, bound, seeds."""
    if verdict is None:
        return "Its verdict over twenty seeds is not recorded; the tests check it once.\n"
    value, bound = side_by_side(float(verdict["measured"]), float(verdict["bound"]))
    holds = "holds" if verdict["holds"] else "**fails**"
    row = (cell(verdict["quantity"]), value, f"{verdict['relation']} {bound}", verdict["seeds"])
    return table(("quantity", "measured", "bound", "seeds", "verdict"), [(*row, holds)])


@cache
def read(name: str) -> dict[str, Any]:
    """A recorded file."""
    return json.loads((RECORDED / name).read_text("utf-8"))


OWN = {
    "models": model,
    "environments": model,
    "data": data_set,
    "recipes": recipe,
    "claims": claim,
}
