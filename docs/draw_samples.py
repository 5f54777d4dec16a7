"""Draw samples of data sets into docs/pictures/data: `python docs/draw_samples.py [NAME …]`.

What Python prints of each goes to shapes.json beside them.

Sets that are neither embedded nor in `$CHAINRULE_DATA` or the cache are fetched, as always.
"""

import json
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import torch
from book.pictures import SHAPES, shapes, shrink
from matplotlib.figure import Figure
from torch import Tensor

from chainrule.data.datasets import ewt, squad
from chainrule.data.text.vocabulary import Vocabulary
from chainrule.plots.graphs import graph_layout
from chainrule.plots.images import image_grid
from chainrule.plots.points import cloud_predictions, segmented_cloud
from chainrule.plots.segmentation import segmentation_overlay
from chainrule.plots.style import canvas, color, marker, save, styled
from chainrule.registry import Entry, entries

PICTURES = Path(__file__).parent / "pictures" / "data"
IMAGES, CLOUDS, COLUMNS, TEXTS = 24, 8, 12, 3


def figure_of(entry: Entry, data: Any) -> Figure:
    """What fits the data: a graph, images, clouds, points, curves, columns or words."""
    x, y = data.train.x, data.train.y
    if hasattr(data, "images"):
        return images(data.images, data.labels, data.classes)
    if hasattr(data, "graph"):
        return graph(data)
    if not x.is_floating_point():
        return words(entry, data)
    if x.ndim == 4 and y.ndim == 3 and y.shape[1:] == x.shape[2:]:
        return retitled(segmentation_overlay(x[0, 0], y[0], data.classes))
    if x.ndim == 4:
        return images(x, y, data.classes)
    if x.ndim == 3 and x.shape[1] >= 100:
        return clouds(x, y, data.classes)
    if x.ndim == 3:
        return curves(x)
    return plane(x, y, data.classes) if x.shape[1] == 2 else columns(data)


def images(x: Tensor, y: Tensor, classes: tuple[str, ...]) -> Figure:
    """The first images with their classes."""
    x = x[:IMAGES].reshape(-1, *x.shape[-3:]) if x.ndim == 4 else x[:IMAGES, None]
    channels_last = x.permute(0, 2, 3, 1).squeeze(-1)
    names = [classes[k] if classes else str(k) for k in y[:IMAGES].tolist()] if y.ndim == 1 else []
    return image_grid(channels_last, names or [""] * len(x))


def clouds(x: Tensor, y: Tensor, classes: tuple[str, ...]) -> Figure:
    """Clouds with their classes, or one with the part of each point."""
    if y.ndim == 2:
        return retitled(segmented_cloud(x[0], y[0], classes))
    chosen = torch.linspace(0, len(x) - 1, CLOUDS).long()
    return cloud_predictions(x[chosen], y[chosen], y[chosen], classes, title=" ")


def retitled(figure: Figure) -> Figure:
    """What is drawn are the true classes."""
    figure.axes[1].set_title("target")
    return figure


@styled
def graph(data: Any) -> Figure:
    """The graph, or the part around its most connected node, colored by class."""
    layout = graph_layout(data.graph.edge_index.T.numpy(), data.graph.num_nodes)
    figure = canvas(7, 6)
    axes = figure.subplots()
    for ends in layout.places[layout.edges]:
        axes.plot(*ends.T, color="0.8", linewidth=0.6, zorder=1)
    y = np.asarray(data.labels)
    whole = len(y) == data.graph.num_nodes
    of_nodes = y[layout.nodes] if whole else np.zeros(len(layout.nodes), int)
    for k in np.unique(of_nodes):
        chosen = layout.places[of_nodes == k]
        label = data.classes[k] if whole else None
        axes.scatter(*chosen.T, color=color(k), marker=marker(k), s=26, label=label, zorder=2)
    axes.set(xticks=[], yticks=[], aspect="equal")
    axes.spines[:].set_visible(False)
    if whole:
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


@styled
def plane(x: Tensor, y: Tensor, classes: tuple[str, ...]) -> Figure:
    """Points of the plane by class."""
    figure = canvas(5.5, 4.5)
    axes = figure.subplots()
    for k, name in enumerate(classes):
        of = y == y.unique()[k]
        axes.scatter(*x[of].T, s=14, color=color(k), marker=marker(k), label=name)
    axes.set(xlabel="x₁", ylabel="x₂", aspect="equal")
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


@styled
def curves(x: Tensor) -> Figure:
    """The first sequence, one line for each of its inputs."""
    figure = canvas(7.5, 3.5)
    axes = figure.subplots()
    for k, values in enumerate(x[0].T):
        axes.plot(values, color=color(k), label=f"input {k + 1}", drawstyle="steps-mid")
    axes.set(xlabel="step", ylabel="value")
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


@styled
def columns(data: Any) -> Figure:
    """Histograms of the first columns, as the network sees them, by class."""
    x, y = data.train.x[:, :COLUMNS], data.train.y
    names = getattr(data.encoder, "features", None) or [
        f"column {k + 1}" for k in range(x.shape[1])
    ]
    figure = canvas(8.5, 1.9 * -(-x.shape[1] // 4))
    grid = figure.subplots(-(-x.shape[1] // 4), min(4, x.shape[1]), squeeze=False).ravel()
    groups = [(name, y == k) for k, name in enumerate(data.classes)] or [("all", y == y)]
    for k, axes in enumerate(grid[: x.shape[1]]):
        for c, (name, of) in enumerate(groups):
            axes.hist(
                x[of, k].numpy(), bins=24, density=True, histtype="step", color=color(c), label=name
            )
        axes.set_title(str(names[k])[:22], fontsize=10)
        axes.set_yticks([])
    for axes in grid[x.shape[1] :]:
        axes.remove()
    if len(groups) > 1:
        grid[0].legend(fontsize=8)
    return figure


@styled
def words(entry: Entry, data: Any) -> Figure:
    """The first texts, cut to a few lines."""
    own = {"ewt": tagged, "squad": asked}.get(entry.name)
    found = own() if own else texts(data)
    shown = [textwrap.shorten(text, 240) if "\n" not in text else text for text in found]
    lines = "\n\n".join("\n".join(textwrap.wrap(t, 84)) if "\n" not in t else t for t in shown)
    figure = canvas(8, 0.24 * (lines.count("\n") + 2))
    figure.text(0.01, 0.97, lines, family="monospace", fontsize=9, va="top")
    return figure


def texts(data: Any) -> list[str]:
    """Words of the first examples."""
    x, encoder = data.train.x, data.encoder
    if x.ndim == 1:
        return [encoder.decode(x[:500].tolist())]
    if hasattr(encoder, "source"):
        pairs = zip(x[:TEXTS].tolist(), data.train.y[:TEXTS].tolist(), strict=True)
        return [f"{plain(encoder.source, s)}  →  {plain(encoder.target, t)}" for s, t in pairs]
    return [plain(encoder.vocabulary, row) for row in x[:TEXTS].tolist()]


def tagged() -> list[str]:
    """Sentences of the treebank, every word with its tag."""
    return [
        " ".join(f"{word}/{ewt.TAGS[tag]}" for word, tag in zip(s.words, s.tags, strict=True))
        for s in ewt.sentences()["train"][:TEXTS]
    ]


def asked() -> list[str]:
    """Questions with the first answer."""
    first = squad.questions()["train"][:TEXTS]
    return [f"{question.text}  →  {question.answers[0].text}" for question in first]


def plain(vocabulary: Vocabulary, row: list[int]) -> str:
    """Words without what pads, begins and ends a sentence."""
    return " ".join(
        t for t in (vocabulary.tokens[i] for i in row) if t not in ("<pad>", "<s>", "</s>")
    )


def main(names: list[str]) -> None:
    printed = shapes()
    for entry in entries("data"):
        if not names or entry.name in names:
            data = entry.load().load()
            path = save(figure_of(entry, data), PICTURES / f"{entry.name}.png")
            shrink(path)
            printed[entry.name] = repr(data)
            print(path.name)
    text = json.dumps(printed, indent=1, ensure_ascii=False, sort_keys=True)
    (PICTURES / SHAPES).write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
