"""Drawn computation graphs: levels, order, room, and what stands in the boxes."""

from itertools import combinations, pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from chainrule.errors import InputError
from chainrule.plots.computation_graph import computation_graph, levels
from chainrule.plots.style import save

ROWS = [
    ("a", "input", "", "2", "-3"),
    ("b", "input", "", "-3", "2"),
    ("y", "constant", "4×3", "0.1 ± 1", ""),
    ("mul", "mul", "", "-6", "1"),
    ("add", "add", "4×3", "4 ± 1", "1"),
]
EDGES = [(0, 3), (1, 3), (2, 4), (3, 4)]


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts]


def frames(figure: Figure) -> list[FancyBboxPatch]:
    return [p for p in figure.axes[0].patches if isinstance(p, FancyBboxPatch)]


def test_boxes_carry_name_shape_value_and_gradient() -> None:
    figure = computation_graph(ROWS, EDGES, "ab + y")
    assert len(frames(figure)) == 5
    assert {"ab + y", "a", "value 2", "gradient -3", "y  4×3", "add  4×3"} <= set(texts(figure))
    assert sum(text.startswith("gradient") for text in texts(figure)) == 4
    arrows = [p for p in figure.axes[0].patches if isinstance(p, FancyArrowPatch)]
    assert len(arrows) == len(EDGES)


def test_results_lie_below_their_arguments_and_inputs_above_their_first_use() -> None:
    assert levels([row[1] in ("input", "constant") for row in ROWS], EDGES) == [0, 0, 1, 1, 2]


@st.composite
def graphs(draw: st.DrawFn) -> list[tuple[int, int]]:
    """Edges from earlier to later ones of twelve nodes."""
    pairs = list(combinations(range(12), 2))
    return draw(st.lists(st.sampled_from(pairs), unique=True, max_size=25))


@given(graphs())
def test_no_two_boxes_touch_and_all_lie_on_the_sheet(edges: list[tuple[int, int]]) -> None:
    with_arguments = {end for _, end in edges}
    rows = [
        (f"node {i}", "op" if i in with_arguments else "input", "3×4", "1 ± 2", "0.5")
        for i in range(12)
    ]
    figure = computation_graph(rows, edges)
    boxes = [patch.get_bbox() for patch in frames(figure)]
    (left, right), (bottom, top) = figure.axes[0].get_xlim(), figure.axes[0].get_ylim()
    for box in boxes:
        assert left < box.x0 < box.x1 < right
        assert bottom < box.y0 < box.y1 < top
    assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))


@given(graphs())
def test_every_edge_leads_downwards(edges: list[tuple[int, int]]) -> None:
    found = levels([False] * 12, edges)
    assert all(found[start] < found[end] for start, end in edges)


def test_the_text_fits_into_its_box() -> None:
    figure = computation_graph(
        [("layers.0.weight", "input", "128×784", "-0.00123 ± 0.0456", "1e-09")], []
    )
    figure.canvas.draw()
    (frame,) = frames(figure)
    outer = frame.get_window_extent()
    for text in figure.axes[0].texts[1:]:
        inner = text.get_window_extent()
        assert outer.x0 <= inner.x0
        assert inner.x1 <= outer.x1


def test_a_chain_is_straight() -> None:
    rows = [("x", "input", "", "1", "1"), *[("f", "f", "", "1", "1")] * 4]
    figure = computation_graph(rows, list(pairwise(range(5))))
    centers = [round(float(p.get_bbox().x0 + p.get_bbox().width / 2), 6) for p in frames(figure)]
    assert len(set(centers)) == 1


def test_a_cycle_is_refused() -> None:
    with pytest.raises(InputError, match="without cycles"):
        computation_graph(ROWS, [*EDGES, (4, 3)])


@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_it_is_saved_the_same_each_time(tmp_path: Path, suffix: str) -> None:
    one = save(computation_graph(ROWS, EDGES, "ab + y"), tmp_path / f"one{suffix}")
    two = save(computation_graph(ROWS, EDGES, "ab + y"), tmp_path / f"two{suffix}")
    assert one.read_bytes() == two.read_bytes()
