"""Activities on graphs: what they show is what the library computes."""

from itertools import pairwise

import networkx
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from chainrule.errors import InputError
from chainrule.graphs import from_networkx
from chainrule.lab.helpers.pairs import ALIKE, PAIRS
from chainrule.nn.laplacian import normalized_adjacency
from chainrule.studio.activities import color_refinement, karate_club, message_passing
from chainrule.studio.activity import Json
from chainrule.studio.drawn_graphs import GRAPHS, built_in, drawn


def first(activity: object, chosen: Json) -> Json:
    return next(activity.run(chosen)).draw()  # type: ignore[attr-defined]


def test_a_signal_spreads_by_powers_of_the_normalized_adjacency() -> None:
    shown = first(message_passing, {"graph": "karate club", "source": 3, "hops": 5})
    club = networkx.karate_club_graph()
    x = torch.zeros(34, 1).double()
    x[3] = 1
    A_bar = normalized_adjacency(from_networkx(club, x)).dense()
    for hop, signal in enumerate(shown["signals"]):
        expected = torch.linalg.matrix_power(A_bar, hop)[:, 3]
        torch.testing.assert_close(torch.tensor(signal).double(), expected, rtol=1e-3, atol=1e-9)


@pytest.mark.parametrize("propagation", ["gcn", "mean", "sum", "max", "attention"])
@pytest.mark.parametrize("graph", GRAPHS)
def test_a_signal_reaches_a_node_after_as_many_hops_as_edges(graph: str, propagation: str) -> None:
    shown = first(message_passing, {"graph": graph, "propagation": propagation, "hops": 16})
    assert shown["reached"] == shown["distance"]


@pytest.mark.parametrize("graph", GRAPHS)
def test_the_slowest_start_smooths_at_the_predicted_rate(graph: str) -> None:
    found = first(message_passing, {"graph": graph, "hops": 8})["smoothing"]
    for measured, predicted in zip(found["slowest"], found["predicted"], strict=True):
        assert measured == predicted or abs(measured - predicted) < 1e-3 * predicted
    for measured, predicted in zip(found["random"], found["predicted"], strict=True):
        assert measured is None or measured <= predicted * 1.001


def test_parts_that_are_not_joined_never_become_alike() -> None:
    assert first(message_passing, {"graph": "two triangles"})["smoothing"]["rate"] == 1


def test_a_message_is_a_new_set_of_settings() -> None:
    activity = message_passing.run({"graph": "ring"})
    assert len(next(activity).draw()["nodes"]) == 16
    drawing = {"graph": "drawn", "nodes": [[0, 0], [1, 1]], "edges": [[0, 1]]}
    assert activity.send(drawing).draw()["reached"] == [0, 1]


@settings(max_examples=12, deadline=None)
@given(nodes=st.integers(1, 8), data=st.data())
def test_every_drawing_can_be_measured(nodes: int, data: st.DataObject) -> None:
    ends = st.integers(0, nodes - 1)
    pairs = data.draw(st.lists(st.tuples(ends, ends), max_size=12))
    places = [[k / 8, 0.5] for k in range(nodes)]
    chosen = {"graph": "drawn", "nodes": places, "edges": [list(p) for p in pairs], "hops": 3}
    shown = first(message_passing, chosen)
    assert len(shown["signals"][0]) == nodes
    assert shown["reached"] == [d if d is None or d <= 3 else None for d in shown["distance"]]


@pytest.mark.parametrize(
    ("nodes", "edges", "said"),
    [
        ((), (), "at least one node"),
        (((0.5, 2.0),), (), "positions"),
        (((0.5,),), (), "positions"),
        (((0.5, 0.5),), ((0, 1),), "pairs of node numbers from 0 to 0"),
        (((0.5, 0.5),), ((0, 0, 0),), "pairs of node numbers"),
    ],
)
def test_an_impossible_drawing_is_refused(nodes: tuple, edges: tuple, said: str) -> None:  # type: ignore[type-arg]
    with pytest.raises(InputError, match=said):
        drawn(nodes, edges)


@pytest.mark.parametrize("graph", GRAPHS)
def test_every_built_in_graph_lies_in_the_unit_square(graph: str) -> None:
    places = [place for _, place in built_in(graph).nodes(data="at")]
    assert all(-1e-9 <= c <= 1 + 1e-9 for place in places for c in place)
    assert len({tuple(round(c, 3) for c in place) for place in places}) == len(places)


@pytest.mark.parametrize(
    "chosen",
    [
        {"graph": "torus"},
        {"graph": "path", "source": 10},
        {"hops": 0},
        {"nodes": [[0.5, 0.5]] * 61},
        {"spin": 1},
    ],
)
def test_settings_of_message_passing_are_checked(chosen: Json) -> None:
    with pytest.raises(InputError):
        first(message_passing, chosen)


@pytest.mark.parametrize("name", PAIRS)
def test_the_test_distinguishes_exactly_the_pairs_that_the_claim_says(name: str) -> None:
    shown = first(color_refinement, {"pair": name})
    apart = any(one != other for one, other in shown["counts"][-1])
    assert apart == shown["distinguished"] == (list(PAIRS).index(name) >= ALIKE)
    assert not shown["isomorphic"]


def test_a_renumbered_graph_has_the_same_colors() -> None:
    shown = first(color_refinement, {"pair": color_refinement.RENUMBERED, "start": "degree"})
    assert shown["isomorphic"]
    assert all(one == other for counts in shown["counts"] for one, other in counts)


def test_colors_only_split_from_round_to_round() -> None:
    rounds = first(color_refinement, {"pair": "branches of a path"})["rounds"]
    joined = [one + other for one, other in rounds]
    sizes = [len(set(colors)) for colors in joined]
    assert sizes == sorted(set(sizes))
    for before, after in pairwise(joined):
        assert len(set(zip(before, after, strict=True))) == len(set(after))


def test_two_drawn_graphs_are_compared() -> None:
    places = [[0, 0], [1, 0], [0, 1]]
    chosen = {
        "pair": "drawn",
        "nodes": places,
        "edges": [[0, 1], [1, 2]],
        "other_nodes": places,
        "other_edges": [[0, 1], [1, 2], [2, 0]],
    }
    assert first(color_refinement, chosen)["distinguished"]


@pytest.mark.parametrize("chosen", [{"pair": "cat, dog"}, {"pair": "drawn"}, {"start": "red"}])
def test_settings_of_color_refinement_are_checked(chosen: Json) -> None:
    with pytest.raises(InputError):
        first(color_refinement, chosen)


@pytest.mark.parametrize("model", karate_club.MODELS)
def test_the_club_is_learned_from_its_two_leaders(model: str) -> None:
    *_, last = karate_club.run({"model": model, "epochs": 60, "burst": 20, "rate": 0.02})
    shown = last.draw()
    assert shown["labeled"] == [0, 33]
    assert len(shown["losses"]) == 61
    assert shown["losses"][-1] < 0.1 * shown["losses"][0]
    assert shown["accuracies"][-1] > 0.8
    right = [(p > 0.5) == y for p, y in zip(shown["probability"], shown["truth"], strict=True)]
    others = [r for m, r in enumerate(right) if m not in (0, 33)]
    assert sum(others) / 32 == pytest.approx(shown["accuracies"][-1], abs=1e-3)


def test_the_club_repeats_with_its_seed() -> None:
    runs = [list(karate_club.run({"epochs": 5, "seed": 4, "labels": 3}))[-1] for _ in range(2)]
    assert runs[0].draw() == runs[1].draw()
    assert len(runs[0].draw()["labeled"]) == 6


def test_the_embedding_keeps_its_direction() -> None:
    before = None
    for view in karate_club.run({"epochs": 30}):
        now = torch.tensor(view.draw()["embedding"])
        if before is not None:
            assert ((now * before).sum(0) > 0).all()
        before = now


@pytest.mark.parametrize("chosen", [{"model": "mlp"}, {"width": 1}, {"rate": 0.0}, {"labels": 9}])
def test_settings_of_the_club_are_checked(chosen: Json) -> None:
    with pytest.raises(InputError):
        first(karate_club, chosen)
