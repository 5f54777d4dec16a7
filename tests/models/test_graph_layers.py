"""Graph layers against PyTorch Geometric on equal weights, and the laws of the course."""

import math
import warnings

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.graphs import Graph, path, undirected
from chainrule.models.geometric import (
    GAT,
    GCN,
    MPNN,
    ChebConv,
    ChebNet,
    GATConv,
    GCNConv,
    MPNNConv,
    PolynomialGNN,
    SpectralConv,
    SpectralGNN,
)
from chainrule.models.geometric.chebyshev import chebyshev
from chainrule.models.geometric.message_passing import aggregate
from chainrule.models.geometric.polynomial import polynomial_filter
from chainrule.nn.kernels.sparse import DenseMatrix, SparseMatrix, as_matrix
from chainrule.nn.laplacian import (
    adjacency,
    fourier_basis,
    laplacian,
    normalized_adjacency,
    normalized_laplacian,
    scaled_laplacian,
    spectral_filter,
)
from chainrule.nn.on_graph import OnGraph

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # its import uses what torch has deprecated
    import torch_geometric.nn as pyg

NETWORKS = {
    "gcn": lambda: GCN(3, [6, 5], 4, dropout=0.0),
    "gat": lambda: GAT(3, [6], 4, num_heads=(2, 3), dropout=0.0),
    "chebyshev": lambda: ChebNet(3, [6], 4, terms=4, dropout=0.0),
    "polynomial": lambda: PolynomialGNN(3, [6], 4, terms=3, dropout=0.0),
    "spectral": lambda: SpectralGNN(3, [6], 4, dropout=0.0),
    "sum": lambda: MPNN(3, [6], 4, "sum"),
    "mean": lambda: MPNN(3, [6], 4, "mean"),
    "max": lambda: MPNN(3, [6], 4, "max"),
}
every_network = pytest.mark.parametrize("make", NETWORKS.values(), ids=NETWORKS)


def some(seed: int, nodes: int = 9, pairs: int = 14, edge_features: int = 0) -> Graph:
    """A random graph in float64; node 0 has no neighbor."""
    generator = torch.Generator().manual_seed(seed)
    ends = undirected(torch.randint(1, nodes, (2, pairs), generator=generator))
    known = torch.randn(ends.shape[1], edge_features, generator=generator, dtype=torch.float64)
    x = torch.randn(nodes, 3, generator=generator, dtype=torch.float64)
    return Graph(x, ends, edge_attr=known if edge_features else None)


def weights(graph: Graph, seed: int = 0) -> Tensor:
    """Positive, and the same in both directions of an edge."""
    each = 0.1 + torch.rand(99, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    source, target = graph.edge_index
    return each[source] * each[target]


def ring(nodes: int) -> Graph:
    around = torch.arange(nodes)
    ends = undirected(torch.stack([around, around.roll(1)]))
    return Graph(torch.eye(nodes, dtype=torch.float64), ends)


def gradients(output: Tensor, *of: Tensor) -> tuple[Tensor, ...]:
    """Of an uneven sum of the outputs."""
    uneven = torch.linspace(-1, 2, output.numel(), dtype=output.dtype).view_as(output)
    return torch.autograd.grad((output.sin() * uneven).sum(), of)


def assert_close(ours, theirs) -> None:
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-11)


def load(theirs: nn.Module, tensors: dict[str, Tensor]) -> None:
    theirs.load_state_dict({name: t.detach().clone() for name, t in tensors.items()})


def filled(layer: nn.Module) -> nn.Module:
    """In float64, with biases that are not zero."""
    for p in layer.double().parameters():
        if p.ndim == 1:
            nn.init.normal_(p)
    return layer


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_gcn_conv_is_pyg_s(seed, weighted):
    torch.manual_seed(seed)
    graph, ours, theirs = some(seed), filled(GCNConv(3, 5)), filled(pyg.GCNConv(3, 5))
    load(theirs, {"lin.weight": ours.weight, "bias": ours.bias})
    x, w = graph.x.requires_grad_(), weights(graph).requires_grad_()
    more, of = ((w,), (x, w)) if weighted else ((), (x,))
    found, expected = (layer(x, graph.edge_index, *more) for layer in (ours, theirs))
    mine = gradients(found, *of, ours.weight, ours.bias)
    others = gradients(expected, *of, theirs.lin.weight, theirs.bias)
    assert_close([found, *mine], [expected, *others])


def test_a_weighted_self_loop_counts_with_its_weight_as_in_pyg():
    torch.manual_seed(0)
    ours, theirs = filled(GCNConv(3, 5)), filled(pyg.GCNConv(3, 5))
    load(theirs, {"lin.weight": ours.weight, "bias": ours.bias})
    x = torch.randn(3, 3, dtype=torch.float64)
    edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 1, 2]])
    weight = torch.tensor([2.0, 2, 0.5, 3], dtype=torch.float64)
    for more in ((), (weight,)):
        assert_close([ours(x, edge_index, *more)], [theirs(x, edge_index, *more)])


@pytest.mark.parametrize(("heads", "concat", "known"), [(1, True, 0), (3, True, 2), (4, False, 2)])
def test_gat_conv_is_pyg_s_with_its_attention(heads, concat, known):
    torch.manual_seed(heads)
    graph = some(heads, edge_features=known)
    theirs = filled(pyg.GATConv(3, 5, heads=heads, concat=concat, edge_dim=known or None))
    ours = GATConv(3, 5, heads, concat, edge_features=known).double()
    with torch.no_grad():
        ours.V.weight.copy_(theirs.lin.weight)
        ours.u_target.copy_(theirs.att_dst[0])
        ours.u_source.copy_(theirs.att_src[0])
        ours.bias.copy_(theirs.bias)
        if known:  # theirs projects the edge's features first; the product of both is our vector
            W = theirs.lin_edge.weight.view(heads, 5, known)
            ours.u_edge.copy_(torch.einsum("kwe,kw->ke", W, theirs.att_edge[0]))
    x, more = graph.x.requires_grad_(), (graph.edge_index, graph.edge_attr)
    found = ours(x, *more)
    expected, (edges, q) = theirs(x, *more, return_attention_weights=True)
    mine = gradients(found, x, ours.V.weight, ours.u_target, ours.u_source, ours.bias)
    parameters = (x, theirs.lin.weight, theirs.att_dst, theirs.att_src, theirs.bias)
    others = [g.view_as(m) for g, m in zip(gradients(expected, *parameters), mine, strict=True)]
    assert_close([found, *mine], [expected, *others])
    own_edges, own_q = ours.attention(x, *more)
    order = (edges[1] * 9 + edges[0]).argsort()
    assert torch.equal(own_edges, edges[:, order])
    assert_close([own_q], [q[order]])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("terms", [1, 2, 4])
def test_cheb_conv_is_pyg_s(terms, weighted):
    torch.manual_seed(terms)
    graph, theirs = some(terms), filled(pyg.ChebConv(3, 5, K=terms))
    ours = filled(ChebConv(3, 5, terms))
    each = {f"lins.{k}.weight": ours.weight[k].T for k in range(terms)}
    load(theirs, each | {"bias": ours.bias})
    x, w = graph.x.requires_grad_(), weights(graph)
    more = (w,) if weighted else ()
    found, expected = (layer(x, graph.edge_index, *more) for layer in (ours, theirs))
    mine = gradients(found, x, ours.weight, ours.bias)
    others = gradients(expected, x, *(layer.weight for layer in theirs.lins), theirs.bias)
    W = torch.stack([g.T for g in others[1:-1]])
    assert_close([found, *mine], [expected, others[0], W, others[-1]])


def test_networks_are_their_layers_with_nonlinearities_between():
    torch.manual_seed(0)
    graph = some(8)
    x, edges, w = graph.x, graph.edge_index, weights(graph)
    for make, between, more in (
        (lambda: GCN(3, [6, 5], 4), torch.relu, (w,)),
        (lambda: GAT(3, [6, 5], 4, num_heads=(2, 3, 2)), nn.functional.elu, ()),
        (lambda: ChebNet(3, [6, 5], 4), torch.relu, (w,)),
        (lambda: PolynomialGNN(3, [6, 5], 4), torch.relu, (w,)),
        (lambda: SpectralGNN(3, [6, 5], 4), torch.relu, (w,)),
        (lambda: MPNN(3, [6, 5], 4), torch.relu, ()),
    ):
        network = filled(make()).eval()
        first, second, third = network.layers
        h = between(first(x, edges, *more))
        h = between(second(h, edges, *more))
        assert_close([network(x, edges, *more)], [third(h, edges, *more)])


@every_network
def test_a_network_on_a_graph_is_the_network_called_with_it(make):
    """Bit for bit, dropout included: only what is constant is computed before."""
    graph = some(2)
    network = make().double()
    network.dropout = 0.5
    for training in (True, False):
        network.train(training)
        torch.manual_seed(3)
        called = network(graph.x, graph.edge_index)
        torch.manual_seed(3)
        assert torch.equal(OnGraph(network, graph)(torch.tensor([4, 1])), called[[4, 1]])


@pytest.mark.parametrize("make", [NETWORKS["gcn"], NETWORKS["gat"], NETWORKS["chebyshev"]])
def test_sparse_features_have_the_gradient_of_dense_ones(make):
    """Features of a node that are 0 have a gradient too."""
    torch.manual_seed(1)
    network, edges = filled(make()).eval(), ring(40).edge_index
    x = torch.zeros(40, 3, dtype=torch.float64)
    x[0, 1] = 1.0
    x.requires_grad_()
    (found,) = torch.autograd.grad(network(x, edges)[5:8].sum(), x)
    step = torch.zeros_like(x)
    step[6, 2] = 1e-6
    with torch.no_grad():
        rise = (network(x + step, edges) - network(x - step, edges))[5:8].sum() / 2e-6
    torch.testing.assert_close(found[6, 2], rise, rtol=1e-6, atol=1e-8)
    assert found[6, 2] != 0


def test_two_layers_are_the_formula_of_the_notes():
    """Ā (Ā X W_0)₊ W_1, with Ā = D^{-1/2} (A + I) D^{-1/2} written out."""
    graph, network = some(4), GCN(3, [6], 4).double().eval()
    A = adjacency(graph).dense() + torch.eye(9)
    D = torch.diag(A.sum(1) ** -0.5)
    coupled = D @ A @ D
    W_0, W_1 = (layer.weight.T for layer in network.layers)
    expected = coupled @ (coupled @ graph.x @ W_0).relu() @ W_1
    torch.testing.assert_close(network(graph.x, graph.edge_index), expected)
    assert torch.linalg.matrix_norm(normalized_adjacency(graph).dense(), 2) <= 1 + 1e-12


@every_network
def test_numbering_the_nodes_anew_numbers_the_outputs_anew(make):
    """f(PX, PAPᵀ) = P f(X, A)."""
    torch.manual_seed(0)
    graph, network = some(5), make().double().eval()
    order = torch.randperm(9)  # node k of the new graph is node order[k] of the old one
    found = network(graph.x[order], order.argsort()[graph.edge_index])
    torch.testing.assert_close(found, network(graph.x, graph.edge_index)[order])


@pytest.mark.parametrize(
    ("make", "hops"),
    [
        (NETWORKS["gcn"], 3),
        (NETWORKS["gat"], 2),
        (NETWORKS["max"], 2),
        (lambda: ChebNet(3, [], 4, terms=4), 3),
        (lambda: PolynomialGNN(3, [], 4, terms=3), 2),
    ],
    ids=["gcn, three layers", "gat, two", "messages, two", "chebyshev, four terms", "L², one"],
)
def test_a_node_sees_as_many_hops_as_there_are_layers_or_powers_and_no_further(make, hops):
    torch.manual_seed(1)
    network = make().double().eval()
    edges = path(12)
    x = torch.randn(12, 3, dtype=torch.float64)

    def seen(m: int) -> bool:
        changed = x.clone()
        changed[m] += 1
        one, other = (network(t, edges)[0] for t in (x, changed))
        return not torch.equal(one, other)

    assert seen(hops) and not any(seen(m) for m in range(hops + 1, 12))


@given(st.integers(0, 50), st.lists(st.floats(-2, 2), min_size=1, max_size=5))
def test_a_polynomial_of_the_laplacian_is_a_filter_of_its_spectrum(seed, coefficients):
    """Σ α_k Lᵏ x = U (Σ α_k Λᵏ) Uᵀ x."""
    graph, alpha = some(seed), torch.tensor(coefficients, dtype=torch.float64)
    L = normalized_laplacian(graph)
    basis = fourier_basis(L)
    gains = sum(a * basis.frequencies**k for k, a in enumerate(alpha))
    expected = spectral_filter(basis, torch.as_tensor(gains), graph.x)
    torch.testing.assert_close(polynomial_filter(L, alpha, graph.x), expected)
    assert basis.frequencies.min() > -1e-9 and basis.frequencies.max() < 2 + 1e-9


def test_chebyshev_terms_have_the_cosines_as_gains():
    """T_k(cos θ) = cos kθ."""
    graph = some(7)
    L = scaled_laplacian(graph)
    basis = fourier_basis(L)
    angle = basis.frequencies.clamp(-1, 1).arccos()
    for k, term in enumerate(chebyshev(L, graph.x, 5)):
        torch.testing.assert_close(term, spectral_filter(basis, (k * angle).cos(), graph.x))


@pytest.mark.parametrize("nodes", [5, 8])
def test_the_fourier_basis_of_a_ring_is_the_discrete_fourier_transform(nodes):
    """L f = (2 - 2 cos 2πk/n) f for the waves f of frequency k, and the same power at each λ."""
    L = laplacian(ring(nodes))
    basis = fourier_basis(L)
    waves = np.exp(2j * np.pi * np.outer(np.arange(nodes), np.arange(nodes)) / nodes)
    frequency = 2 - 2 * np.cos(2 * np.pi * np.arange(nodes) / nodes)
    np.testing.assert_allclose(L.dense().numpy() @ waves, waves * frequency, atol=1e-12)
    np.testing.assert_allclose(np.sort(frequency), basis.frequencies, atol=1e-12)
    x = torch.randn(nodes, dtype=torch.float64)
    ours, theirs = (basis.U.T @ x).square().numpy(), np.abs(np.fft.fft(x.numpy())) ** 2 / nodes
    for value in np.unique(frequency.round(9)):
        mine = ours[np.isclose(basis.frequencies, value)].sum()
        assert math.isclose(mine, theirs[np.isclose(frequency, value)].sum(), rel_tol=1e-9)


def test_a_spectral_layer_is_a_filter_whose_gain_bends_at_the_knots():
    graph = some(3)
    layer = SpectralConv(3, 1, knots=4).double()
    basis = fourier_basis(normalized_laplacian(graph))
    found = layer(graph.x, graph.edge_index) - layer.bias
    knots = np.linspace(0, 2, 4)
    each = [
        spectral_filter(
            basis,
            torch.from_numpy(np.interp(basis.frequencies, knots, layer.theta[:, i, 0].detach())),
            graph.x[:, i : i + 1],
        )
        for i in range(3)
    ]
    torch.testing.assert_close(found, torch.stack(each).sum(0))


def test_the_attention_of_a_node_sums_to_one_and_is_even_among_equals():
    torch.manual_seed(2)
    graph = some(6)
    network = GAT(3, [6], 4, num_heads=(2, 1)).double().eval()
    for layer, heads in ((0, 2), (-1, 1)):
        edges, q = network.attention(graph.x, graph.edge_index, layer=layer)
        assert q.shape == (graph.num_edges + 9, heads)
        total = torch.zeros(9, heads, dtype=torch.float64).index_add(0, edges[1], q)
        torch.testing.assert_close(total, torch.ones(9, heads, dtype=torch.float64))
    _, q = network.attention(torch.ones(8, 3, dtype=torch.float64), ring(8).edge_index)
    torch.testing.assert_close(q, torch.full_like(q, 1 / 3))


@given(st.integers(0, 50))
def test_messages_are_gathered_as_written(seed):
    generator = torch.Generator().manual_seed(seed)
    sent, target = (
        torch.randn(9, 2, generator=generator),
        torch.randint(4, (9,), generator=generator),
    )
    for how, of in (("sum", torch.sum), ("mean", torch.mean), ("max", torch.amax)):
        found = aggregate(sent, target, 5, how)
        for m in range(5):
            own = sent[target == m]
            torch.testing.assert_close(found[m], of(own, 0) if len(own) else torch.zeros(2))


@given(st.integers(0, 50))
def test_a_sparse_product_has_the_gradients_of_the_dense_one(seed):
    generator = torch.Generator().manual_seed(seed)
    dense = torch.randn(5, 7, generator=generator, dtype=torch.float64)
    index = (torch.rand(5, 7, generator=generator) < 0.3).nonzero().T
    values = dense[index[0], index[1]].requires_grad_()
    h = torch.randn(7, 3, generator=generator, dtype=torch.float64, requires_grad=True)
    A = SparseMatrix(index, values.detach(), (5, 7))
    whole = torch.zeros(5, 7, dtype=torch.float64).index_put((index[0], index[1]), values)
    ours, expected = A.matmul(h, values), whole @ h
    assert_close([ours, *gradients(ours, h, values)], [expected, *gradients(expected, h, values)])
    torch.testing.assert_close(A.dense(), whole.detach())


@given(st.integers(0, 50), st.sampled_from([1.0, 300.0]))
def test_a_sparse_softmax_is_the_softmax_of_each_row(seed, scale):
    """Entries far apart neither overflow nor vanish together."""
    generator = torch.Generator().manual_seed(seed)
    index = (torch.rand(4, 6, generator=generator) < 0.6).nonzero().T
    e = (scale * torch.randn(index.shape[1], generator=generator).double()).requires_grad_()
    A = SparseMatrix(index, torch.ones(index.shape[1]), (4, 6))
    whole = torch.full((4, 6), -torch.inf).double().index_put((index[0], index[1]), e)
    ours, expected = A.softmax(e), whole.softmax(1)[index[0], index[1]]
    assert_close([ours, *gradients(ours, e)], [expected, *gradients(expected, e)])


def test_features_are_kept_sparse_where_that_is_cheaper():
    assert isinstance(as_matrix(torch.eye(20)), SparseMatrix)
    assert isinstance(as_matrix(torch.rand(20, 20)), DenseMatrix)


def test_what_no_network_can_be_is_refused():
    with pytest.raises(InputError, match="`hidden` must be"):
        GCN(3, [0], 2)
    with pytest.raises(InputError, match="heads"):
        GAT(3, [4], 2, num_heads=(2,))
    with pytest.raises(InputError, match="`terms` must be"):
        ChebNet(3, [4], 2, terms=0)
    with pytest.raises(InputError, match="no aggregation"):
        MPNN(3, [4], 2, "median")


def test_inputs_that_do_not_fit_are_refused():
    graph = some(0, edge_features=2)
    for network in (GAT(3, [4], 2), MPNN(3, [4], 2)):
        with pytest.raises(InputError, match="0 features per edge, got 2"):
            OnGraph(network, graph)
    for layer in (GATConv(3, 4, edge_features=1), MPNNConv(3, 4, edge_features=1)):
        with pytest.raises(InputError, match="1 features per edge, got 0"):
            layer(graph.x.float(), graph.edge_index)
    with pytest.raises(InputError, match="between nodes 0 and 2"):
        GCN(3, [4], 2)(torch.eye(3), torch.tensor([[0], [3]]))
    with pytest.raises(InputError, match="both directions"):
        SpectralGNN(3, [4], 2)(torch.eye(3), torch.tensor([[0, 1, 2], [1, 2, 0]]))
