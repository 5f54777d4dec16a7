"""`chainrule show NAME`: what it is, its equation, its settings, its place in the notes."""

from dataclasses import MISSING, asdict, dataclass, fields
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.text import Text

from chainrule.cli.options import parse
from chainrule.console.output import flowing, out, print_json
from chainrule.console.tables import COSTS, facts_table, layers_table
from chainrule.errors import InputError
from chainrule.registry import CONTRACTS, Entry, entries, unknown

ROWS = 30  # of a table of layers, before layers of one block share a row


@dataclass(frozen=True)
class Show:
    """One model, data set, recipe or claim; for a model, the layers of its example."""

    name: Annotated[str, tyro.conf.Positional]
    """As `chainrule list` writes it."""
    json: bool = False
    """Print one JSON object instead of text."""
    graph: Path | None = None
    """Draw the computation graph of a model's example, with values and gradients, to this file."""


def run(arguments: list[str]) -> int:
    options = parse(Show, arguments, "show", "What a model, data set, recipe or claim is.")
    wanted = options.name.replace("_", "-")
    everything = [entry for kind in CONTRACTS for entry in entries(kind)]
    found = [entry for entry in everything if entry.name == wanted]
    if not found:
        raise InputError(unknown("entry", options.name, [entry.name for entry in everything]))
    if options.graph is not None:
        draw_graph(found, options.graph)
        return 0
    if options.json:
        print_json({entry.kind: {"text": entry.docstring, **details(entry)} for entry in found})
        return 0
    for entry in found:
        out.print(Text.assemble((entry.name, "bold"), f"  ({entry.kind}, {source(entry)})\n"))
        out.print(flowing(entry.docstring, out.width), soft_wrap=True)
        out.print()
        out.print(facts_table([(name, str(value)) for name, value in facts(entry).items()]))
        out.print()
        if entry.kind == "models":
            print_layers(entry)
    return 0


def draw_graph(found: list[Entry], path: Path) -> None:
    """The graph of a model's forward pass on its example, summed to one number."""
    from chainrule.autodiff.computation_graph import trace
    from chainrule.plots.computation_graph import computation_graph
    from chainrule.plots.style import save

    models = [entry for entry in found if entry.kind == "models"]
    if not models:
        raise InputError(f"{found[0].name} is not a model; --graph draws models")
    model, batch = models[0].load().example()
    inputs = {"x": batch, **dict(model.named_parameters())}
    graph = trace(lambda: model(batch).sum(), inputs)
    drawn = computation_graph([node.row() for node in graph.nodes], graph.edges, models[0].title)
    out.print(f"drawn: {save(drawn, path)}")


def details(entry: Entry) -> dict[str, Any]:
    """The facts, and of a model the costs, in all and layer by layer."""
    if entry.kind != "models":
        return facts(entry)
    from chainrule.nn.profile import profile

    layers = [asdict(layer) for layer in profile(*entry.load().example())]
    totals = {cost: sum(layer[cost] for layer in layers) for cost in COSTS}
    return {**facts(entry), **totals, "layers": layers}


def print_layers(entry: Entry) -> None:
    """The example's layers as a table; many of them are joined, --json has them all."""
    from chainrule.nn.profile import merge_blocks, profile

    layers = profile(*entry.load().example())
    shown = merge_blocks(layers, ROWS)
    out.print(layers_table([asdict(row) for row in layers], [asdict(row) for row in shown]))


def source(entry: Entry) -> str:
    """The file to read, as one imports it."""
    return "chainrule/" + entry.path.as_posix().rsplit("/chainrule/", 1)[-1]


def facts(entry: Entry) -> dict[str, Any]:
    """What the file itself says, beyond its docstring."""
    module = entry.load()
    if entry.kind == "data":
        return asdict(module.ABOUT)
    if entry.kind == "models":
        model, batch = module.example()
        learned = list(model.parameters()) or model.state_dict().values()
        numbers = sum(t.numel() for t in learned)
        return {
            "example": f"{type(model).__name__} with {numbers} learned numbers, "
            f"inputs {tuple(batch.shape)} → outputs {tuple(model(batch).shape)}"
        }
    if entry.kind == "recipes":
        recipe = module.Recipe
        settings = {
            f"--{f.name.replace('_', '-')}": "(required)" if f.default is MISSING else f.default
            for f in fields(recipe)
        }
        figures = [f"{p.metric} {p.value:g} ({p.source})" for p in recipe.published]
        return {"notes": recipe.notes, "published": "; ".join(figures) or "none", **settings}
    return {"run": f"chainrule lab {entry.name}"}
