"""Graph attention network: every node decides how much it listens to each neighbor.

    q_mn = softmax_n ρ(uᵀ [V x_m, V x_n, x_mn])           n over the neighbors of m and m itself
    h_m  = φ(Σ_n q_mn V x_n + b)

ρ is the leaky ReLU, φ the ELU, x_mn what is known of the edge, if anything; the loop of a node has
the mean features of the edges that end there. Since uᵀ[V x_m, V x_n] is a sum of two numbers, one
of each node, no pair of vectors is ever put together. K heads attend side by side, as on K copies
of the graph; hidden layers join their heads, the last one averages them. In training the inputs of
a layer, the q_mn and the V x_n in the sum are dropped at the given rate; the paper names the first
two, its authors' code has all three.

Veličković, Cucurull, Casanova, Romero, Liò and Bengio (2018), ICLR. Notes: J 7.4.
"""

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import init

from chainrule.errors import InputError
from chainrule.graphs import Graph, undirected
from chainrule.nn.dropout import dropout
from chainrule.nn.initialization import initialize
from chainrule.nn.laplacian import with_loops
from chainrule.nn.on_graph import OnGraph
from chainrule.nn.sparse import Dense, Matrix, Sparse, matrix, summed

SLOPE = 0.2  # of ρ below zero


class Attention(nn.Module):
    """One layer: heads of the same width, joined or averaged."""

    def __init__(self, inputs: int, width: int, heads: int, joined: bool, edge_features: int = 0):
        super().__init__()
        self.heads, self.width, self.joined = heads, width, joined
        self.V = initialize(nn.Linear(inputs, heads * width, bias=False), "xavier-uniform")
        self.u_target = nn.Parameter(init.xavier_uniform_(torch.empty(heads, width)))
        self.u_source = nn.Parameter(init.xavier_uniform_(torch.empty(heads, width)))
        self.u_edge = (
            nn.Parameter(init.xavier_uniform_(torch.empty(heads, edge_features)))
            if edge_features
            else None
        )
        self.b = nn.Parameter(torch.zeros(heads * width if joined else width))

    def coefficients(
        self, Vx: Float[Tensor, "nodes joint"], edges: Sparse, edge_x: Tensor | None
    ) -> Float[Tensor, " heads_edges"]:
        """q of all heads, one after the other, in the order of `edges`."""
        u = torch.cat([each_head(self.u_target), each_head(self.u_source)], 1)
        target, source = (Vx @ u).T.reshape(2, -1)
        e = target.index_select(0, edges.row) + source.index_select(0, edges.column)
        if self.u_edge is not None and edge_x is not None:
            e = e + (self.u_edge @ edge_x.T).flatten()
        return edges.softmax(F.leaky_relu(e, SLOPE))

    def forward(
        self, Vx: Float[Tensor, "nodes joint"], edges: Sparse, edge_x: Tensor | None, rate: float
    ) -> Float[Tensor, "nodes outputs"]:
        """Σ_n q_mn V x_n + b."""
        q = dropout(self.coefficients(Vx, edges, edge_x), rate, self.training)
        z = dropout(Vx, rate, self.training).view(-1, self.heads, self.width)
        z = z.transpose(0, 1).flatten(0, 1)
        h = edges.times(z, q).view(self.heads, -1, self.width)
        return (h.transpose(0, 1).flatten(1) if self.joined else h.mean(0)) + self.b


class GAT(nn.Module):
    """Attention layers with ELUs between them; `OnGraph` puts it on a graph."""

    def __init__(
        self,
        inputs: int,
        hidden: Sequence[int],
        outputs: int,
        heads: Sequence[int] = (8, 1),
        dropout: float = 0.6,
        edge_features: int = 0,
    ):
        super().__init__()
        widths = [*hidden, outputs]
        if len(heads) != len(widths) or min([inputs, *widths, *heads]) < 1 or not 0 <= dropout < 1:
            raise InputError(
                f"expected a width and a number of heads of at least 1 for each of the "
                f"{len(widths)} layers and a dropout from 0 to below 1, got widths {widths}, heads "
                f"{list(heads)}, dropout {dropout}"
            )
        self.heads, self.rate, self.edge_features = tuple(heads), dropout, edge_features
        sizes = [inputs, *(width * k for width, k in zip(hidden, heads, strict=False))]
        last = len(widths) - 1
        self.layers = nn.ModuleList(
            Attention(size, width, k, joined=place < last, edge_features=edge_features)
            for place, (size, width, k) in enumerate(zip(sizes, widths, heads, strict=True))
        )

    def views(self, graph: Graph) -> nn.ModuleDict:
        """X, the copies of A + I that each layer's heads attend on, and the edges' features."""
        known = 0 if graph.edge_x is None else graph.edge_x.shape[1]
        if known != self.edge_features:
            raise InputError(
                f"this network reads {self.edge_features} features per edge, the graph has {known}"
            )
        views = {
            "x": matrix(graph.x),
            "edges": nn.ModuleList(copies(graph, k) for k in self.heads),
        }
        if graph.edge_x is not None:
            views["edge_x"] = Dense(edge_features(graph))
        return nn.ModuleDict(views)

    def forward(
        self, x: Matrix, edges: nn.ModuleList, edge_x: Dense | None = None
    ) -> Float[Tensor, "nodes outputs"]:
        return self.outputs(x, edges, edge_x)[-1]

    def hidden(
        self, x: Matrix, edges: nn.ModuleList, edge_x: Dense | None = None
    ) -> Float[Tensor, "nodes width"]:
        """What the last layer sees: an embedding of the nodes."""
        return (x.dense(), *self.outputs(x, edges, edge_x))[-2]

    def outputs(self, x: Matrix, edges: nn.ModuleList, edge_x: Dense | None) -> list[Tensor]:
        """Of every layer, after its nonlinearity; the last one has none."""
        known = None if edge_x is None else edge_x.values
        found: list[Tensor] = []
        for layer, near in zip(self.layers, edges, strict=True):
            found[-1:] = [F.elu(h) for h in found[-1:]]
            found.append(layer(self.projected(layer, x, found), near, known, self.rate))
        return found

    def projected(self, layer: Any, x: Matrix, found: list[Tensor]) -> Tensor:
        """V x of the layer's inputs with dropout: X, or the outputs of the layer before."""
        V = layer.V.weight.T
        if not found:
            return x.times(V, dropout(x.values, self.rate, self.training))
        return dropout(found[-1], self.rate, self.training) @ V

    def attention(
        self, x: Matrix, edges: nn.ModuleList, edge_x: Dense | None = None, place: int = 0
    ) -> Float[Tensor, "heads edges"]:
        """q of the layer at this place, the last one at -1, for the entries of its `edges`."""
        layer: Any = self.layers[place]
        found = self.outputs(x, edges, edge_x)[:place]
        known = None if edge_x is None else edge_x.values
        q = layer.coefficients(self.projected(layer, x, found), edges[place], known)
        return q.view(layer.heads, -1)


def each_head(u: Float[Tensor, "heads width"]) -> Float[Tensor, "joint heads"]:
    """u as a matrix that takes V x of all heads to one number for each: a block for every head."""
    return torch.diag_embed(u.T).transpose(0, 1).flatten(0, 1)


def copies(graph: Graph, heads: int) -> Sparse:
    """The places of A + I, once for each head: a block-diagonal matrix."""
    index = with_loops(graph)
    places = (torch.arange(heads) * graph.nodes).repeat_interleave(index.shape[1])
    repeated = index.repeat(1, heads) + places.to(index.device)
    side = heads * graph.nodes
    return Sparse(repeated, graph.x.new_ones(repeated.shape[1]), (side, side))


def edge_features(graph: Graph) -> Float[Tensor, "edges features"]:
    """Of the edges in the order of `copies`; a loop has the mean of the edges that end there."""
    assert graph.edge_x is not None
    between = graph.edge_index[0] != graph.edge_index[1]
    known, target = graph.edge_x[between], graph.edge_index[1, between]
    total = torch.stack([summed(column, target, graph.nodes) for column in known.T], 1)
    degree = target.bincount(minlength=graph.nodes).clamp_min(1)[:, None]
    index = with_loops(graph)
    order = (index[0] * graph.nodes + index[1]).argsort(stable=True)
    return torch.cat([known, total / degree])[order]


def example() -> tuple[OnGraph, Tensor]:
    """Two layers on a ring of eight nodes with a chord, asked for five of them."""
    ring = torch.stack([torch.arange(8), (torch.arange(8) + 1) % 8])
    edge_index = undirected(torch.cat([ring, torch.tensor([[0], [4]])], 1))
    lengths = (edge_index[0] - edge_index[1]).abs().float()[:, None]
    graph = Graph(torch.eye(8), edge_index, lengths)
    return OnGraph(GAT(8, [4], 3, heads=(2, 2), edge_features=1), graph), torch.arange(5)
