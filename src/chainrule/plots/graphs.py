"""Graphs: node classes, node embeddings, attention along edges."""

from collections.abc import Sequence
from typing import NamedTuple

import networkx
import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from chainrule.errors import InputError
from chainrule.plots.checks import array, labels, same_lengths
from chainrule.plots.palette import FAINT, INK, QUIET, RED
from chainrule.plots.style import canvas, color, legend_below, marker, shortened, styled

MAX_NODES = 300  # of a larger graph a part is drawn
MAX_NAMED = 40  # nodes with names
MAX_POINTS = 500  # of an embedding; t-SNE takes seconds for a thousand
PERPLEXITY = 30.0
EDGES = "#B6BCC6"
UNLABELED = -1  # in place of a class


class Layout(NamedTuple):
    """Some nodes of a graph, their positions in the plane, and the edges among them."""

    nodes: Int[np.ndarray, " shown"]
    places: Float[np.ndarray, "shown 2"]
    edges: Int[np.ndarray, "edges 2"]


@styled
def node_predictions(
    edges: ArrayLike,
    truth: ArrayLike,
    predicted: ArrayLike,
    classes: Sequence[str],
    known: ArrayLike = (),
    names: Sequence[str] = (),
    unlabeled: ArrayLike = (),
) -> Figure:
    """The graph colored by true and by predicted class; mistakes have a red ring.

    Of a large graph only the nodes nearest to the one with the most neighbors are drawn.

    edges: (edges, 2) pairs of node indices.
    truth, predicted: the class of every node.
    classes: the class names.
    known: the labeled training nodes, drawn larger.
    names: the names of the nodes, written into small graphs.
    unlabeled: nodes without a true class, gray in the truth and neither right nor wrong.
    """
    y, f = labels("truth", truth, classes), labels("predicted", predicted, classes)
    same_lengths(truth=y, predicted=f)
    y[np.asarray(unlabeled, dtype=int)] = UNLABELED
    layout = graph_layout(array("edges", edges, "E", 2), len(y))
    labeled = y[layout.nodes] != UNLABELED
    wrong = labeled & (y[layout.nodes] != f[layout.nodes])
    given = np.isin(layout.nodes, np.asarray(known, dtype=int))
    figure = canvas(14.0, 7.5)
    for axes, shown, title in zip(
        figure.subplots(1, 2),
        (y, f),
        ("truth", f"prediction: {int(wrong.sum())} of {int(labeled.sum())} wrong"),
        strict=True,
    ):
        _draw(axes, layout, shown[layout.nodes], classes, given)
        axes.set_title(title)
        if shown is f and wrong.any():
            ring = layout.places[wrong]
            size = 4 * _size(layout)
            axes.scatter(*ring.T, s=size, facecolors="none", edgecolors=RED, lw=1.8)
        if len(names) and len(layout.nodes) <= MAX_NAMED:
            for node, place in zip(layout.nodes, layout.places, strict=True):
                axes.text(*place, names[node], ha="center", va="center", size=8, color="white")
    if len(layout.nodes) < len(y):
        figure.suptitle(
            f"{len(layout.nodes)} of {len(y)} nodes shown", x=0.01, ha="left", color=QUIET, size=13
        )
    _legend(figure, classes, known=bool(given.any()), unlabeled=not labeled.all())
    return figure


@styled
def embeddings(
    points: ArrayLike, truth: ArrayLike, classes: Sequence[str], title: str = ""
) -> Figure:
    """Node embeddings in the plane, by PCA and by t-SNE.

    Of many embeddings only every second, third, … is shown.

    points: (nodes, components).
    truth: the class of each node.
    classes: the class names.
    """
    from sklearn.decomposition import PCA
    from sklearn.manifold import TSNE

    vectors, y = array("points", points, "N", "d").astype(float), labels("truth", truth, classes)
    same_lengths(points=vectors, truth=y)
    if len(vectors) < 4 or vectors.shape[1] < 2:
        raise InputError(
            f"expected at least 4 points of at least 2 components, got {vectors.shape}"
        )
    step = -(-len(vectors) // MAX_POINTS)
    vectors, y = vectors[::step], y[::step]
    axes_of = PCA(2, random_state=0).fit(vectors)
    share = 100 * axes_of.explained_variance_ratio_.sum()
    near = min(PERPLEXITY, (len(vectors) - 1) / 3)
    neighbors = TSNE(2, perplexity=near, init="pca", max_iter=500, random_state=0, n_jobs=1)
    views = {
        f"PCA, {share:.0f} % of the variance": axes_of.transform(vectors),
        "t-SNE": neighbors.fit_transform(vectors),
    }
    figure = canvas(14.0, 7.5)
    for axes, (name, places) in zip(figure.subplots(1, 2), views.items(), strict=True):
        for k in range(len(classes)):
            own = places[y == k]
            axes.scatter(*own.T, s=22, color=color(k), marker=marker(k), alpha=0.75, linewidths=0)
        axes.set_title(name)
        axes.set(xticks=[], yticks=[])
        axes.spines[:].set_visible(False)
    if title:
        figure.suptitle(title, x=0.01, ha="left", size=13, color=QUIET)
    _legend(figure, classes)
    return figure


@styled
def edge_attention(
    edges: ArrayLike,
    weights: ArrayLike,
    truth: ArrayLike,
    classes: Sequence[str],
    center: int,
    unlabeled: ArrayLike = (),
) -> Figure:
    """The attention weights of one node over its neighbors; a wider edge is a larger weight.

    edges: (edges, 2) pairs (node, neighbor), self-loops included.
    weights: the attention weight of each edge; they sum to 1 for each node.
    truth: the class of every node.
    classes: the class names.
    center: the node.
    unlabeled: nodes without a true class, drawn gray.
    """
    pairs, q = array("edges", edges, "E", 2), array("weights", weights, "E").astype(float)
    y = labels("truth", truth, classes)
    y[np.asarray(unlabeled, dtype=int)] = UNLABELED
    same_lengths(edges=pairs, weights=q)
    own = pairs[:, 0] == center
    near, share = pairs[own, 1], q[own]
    if not len(near):
        raise InputError(f"expected edges of node {center}, got none")
    order = np.argsort(y[near], kind="stable")
    near, share = near[order], share[order]
    others = near != center
    places = np.zeros((len(near), 2))
    places[others] = _circle(int(others.sum()))
    figure = canvas(8.5, 8.5)
    axes = figure.add_subplot(aspect="equal")
    lines = np.stack([np.zeros_like(places[others]), places[others]], 1)
    widths = 14 * share[others] / share.max()
    tones = [_tone(k) for k in y[near[others]].tolist()]
    axes.add_collection(LineCollection(list(lines), linewidths=widths, colors=tones, alpha=0.45))
    for k in np.unique(y[near]).tolist():
        of = y[near] == k
        axes.scatter(places[of, 0], places[of, 1], s=260, color=_tone(k), marker=_mark(k), zorder=3)
    for place, value in zip(places, share, strict=True):
        across, up = 1.18 * place if place.any() else (0.0, -0.12)
        written = axes.text(across, up, f"{100 * value:.1f} %", ha="center", va="center", size=11)
        written.set_bbox({"fc": "white", "ec": "none", "alpha": 0.8, "pad": 1})
    axes.set(xlim=(-1.3, 1.3), ylim=(-1.3, 1.3), xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    (kind,) = shortened(["no label" if y[center] == UNLABELED else classes[y[center]]], 30)
    axes.set_title(f"attention of node {center} ({kind}); uniform would be {100 / len(near):.1f} %")
    _legend(figure, classes, unlabeled=bool((y[near] == UNLABELED).any()))
    return figure


def _circle(number: int) -> Float[np.ndarray, "number 2"]:
    """Evenly spaced points of the unit circle."""
    angles = 2 * np.pi * np.arange(number) / max(number, 1)
    return np.stack([np.cos(angles), np.sin(angles)], 1)


def graph_layout(edges: Int[np.ndarray, "edges 2"], nodes: int) -> Layout:
    """A spring layout of the graph, or of the part around the node with the most neighbors."""
    graph = networkx.Graph()
    graph.add_nodes_from(range(nodes))
    graph.add_edges_from(edges.tolist())
    graph.remove_edges_from(list(networkx.selfloop_edges(graph)))
    if nodes > MAX_NODES:
        middle = max(graph.degree, key=lambda pair: (pair[1], -pair[0]))[0]
        reached = networkx.single_source_shortest_path_length(graph, middle)
        near = sorted(reached, key=lambda node: (reached[node], node))[:MAX_NODES]
        graph = networkx.Graph(graph.subgraph(near))
    chosen = np.array(sorted(graph), dtype=int)
    steps = networkx.spring_layout(graph, seed=0, iterations=100, k=2.2 / np.sqrt(len(chosen)))
    places = pulled_in(np.array([steps[node] for node in chosen.tolist()]))
    number = {node: place for place, node in enumerate(chosen.tolist())}
    kept = [(number[n], number[m]) for n, m in graph.edges]
    return Layout(chosen, places, np.array(kept, dtype=int).reshape(-1, 2))


def pulled_in(
    places: Float[np.ndarray, "nodes 2"], share: float = 0.95, reach: float = 1.3
) -> Float[np.ndarray, "nodes 2"]:
    """Places at most `reach` times as far from the middle as most: no stray shrinks the others."""
    away = places - np.median(places, 0)
    radius = np.hypot(*away.T)
    limit = reach * np.quantile(radius, share)
    return places - away + away * np.minimum(1, limit / np.maximum(radius, 1e-12))[:, None]


def _draw(
    axes: Axes, layout: Layout, y: np.ndarray, classes: Sequence[str], given: np.ndarray
) -> None:
    ends = layout.places[layout.edges]
    tone = QUIET if len(layout.nodes) <= MAX_NAMED else EDGES
    axes.add_collection(LineCollection(list(ends), linewidths=0.7, colors=tone, zorder=1))
    size = _size(layout)
    for k in range(UNLABELED, len(classes)):
        for large in (False, True):
            of = (y == k) & (given == large)
            edge = INK if large else "white"
            s = size * (2.2 if large else 1)
            axes.scatter(
                layout.places[of, 0],
                layout.places[of, 1],
                s=s,
                color=_tone(k),
                marker=_mark(k),
                edgecolors=edge,
                linewidths=1.6 if large else 0.5,
                zorder=2 + large,
            )
    axes.set(xticks=[], yticks=[], aspect="equal")
    axes.spines[:].set_visible(False)


def _size(layout: Layout) -> float:
    return float(np.clip(12_000 / len(layout.nodes), 28, 320))


def _tone(k: int) -> str:
    return FAINT if k == UNLABELED else color(k)


def _mark(k: int) -> str:
    return "o" if k == UNLABELED else marker(k)


def _legend(
    figure: Figure, classes: Sequence[str], known: bool = False, unlabeled: bool = False
) -> None:
    axes = figure.axes[0]
    for k, name in enumerate(shortened(classes, 24)):
        axes.scatter([], [], s=60, color=color(k), marker=marker(k), label=name)
    if known:
        axes.scatter(
            [], [], s=110, color=FAINT, edgecolors=INK, lw=1.6, label="labeled in training"
        )
    if unlabeled:
        axes.scatter([], [], s=60, color=FAINT, label="no label")
    legend_below(figure)
