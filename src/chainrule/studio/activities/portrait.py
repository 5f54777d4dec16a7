"""What an entry says of itself once it is imported: facts, layers, samples, a picture."""

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import torch

from chainrule.catalog import Item, facts_of
from chainrule.data import cache
from chainrule.errors import InputError
from chainrule.studio.activities.claim import lines
from chainrule.studio.activity import Activity, Json, Range, View, raster, read, rounded
from chainrule.studio.entries import found

NODES = 40  # of a computation graph that is still readable
LAYERS = 24  # rows of a table of layers
SAMPLES, POINTS = 20, 400  # pictures and points of a data set that are shown


@dataclass(frozen=True)
class Settings:
    """Which entry.

    Args:
        kind: as `chainrule list` has it.
        name: of the entry.
    """

    kind: Literal["models", "data", "recipes", "activations", "schedules"]
    name: Annotated[str, Range(1, 80)]


def run(settings: Json) -> Activity:
    chosen = read(Settings, settings)
    item = found(chosen.kind, chosen.name)
    content = PORTRAITS[chosen.kind](item)
    yield View(lambda: content, waiting=True)


def model(item: Item) -> Json:
    """Layers of its example, and the computation graph where it is small."""
    from chainrule.nn.profile import merge_blocks, profile

    network, batch = item.load().example()
    layers = merge_blocks(profile(network, batch), LAYERS)
    rows = [[layer.name, layer.kind, shape(layer.output), layer.parameters] for layer in layers]
    return {"facts": facts(item), "layers": rows, "image": graph(network, batch)}


def shape(sizes: tuple[int, ...] | None) -> str:
    return "" if sizes is None else " × ".join(map(str, sizes))


def graph(network: torch.nn.Module, batch: Any) -> str | None:
    """The computation graph of the example's outputs as the address of an SVG."""
    from chainrule.autodiff.computation_graph import trace
    from chainrule.plots.computation_graph import computation_graph
    from chainrule.plots.style import rendered

    if not any(parameter.requires_grad for parameter in network.parameters()):
        return None
    try:
        traced = trace(
            lambda: network(batch).sum(), {"x": batch, **dict(network.named_parameters())}
        )
    except (InputError, TypeError, RuntimeError):  # no single output
        return None
    if len(traced.nodes) > NODES:
        return None
    figure = computation_graph([node.row() for node in traced.nodes], traced.edges)
    content = base64.b64encode(rendered(figure, ".svg")).decode("ascii")
    return f"data:image/svg+xml;base64,{content}"


def data(item: Item) -> Json:
    """Sizes and samples of a data set that needs no download."""
    content: Json = {"facts": facts(item)}
    if "fetch(" in item.text and not (cache.folder() / item.path.stem).is_dir():
        return content | {"remark": "its files are fetched by the first run that uses it"}
    splits = item.load().load()
    if not hasattr(splits, "train") or not isinstance(
        getattr(splits.train, "x", None), torch.Tensor
    ):
        return content
    x, y = splits.train.x, splits.train.y
    content["remark"] = f"{len(x)} examples to train on, each {shape(tuple(x.shape[1:]))}"
    if x.ndim == 4 and x.shape[1] in (1, 3):
        pictures = x[:SAMPLES].permute(0, 2, 3, 1).expand(-1, -1, -1, 3)
        content["samples"] = [raster(picture, 0.0, 1.0) for picture in pictures]
    elif x.ndim == 2 and x.shape[1] == 2:
        content["picture"] = scatter(x[:POINTS], y[:POINTS], splits.classes)
    return content


def scatter(x: torch.Tensor, y: torch.Tensor, classes: tuple[str, ...]) -> Json:
    points = {
        name: [rounded(x[y.flatten() == k, 0]), rounded(x[y.flatten() == k, 1])]
        for k, name in enumerate(classes or ("examples",))
    }
    return plane("x₁", "x₂", points=points)


def recipe(item: Item) -> Json:
    """Its settings."""
    from dataclasses import MISSING

    from chainrule.runs.configuration import flags

    rows = [
        [flag.name, "(required)" if flag.default is MISSING else str(flag.default), flag.help]
        for flag in flags(item.load().Recipe)
    ]
    return {"facts": facts(item), "settings": rows}


def activation(item: Item) -> Json:
    """The function and its derivative."""
    from chainrule.nn.activations import activation as named

    z = torch.linspace(-4, 4, 161, requires_grad=True)
    value = named(item.name)(z)
    (slope,) = torch.autograd.grad(value.sum(), z)
    drawn = {"φ(z)": (z.tolist(), value.tolist()), "φ′(z)": (z.tolist(), slope.tolist())}
    return {"facts": facts(item), "picture": plane("z", "", curves=lines(drawn))}


def schedule(item: Item) -> Json:
    """The share of the learning rate over a run."""
    from chainrule.learning.schedules import schedule as named

    progress = torch.linspace(0, 1, 201).tolist()
    drawn = {item.name: (progress, [named(item.name)(p) for p in progress])}
    picture = plane("share of the run", "share of the learning rate", curves=lines(drawn))
    return {"facts": facts(item), "picture": picture}


def plane(
    x_label: str, y_label: str, curves: Json | None = None, points: Json | None = None
) -> Json:
    """A picture as the page draws those of claims."""
    return {
        "title": "",
        "x_label": x_label,
        "y_label": y_label,
        "log": "",
        "curves": curves or {},
        "points": points or {},
        "bounds": {},
        "marks": {},
    }


def facts(item: Item) -> dict[str, str]:
    return {name: str(value) for name, value in facts_of(item).items() if value}


PORTRAITS: Mapping[str, Callable[[Item], Json]] = {
    "models": model,
    "data": data,
    "recipes": recipe,
    "activations": activation,
    "schedules": schedule,
}
