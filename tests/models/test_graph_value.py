"""The Graph value: many graphs as one and back, other libraries' graphs, and what is refused."""

from dataclasses import replace

import networkx
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from chainrule.errors import InputError
from chainrule.graphs import (
    Graph,
    check_batch,
    check_per_edge,
    from_networkx,
    from_scipy,
    select,
    separate,
    to_networkx,
    to_scipy,
    undirected,
    union,
)


def some(seed: int, edge_features: int = 2) -> Graph:
    generator = torch.Generator().manual_seed(seed)
    nodes = int(torch.randint(1, 7, (), generator=generator))
    ends = undirected(torch.randint(nodes, (2, 8), generator=generator))
    known = torch.randn(ends.shape[1], edge_features, generator=generator)
    return Graph(
        torch.randn(nodes, 3, generator=generator),
        ends,
        edge_weight=torch.rand(ends.shape[1], generator=generator),
        edge_attr=known,
    )


def same(one: Graph, other: Graph) -> bool:
    """Equal but for the order of the edges."""

    def sorted_edges(graph: Graph) -> list[tuple]:
        known = (t for t in (graph.edge_weight, graph.edge_attr) if t is not None)
        return sorted(zip(*graph.edge_index.tolist(), *(t.tolist() for t in known), strict=True))

    return torch.equal(one.x, other.x) and sorted_edges(one) == sorted_edges(other)


@given(st.lists(st.integers(0, 99), min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_a_union_comes_apart_into_what_was_joined_in_any_order(seeds, random):
    graphs = [some(seed) for seed in seeds]
    joined = union(graphs)
    assert joined.num_graphs == len(graphs)
    assert joined.num_nodes == sum(g.num_nodes for g in graphs)
    assert joined.num_edges == sum(g.num_edges for g in graphs)
    assert all(same(a, b) for a, b in zip(graphs, separate(joined), strict=True))
    order = [random.randrange(len(graphs)) for _ in range(4)]  # a graph may occur twice
    chosen = separate(select(joined, torch.tensor(order)))
    assert all(same(graphs[k], found) for k, found in zip(order, chosen, strict=True))


@given(st.integers(0, 99))
def test_networkx_and_scipy_give_back_what_they_were_given(seed):
    graph = some(seed)
    assert same(from_networkx(to_networkx(graph), weight="weight"), graph)
    plain = Graph(graph.x, graph.edge_index)
    weighted = replace(plain, edge_weight=graph.edge_weight)
    assert same(from_scipy(to_scipy(plain), plain.x), plain)
    assert same(from_scipy(to_scipy(weighted), plain.x), weighted)
    assert same(from_networkx(to_networkx(weighted)), plain)  # weights are read by name only


def test_an_undirected_networkx_graph_has_every_edge_both_ways_in_the_order_of_its_nodes():
    source = networkx.Graph([("b", "a"), ("a", "c")])
    found = from_networkx(source, torch.eye(3))
    assert list(source) == ["b", "a", "c"]
    assert set(map(tuple, found.edge_index.T.tolist())) == {(0, 1), (1, 0), (1, 2), (2, 1)}


def test_the_adjacency_matrix_has_targets_as_rows_and_its_entries_become_weights():
    graph = Graph(torch.zeros(3, 1), torch.tensor([[0], [2]]))
    assert to_scipy(graph).toarray().tolist() == [[0, 0, 0], [0, 0, 0], [1, 0, 0]]
    weighted = from_scipy(csr_array(np.array([[0, 2.5], [0, 0]])), torch.zeros(2, 1))
    assert weighted.edge_index.tolist() == [[1], [0]]
    assert weighted.edge_weight is not None and weighted.edge_weight.tolist() == [2.5]


def test_undirected_edges_are_both_ways_once_without_loops():
    pairs = torch.tensor([[0, 1, 2, 1], [1, 0, 2, 2]])
    assert undirected(pairs).T.tolist() == [[1, 0], [0, 1], [2, 1], [1, 2]]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"edge_index": torch.tensor([[0], [2]])}, "between nodes 0 and 1"),
        ({"edge_index": torch.tensor([[0], [-1]])}, "from -1 to 0"),
        ({"batch": torch.tensor([0, 2])}, "without a gap"),
    ],
)
def test_a_graph_that_does_not_hold_together_is_refused(changed, said):
    with pytest.raises(InputError, match=said):
        Graph(**{"x": torch.zeros(2, 1), "edge_index": torch.tensor([[0], [1]])} | changed)


def test_shapes_that_do_not_fit_the_nodes_or_the_edges_are_refused():
    with pytest.raises(InputError, match="each of the 2 nodes"):
        check_batch(torch.tensor([0, 0, 1]), nodes=2)
    with pytest.raises(InputError, match=r"one number for each of the 1 edges, got shape \(2,\)"):
        check_per_edge("edge_weight", torch.ones(2), 1, ndim=1)
    with pytest.raises(InputError, match="edge_attr with one row"):
        check_per_edge("edge_attr", torch.ones(1), 1, ndim=2)


def test_what_cannot_be_joined_or_converted_is_refused():
    with pytest.raises(InputError, match="equally many features"):
        union([some(0), Graph(torch.zeros(1, 9), torch.zeros(2, 0, dtype=torch.long))])
    with pytest.raises(InputError, match="an attribute x at every node"):
        from_networkx(networkx.path_graph(3))
    with pytest.raises(InputError, match="multigraph"):
        from_networkx(networkx.MultiGraph([(0, 1)]), torch.eye(2))
    with pytest.raises(InputError, match=r"\(2, 2\)"):
        from_scipy(csr_array(np.eye(3)), torch.eye(2))
