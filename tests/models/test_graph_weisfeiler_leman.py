"""The Weisfeiler-Leman test, what networks of messages share with it, and its classifier."""

import networkx
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from chainrule.errors import InputError
from chainrule.graphs import Graph, from_networkx, union
from chainrule.models.geometric.gat import GAT
from chainrule.models.geometric.gcn import GCN
from chainrule.models.geometric.graph_classifier import GraphClassifier
from chainrule.models.geometric.weisfeiler_leman import (
    WeisfeilerLeman,
    color_counts,
    distinguishable,
    kernel,
    refine,
)
from chainrule.nn.on_graph import OnGraphs

TRIANGLES = networkx.disjoint_union(networkx.cycle_graph(3), networkx.cycle_graph(3))
HEXAGON = networkx.cycle_graph(6)
DECALIN = networkx.Graph([(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)])
DECALIN.add_edges_from([(5, 6), (6, 7), (7, 8), (8, 9), (9, 0)])
BICYCLOPENTYL = networkx.disjoint_union(networkx.cycle_graph(5), networkx.cycle_graph(5))
BICYCLOPENTYL.add_edge(0, 5)
ALIKE = [
    (TRIANGLES, HEXAGON),
    (DECALIN, BICYCLOPENTYL),
    (networkx.complete_bipartite_graph(3, 3), networkx.circular_ladder_graph(3)),
]
DIFFERENT = [
    (networkx.path_graph(4), networkx.star_graph(3)),
    (networkx.cycle_graph(6), networkx.path_graph(6)),
]


def plain(source: networkx.Graph) -> Graph:
    """All nodes with the same feature."""
    return from_networkx(
        networkx.convert_node_labels_to_integers(source), torch.ones(len(source), 1)
    )


def shuffled(graph: Graph, seed: int) -> Graph:
    order = torch.randperm(graph.num_nodes, generator=torch.Generator().manual_seed(seed))
    return Graph(graph.x[order], order.argsort()[graph.edge_index])


def networks() -> list:
    """With graph outputs: sums over the nodes of node networks, and read-outs."""
    torch.manual_seed(0)

    def summed(network):
        return lambda g: network.double().eval()(g.x, g.edge_index).sum(0)

    classifier = GraphClassifier(1, 8, 4).double().eval()
    return [
        summed(GCN(1, [8, 8], 4)),
        summed(GAT(1, [8, 8], 4, num_heads=(2, 2, 1))),
        lambda g: classifier(g.x, g.edge_index)[0],
    ]


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_pairs_that_differ_but_look_alike_to_the_test_look_alike_to_every_network(one, other):
    assert not networkx.is_isomorphic(one, other)
    one, other = plain(one), plain(other)
    assert not distinguishable(one, other)
    one, other = (Graph(g.x.double(), g.edge_index) for g in (one, other))
    for network in networks():
        torch.testing.assert_close(network(one), network(other))


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_pairs_that_the_test_tells_apart_are_distinguishable_by_networks_that_count(one, other):
    """Attention averages: among nodes with equal features it cannot see how many there are."""
    one, other = plain(one), plain(other)
    assert distinguishable(one, other)
    one, other = (Graph(g.x.double(), g.edge_index) for g in (one, other))
    convolution, attention, classifier = networks()
    for network, seen in ((convolution, True), (attention, False), (classifier, True)):
        assert ((network(one) - network(other)).abs().max() > 1e-3) == seen


@given(st.integers(0, 200))
def test_the_test_never_tells_a_graph_from_itself_and_colors_are_networkx_s(seed):
    source = networkx.gnp_random_graph(8, 0.35, seed=seed)
    graph = plain(source)
    assert not distinguishable(graph, shuffled(graph, seed))
    ours = refine(graph, 3)[-1]
    networkx.set_node_attributes(source, "same", "x")
    theirs = networkx.weisfeiler_lehman_subgraph_hashes(source, node_attr="x", iterations=3)
    last = [theirs[node][-1] for node in source]
    assert all((ours[a] == ours[b]) == (last[a] == last[b]) for a in range(8) for b in range(8))


def test_features_are_the_first_colors():
    marked = plain(HEXAGON)
    other = Graph(torch.tensor([[1.0], [2], [2], [2], [2], [2]]), marked.edge_index)
    assert distinguishable(marked, other)
    assert [len(set(c.tolist())) for c in refine(other)] == [2, 3, 4]  # by distance from node 0


def test_the_kernel_counts_common_colors():
    """A path of three has two ends and a middle; a triangle has three nodes like the middle."""
    graphs = union([plain(networkx.path_graph(3)), plain(networkx.cycle_graph(3))])
    counts = color_counts(graphs, rounds=1).toarray()
    assert sorted(map(tuple, counts.T)) == [(1, 3), (2, 0), (3, 3)]
    K = kernel(color_counts(graphs, rounds=1))
    torch.testing.assert_close(K[0, 1], torch.tensor(12 / (14 * 18) ** 0.5))


def test_the_classifier_is_ridge_regression_on_the_kernel_and_learns_from_what_it_is_given():
    sources = [networkx.cycle_graph(n) for n in range(4, 12)]
    sources += [networkx.path_graph(n) for n in range(4, 12)]
    y = torch.arange(16) // 8
    model = WeisfeilerLeman(union([plain(g) for g in sources]), num_classes=2, rounds=2)
    train = torch.arange(0, 16, 2)
    model.fit(train, y[train], ridge=0.05)
    K = model.K[train][:, train].double()
    Y = torch.nn.functional.one_hot(y[train], 2).double()
    alpha = torch.linalg.inv(K + 0.05 * torch.eye(8)) @ Y
    rest = torch.arange(1, 16, 2)
    expected = model.K[rest][:, train].double() @ alpha
    torch.testing.assert_close(model(rest).double(), expected, rtol=1e-5, atol=1e-6)
    assert torch.equal(model(rest).argmax(1), y[rest])
    with pytest.raises(InputError, match="rounds must be at least 0"):
        color_counts(plain(HEXAGON), -1)


@pytest.mark.parametrize("readout", ["sum", "mean", "max"])
def test_a_graph_has_the_same_output_alone_and_among_others(readout):
    torch.manual_seed(1)
    graphs = [plain(networkx.gnp_random_graph(n, 0.5, seed=n)) for n in range(3, 9)]
    network = GraphClassifier(1, 8, 3, readout=readout).eval()
    alone = torch.cat([network(graph.x, graph.edge_index) for graph in graphs])
    order = torch.tensor([4, 0, 5, 2])
    together = OnGraphs(network, union(graphs))
    torch.testing.assert_close(together(order), alone[order])
    with pytest.raises(InputError, match="no readout"):
        GraphClassifier(1, 8, 3, readout="median")


def test_sums_count_where_means_forget():
    """Two rings of different size: equal for a mean of equal nodes, not for a sum."""
    torch.manual_seed(2)
    small, large = plain(networkx.cycle_graph(4)), plain(networkx.cycle_graph(9))
    for readout, equal in (("sum", False), ("mean", True), ("max", True)):
        network = GraphClassifier(1, 8, 3, readout=readout).eval()
        one, other = (network(graph.x, graph.edge_index) for graph in (small, large))
        assert torch.allclose(one, other, atol=1e-6) == equal
