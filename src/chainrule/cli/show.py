"""`chainrule show NAME`: what it is, its equation, its settings, its place in the notes."""

import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro
from rich.text import Text

from chainrule.catalog import (
    KINDS,
    Function,
    Item,
    facts_of,
    links,
    named,
    search,
    section_of,
)
from chainrule.cli.options import as_flags, as_words, parse
from chainrule.console.output import flowing, out, print_code, print_json
from chainrule.console.tables import COSTS, facts_table, flags_table, layers_table, names_table
from chainrule.errors import InputError
from chainrule.registry import Entry

if TYPE_CHECKING:
    from chainrule.runs.configuration import Flag

ROWS = 30  # of a table of layers, before layers of one block share a row
LINKS = 6  # names of one kind under "see also"


@dataclass(frozen=True)
class Show:
    """One model, data set, recipe, claim or function; for a model, the layers of its example."""

    name: Annotated[str, tyro.conf.Positional]
    """As `chainrule list` writes it, or a section of the notes, such as "J 3.1"."""
    code: bool = False
    """Print the file itself."""
    json: bool = False
    """Print one JSON object instead of text."""
    graph: Path | None = None
    """Draw the computation graph of a model's example, with values and gradients, to this file."""


def run(arguments: list[str]) -> int:
    about = "Say what a model, data set, recipe, claim, function or section of the notes is."
    options = parse(Show, arguments, "show", about)
    if section := section_of(options.name):
        show_section(section, options.json)
        return 0
    found = named(options.name)
    if options.code:
        for path in dict.fromkeys(item.path for item in found):
            print_code(path.read_text("utf-8"), shown_path(path))
        return 0
    if options.graph is not None:
        draw_graph(found, options.graph)
        return 0
    if options.json:
        print_json({item.kind: described(item) for item in found})
        return 0
    for item in found:
        show_item(item)
    return 0


def show_section(section: str, as_json: bool) -> None:
    """What carries a section of the notes out."""
    items = search(section, (*KINDS, "tools"))
    if not items:
        raise InputError(
            f"nothing names the section {section} of the notes; docs/course.md has all"
        )
    by_kind = {
        kind: {item.name: item.title for item in items if item.kind == kind}
        for kind in dict.fromkeys(item.kind for item in items)
    }
    if as_json:
        print_json({"section": section, **by_kind})
        return
    out.print(Text.assemble("Carried out in ", (section, "bold"), "\n"))
    for kind, rows in by_kind.items():
        out.print(names_table(kind.capitalize(), list(rows.items())))


def show_item(item: Item) -> None:
    """The description, the facts, and where to go from here."""
    out.print(Text.assemble((item.name, "bold"), f"  ({item.kind}, {shown_path(item.path)})\n"))
    if isinstance(item, Function):
        out.print(Text(f"    {item.title}\n"), soft_wrap=True)
    out.print(Text(flowing(item.docstring, out.width)), soft_wrap=True)
    out.print()
    facts = facts_of(item) | {"see also": see_also(item)}
    out.print(facts_table([(name, str(value)) for name, value in facts.items() if value]))
    out.print()
    if item.kind == "models":
        print_layers(item)
    if item.kind == "recipes":
        out.print(flags_table(flag_rows(item)))


def described(item: Item) -> dict[str, Any]:
    """Everything about it, for a program."""
    found: dict[str, Any] = {"path": shown_path(item.path), "text": item.docstring}
    found |= facts_of(item)
    if item.kind == "recipes":
        found |= {flag: default for flag, default, _ in flag_rows(item)}
    if item.kind == "models":
        from chainrule.nn.profile import profile

        layers = [asdict(layer) for layer in profile(*item.load().example())]
        found |= {cost: sum(layer[cost] for layer in layers) for cost in COSTS}
        found["layers"] = layers
    return found | {"see also": links().related(item)}


def see_also(item: Item) -> str:
    """Models, data sets, recipes and claims that belong together, one kind a line."""
    lines = []
    for kind, names in links().related(item).items():
        more = f" and {len(names) - LINKS} more" if len(names) > LINKS else ""
        lines.append(f"{kind}: {', '.join(names[:LINKS])}{more}")
    return "\n".join(lines)


def shown_path(path: Path) -> str:
    """As seen from here inside a checkout, else in full."""
    here = Path.cwd()
    return os.path.relpath(path, here) if path.is_relative_to(here) else str(path)


def draw_graph(found: list[Item], path: Path) -> None:
    """The graph of a model's forward pass on its example, summed to one number."""
    from chainrule.autodiff.computation_graph import trace
    from chainrule.plots.computation_graph import computation_graph
    from chainrule.plots.style import save

    models = [item for item in found if item.kind == "models"]
    if not models:
        raise InputError(f"{found[0].name} is not a model; `graph` draws models")
    model, batch = models[0].load().example()
    inputs = {"x": batch, **dict(model.named_parameters())}
    graph = trace(lambda: model(batch).sum(), inputs)
    drawn = computation_graph([node.row() for node in graph.nodes], graph.edges, models[0].title)
    out.print(f"drawn: {save(drawn, path)}")


def print_layers(entry: Entry) -> None:
    """The example's layers as a table; many of them are joined, --json has them all."""
    from chainrule.nn.profile import merge_blocks, profile

    layers = profile(*entry.load().example())
    shown = merge_blocks(layers, ROWS)
    out.print(layers_table([asdict(row) for row in layers], [asdict(row) for row in shown]))


def flag_rows(entry: Entry) -> list[tuple[str, str, str]]:
    """Flag, default and help of everything that may be set on a recipe."""
    from chainrule.runs.configuration import flags

    known = flags(entry.load().Recipe)
    names = [flag.name for flag in known]
    return [(as_words(f.name), default_of(f), as_flags(f.help, names)) for f in known]


def default_of(flag: "Flag") -> str:
    from chainrule.runs.configuration import required

    if required(flag):
        return "(required)"
    value = flag.default
    if isinstance(value, bool):
        return "yes" if value else "no"
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)
