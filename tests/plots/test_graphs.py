"""Pictures of graphs show what they are given, whole or in part."""

import networkx
import numpy as np
import pytest
from matplotlib.collections import PathCollection
from matplotlib.colors import to_rgba_array

from chainrule.errors import InputError
from chainrule.plots import graphs as graph_pictures
from chainrule.plots.graphs import (
    edge_attention,
    embeddings,
    graph_layout,
    node_predictions,
    pulled_in,
)
from chainrule.plots.style import FAINT

CLASSES = ("a", "b", "c")


def rings(figure) -> int:
    """Marks without a face: the rings around mistakes."""
    marks = [m for axes in figure.axes for m in axes.collections if isinstance(m, PathCollection)]
    return sum(len(m.get_offsets()) for m in marks if len(m.get_facecolors()) == 0)


def test_truth_and_prediction_stand_side_by_side_with_a_ring_for_each_mistake():
    edges = np.array(networkx.cycle_graph(7).edges)
    truth, predicted = np.arange(7) % 3, np.arange(7) % 3
    predicted[[1, 5]] = 0
    figure = node_predictions(
        edges, truth, predicted, CLASSES, known=np.array([0]), names=list("tuvwxyz")
    )
    left, right = figure.axes
    assert (left.get_title("left"), right.get_title("left")) == (
        "truth",
        "prediction: 2 of 7 wrong",
    )
    assert rings(figure) == 2
    assert [text.get_text() for text in left.texts] == list("tuvwxyz")
    shown = [text.get_text() for text in figure.legends[0].get_texts()]
    assert shown == ["a", "b", "c", "labeled in training"]


def test_nodes_without_a_label_are_gray_and_neither_right_nor_wrong():
    edges = np.array(networkx.cycle_graph(7).edges)
    truth, predicted = np.zeros(7, int), np.ones(7, int)
    figure = node_predictions(edges, truth, predicted, CLASSES, unlabeled=[2, 3, 6])
    assert figure.axes[1].get_title("left") == "prediction: 4 of 4 wrong"
    assert rings(figure) == 4
    left = [m for m in figure.axes[0].collections if isinstance(m, PathCollection)]
    gray = [m for m in left if (m.get_facecolors()[:1] == to_rgba_array(FAINT)).all()]
    assert sum(len(m.get_offsets()) for m in gray if len(m.get_offsets())) == 3
    shown = [text.get_text() for text in figure.legends[0].get_texts()]
    assert shown == ["a", "b", "c", "no label"]
    weights = np.full(2, 0.5)
    figure = edge_attention([(0, 0), (0, 1)], weights, truth, CLASSES, 0, unlabeled=[1])
    shown = [text.get_text() for text in figure.legends[0].get_texts()]
    assert shown[-1] == "no label"


def test_of_a_large_graph_the_surroundings_of_its_hub_are_shown(monkeypatch):
    monkeypatch.setattr(graph_pictures, "MAX_NODES", 6)
    tree = networkx.star_graph(4)
    tree.add_edges_from([(4, 5), (5, 6), (6, 7), (7, 8)])
    part = graph_layout(np.array(tree.edges), 9)
    assert part.nodes.tolist() == [0, 1, 2, 3, 4, 5]
    assert sorted(map(tuple, part.edges.tolist())) == [(0, 1), (0, 2), (0, 3), (0, 4), (4, 5)]
    assert part.places.shape == (6, 2) and np.isfinite(part.places).all()
    again = graph_layout(np.array(tree.edges), 9)
    assert (again.places == part.places).all()
    figure = node_predictions(np.array(tree.edges), np.zeros(9, int), np.zeros(9, int), CLASSES)
    assert figure.get_suptitle() == "6 of 9 nodes shown"


def test_embeddings_keep_what_is_far_apart_apart():
    generator = np.random.default_rng(0)
    y = np.repeat([0, 1], 20)
    points = generator.normal(size=(40, 5)) + 20 * y[:, None]
    figure = embeddings(points, y, CLASSES[:2], "far apart")
    for axes in figure.axes:
        one, other = (axes.collections[k].get_offsets().data for k in (0, 1))
        within = max(np.ptp(one, 0).max(), np.ptp(other, 0).max())
        assert np.linalg.norm(one.mean(0) - other.mean(0)) > within / 2
    with pytest.raises(InputError, match="at least 4 points"):
        embeddings(np.zeros((3, 5)), np.zeros(3, int), CLASSES)


def test_attention_is_written_at_every_neighbor():
    edges = np.array([[0, 0], [0, 1], [0, 2], [1, 0]])
    figure = edge_attention(edges, [0.2, 0.5, 0.3, 1.0], np.array([0, 1, 2]), CLASSES, center=0)
    (axes,) = figure.axes
    assert sorted(text.get_text() for text in axes.texts) == ["20.0 %", "30.0 %", "50.0 %"]
    widths = axes.collections[0].get_linewidths()
    assert widths[0] / widths[1] == pytest.approx(5 / 3)
    with pytest.raises(InputError, match="edges of node 2"):
        edge_attention(edges, [0.2, 0.5, 0.3, 1.0], np.array([0, 1, 2]), CLASSES, center=2)


def test_a_node_without_edges_does_not_shrink_the_others():
    ring = np.array([[np.cos(a), np.sin(a)] for a in np.linspace(0, 6, 39)])
    places = pulled_in(np.concatenate([ring, [[50.0, 0.0]]]))
    np.testing.assert_allclose(places[:39], ring, atol=1e-6)
    assert 1 < np.hypot(*places[39]) < 5
