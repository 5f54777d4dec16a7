"""Weights, features and directions of a user's edges, new nodes, links and many graphs."""

import json

import pytest
import torch

from chainrule.data import encoder_from_json
from chainrule.data.readers.graphs.graph_set import graph_set
from chainrule.data.readers.graphs.graph_table import GraphOptions, graph_table
from chainrule.data.readers.graphs.link_table import link_table
from chainrule.errors import InputError

NODES = ["id;size;kind", *(f"p{i};{i / 10:.1f};{'ab'[i % 2]}".replace(".", ",") for i in range(40))]
EDGES = [
    "from;to;weight;sort",
    *(f"p{i};p{i + 1};{i + 0.5};{'tie' if i % 3 else 'kin'}".replace(".", ",") for i in range(39)),
]


@pytest.fixture
def write(tmp_path):
    def table(name, rows):
        (tmp_path / name).write_text("\n".join(rows) + "\n")
        return tmp_path / name

    return table


def graph(write, edges=EDGES, nodes=NODES, **options):
    paths = write("edges.csv", edges), write("nodes.csv", nodes)
    return graph_table(*paths, "kind", options=GraphOptions(**options))


def test_weights_go_with_both_directions_of_their_edge(write):
    found = graph(write, weight="weight").graph
    for (a, b), weight in zip(found.edge_index.T.tolist(), found.edge_weight.tolist(), strict=True):
        assert abs(a - b) == 1 and weight == min(a, b) + 0.5


def test_a_directed_edge_carries_messages_one_way(write):
    found = graph(write, directed=True).graph
    assert found.edge_index.T.tolist() == [[i, i + 1] for i in range(39)]


def test_features_of_edges_are_encoded_and_a_weight_may_be_one(write):
    data = graph(write, weight="weight", edge_features=("sort",), weight_is_feature=True)
    known = data.graph.edge_attr
    assert known.shape == (78, 3) and data.graph.edge_weight is None
    first = data.graph.edge_index.min(0).values
    torch.testing.assert_close(known[:, 2], (first + 0.5).log1p())
    assert torch.equal(known[:, 0] > 0, first % 3 == 0)  # kin comes before tie
    state = json.loads(json.dumps(data.encoder.to_json()))
    assert encoder_from_json(state).links.table.columns == data.encoder.links.table.columns


@pytest.mark.parametrize(
    ("edges", "options", "why"),
    [
        ([*EDGES, "p1;p0;7,5;kin"], {"weight": "weight"}, "'0,5' and '7,5' as 'weight' in its two"),
        (
            [*EDGES, "p0;p9;-1;kin"],
            {"weight": "weight"},
            "row 40 below the header: expected a",
        ),
        ([*EDGES, "p0;p9;;kin"], {"weight": "weight"}, "expected a weight of at least 0, got ''"),
        (EDGES, {"weight": "heft"}, "no column named 'heft'"),
        (EDGES, {"weight": "from"}, "are the ids of the ends"),
        (EDGES, {"edge_features": ("color",)}, "no column named 'color'"),
    ],
)
def test_columns_of_edges_that_say_nothing_are_refused(write, edges, options, why):
    with pytest.raises(InputError, match=why):
        graph(write, edges, **options)


def test_new_nodes_are_added_to_the_graph_and_encoded_as_in_training(write):
    data = graph(write, weight="weight")
    new = write("new.csv", ["id;size", "q1;0,7", "p3;9,9", "q2;0,7"])
    ties = write("ties.csv", ["a;b;weight", "q1;p0;2,5", "q2;q1;1,5"])
    assert data.encoder.divided([ties, new]) == ([new], [ties])
    larger, (asked,) = data.encoder.extended([new], [ties])
    assert asked.tolist() == [40, 3, 41] and larger.num_nodes == 42
    assert torch.equal(larger.x[:40], data.graph.x), "a known node keeps its columns"
    assert torch.equal(larger.x[40], data.graph.x[7])
    ends = larger.edge_index.T.tolist()
    assert larger.edge_weight[ends.index([40, 41])] == 1.5 and [0, 40] in ends
    with pytest.raises(InputError, match="expected ids of nodes in the nodes, got 'q9'"):
        data.encoder.extended([new], [write("ties.csv", ["a;b;weight", "q9;p0;1"])])


def test_nothing_is_known_of_a_new_node_without_columns(write):
    data = graph(write, nodes=[";".join(row.split(";")[::2]) for row in NODES])
    with pytest.raises(InputError, match="nothing is known of a new node"):
        data.encoder.extended([write("new.csv", ["id", "q1"])], [])


def test_held_out_links_are_not_in_the_graph_and_pairs_without_an_edge_have_none(write):
    ring = ["a,b", *(f"p{i},p{(i + step) % 40}" for i in range(40) for step in (1, 3))]
    data = link_table(write("edges.csv", ring), write("nodes.csv", NODES), seed=1)
    joined = {frozenset((i, (i + step) % 40)) for i in range(40) for step in (1, 3)}
    inside = {frozenset(pair) for pair in data.graph.edge_index.T.tolist()}
    assert len(inside) == 64
    for split, size in ((data.train, 64), (data.validation, 8), (data.test, 8)):
        positive = {frozenset(row[:2]) for row in split.x[split.y == 1].tolist()}
        negative = {frozenset(row[:2]) for row in split.x[split.y == 0].tolist()}
        assert len(positive) == len(negative) == size
        assert positive <= joined and not negative & joined
        assert (positive <= inside) == (split is data.train) and len(positive & inside) in (0, 64)
    other = link_table(write("edges.csv", ring), write("nodes.csv", NODES), seed=2)
    assert torch.equal(other.test.x, data.test.x)
    pairs = write("pairs.csv", ["who,whom", "p0,p7", "p39,p1"])
    assert data.encoder.encode_file(pairs).tolist() == [[0, 7, 0], [39, 1, 0]]
    assert encoder_from_json(json.loads(json.dumps(data.encoder.to_json()))) == data.encoder


def many(write, extra_edges=(), graph_column=True):
    graphs = ["graph,shape", *(f"g{k},{'ab'[k % 2]}" for k in range(12))]
    nodes = ["graph,id,size", *(f"g{k},{m},{m + k}" for k in range(12) for m in range(4))]
    edges = [f"g{k},{m},{m + 1},{m}" for k in range(12) for m in range(3)]
    edges = ["graph,a,b,bond", *edges, *extra_edges]
    if not graph_column:
        edges = [row.split(",", 1)[1] for row in edges]
    paths = [write(n, t) for n, t in (("g.csv", graphs), ("n.csv", nodes), ("e.csv", edges))]
    return graph_set(*paths, "shape", edge_features=("bond",))


def test_many_graphs_become_one_union_in_the_order_of_their_table(write, tmp_path):
    data = many(write)
    assert data.graph.num_graphs == 12 and data.graph.num_edges == 72
    assert data.graph.batch.tolist() == [k for k in range(12) for _ in range(4)]
    assert data.labels.tolist() == [0, 1] * 6
    assert [len(s.x) for s in (data.train, data.validation, data.test)] == [8, 2, 2]
    assert not any("'b'" in remark for remark in data.remarks)
    reader = encoder_from_json(json.loads(json.dumps(data.encoder.to_json())))
    new = write("n2.csv", ["graph,id,size", "z,0,1", "z,1,2", "y,0,5"])
    union, names, _ = reader.encode_tables(new, write("e2.csv", ["graph,a,b,bond", "z,0,1,2"]))
    assert names == ["z", "y"] and union.batch.tolist() == [0, 0, 1] and union.num_edges == 2


def test_graphs_that_do_not_fit_their_tables_are_refused(write):
    with pytest.raises(InputError, match=r"expected ids of nodes in .*, got 'g0 / 9'"):
        many(write, ["g0,0,9,1"])
    with pytest.raises(InputError, match="expected the column 'graph', because ids"):
        many(write, graph_column=False)
    data = many(write)
    lone = write("n3.csv", ["graph,id,size", "z,0,1", "y,1,5"])
    with pytest.raises(InputError, match="edges within a graph, got one between y and z"):
        data.encoder.encode_tables(lone, write("e3.csv", ["a,b,bond", "0,1,2"]))
