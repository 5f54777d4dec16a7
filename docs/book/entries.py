"""The page of one model, environment, data set, recipe or claim."""

import json
from functools import cache
from typing import Any

import chainrule
from book.code import OUTSIDE, beginning, documented, public, section
from book.links import PROJECT
from book.pictures import claim_picture, drawn, drawn_by, drawn_from, is_short, kept, shapes
from book.signatures import arguments, names_of, returned
from book.text import cell, escaped, fence, prose, table
from chainrule.catalog import facts_of, links
from chainrule.console.tables import side_by_side
from chainrule.models import exports
from chainrule.registry import Entry

RECORDED = PROJECT / "benchmarks"
SHORTER = ", which trains less than the recipe's own settings do"


def entry_page(entry: Entry) -> str:
    """Title, docstring, what its kind adds, what belongs together, and the file."""
    from book.reference import TITLES, source

    rest = entry.docstring.partition("\n")[2]
    where = f"[{TITLES[entry.kind]}](index.md) · {escaped(entry.chapter_title)}"
    parts = [f"# {escaped(entry.title)}\n", f"{where} · `{entry.name}`\n", prose(rest), use(entry)]
    parts += [OWN[entry.kind](entry), see_also(entry), source(entry.path, entry.kind)]
    return "\n".join(parts)


def use(entry: Entry) -> str:
    """How it is called on the command line and from Python."""
    if entry.kind == "models":
        names = [found.name for found in public(entry.path) if found.name in exports()]
        calls = [f"`cr.models.{name}`" for name in names]
    elif entry.kind == "data":
        calls = [f"`cr.data.{entry.path.stem}()`"]
    else:
        verb = {"claims": "check", "recipes": "train"}.get(entry.kind)
        calls = [f'`cr.{verb}("{entry.name}")`'] if verb else []
    verb = {"claims": "lab", "recipes": "train"}.get(entry.kind, "show")
    python = f"; from Python: {', '.join(calls)}" if calls else ""
    return f"On the command line: `chainrule {verb} {entry.name}`{python}.\n"


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
    """Source, license, citation, shapes; samples; how it is loaded."""
    rows = [(cell(name), cell(shown(value))) for name, value in facts_of(entry).items() if value]
    samples = [drawn(path, f"Samples of {entry.name}") for path in kept("data", entry.name)]
    return "\n".join([table(("fact", ""), rows), *samples, loader(entry)])


def loader(entry: Entry) -> str:
    """The function of `cr.data`, with the shapes of what it returns."""
    name = entry.path.stem
    load = next(found for found in public(entry.path) if found.name == "load").node
    back = returned(load, names_of(entry.path))
    head = f"{OUTSIDE}{{py:function}} {name}({', '.join(arguments(load, entry.path))}){back}"
    told = (getattr(chainrule.data, name).__doc__ or "").partition("Arguments:\n")[2]
    example = fence(session(name, shapes()[entry.name]), "pycon")
    parts = ["```{py:module} chainrule.data\n:no-index:\n```\n", head, ""]
    parts += [prose("Args:\n" + told.partition("\n\nShapes:")[0]), example, OUTSIDE, ""]
    return "\n".join(parts)


def session(name: str, printed: str) -> str:
    """What Python prints when the set is loaded; `docs/draw_samples.py` has recorded it."""
    return f">>> import chainrule as cr\n>>> cr.data.{name}()\n{printed}"


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
    return "\n".join([recorded(entry), pictures(entry.name), f"## Settings\n\n{settings}"])


def pictures(recipe: str) -> str:
    """What a run has drawn, the learning curve first, and the command of that run."""
    found = kept("recipes", recipe)
    if not found:
        return "## Pictures\n\nNo picture is recorded. A run draws its own into its folder.\n"
    shown = [drawn(path, f"{recipe}: {path.stem.replace('-', ' ')}") for path in found]
    files = f" The files: {escaped(said)}." if (said := drawn_from(recipe)) else ""
    told = f"Drawn by `{drawn_by(recipe)}`{SHORTER if is_short(recipe) else ''}.{files}\n"
    grid = ['<div class="run-pictures">\n', *shown[1:], "</div>\n"] if shown[1:] else []
    return "\n".join(["## Pictures\n", told, shown[0], *grid])


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
    parts.append(drawn(claim_picture(entry), f"{entry.title}: predicted and measured"))
    if near:
        rows = [(cell(name), "yes" if row["detected"] else "no") for name, row in near.items()]
        parts += ["## Near violations\n", table(("violation", "detected"), rows)]
    check = next(found for found in public(entry.path) if found.name == "check")
    return "\n".join([*parts, "## Arguments\n", beginning(entry.path), section(check, entry.path)])


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
