"""Graph attention network: each node weighs its neighbors by learned attention.

    q_mn = softmax_n ρ(uᵀ [V x_m, V x_n, x_mn])           n over the neighbors of m and m itself
    h_m  = φ(Σ_n q_mn V x_n + b)

ρ is the leaky ReLU, φ the ELU, x_mn the features of the edge n → m, if any; a node's self-loop has
the mean features of its incoming edges. K heads attend in parallel, as on K copies of the graph;
hidden layers concatenate their heads, the last one averages them.

Veličković, Cucurull, Casanova, Romero, Liò and Bengio (2018), ICLR. Notes: J 7.4.
"""

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import init

from chainrule.arguments import Count, Natural, Rate, checked
from chainrule.errors import InputError
from chainrule.graphs import Graph, path
from chainrule.nn.dropout import dropout
from chainrule.nn.initialization import initialize
from chainrule.nn.kernels.sparse import DenseMatrix, Matrix, SparseMatrix, as_matrix, summed
from chainrule.nn.laplacian import off_diagonal, with_diagonal
from chainrule.nn.on_graph import OnGraph, check_edge_features

SLOPE = 0.2  # of ρ below zero


@checked
class GATConv(nn.Module):
    """One graph attention layer.

        q_mn = softmax_n ρ(uᵀ [V x_m, V x_n, x_mn]),   h_m = Σ_n q_mn V x_n + b

    Args:
        in_features: Features of a node.
        out_features: Outputs of each head.
        num_heads: Number of heads.
        concat: Whether the heads are concatenated; otherwise they are averaged.
        dropout: Dropout probability of the q_mn and of the V x_n in the sum.
        edge_features: Features of an edge.

    >>> edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> GATConv(3, 5, num_heads=2)(torch.eye(3), edge_index).shape
    torch.Size([3, 10])
    """

    def __init__(
        self,
        in_features: Count,
        out_features: Count,
        num_heads: Count = 1,
        concat: bool = True,
        dropout: Rate = 0.0,
        edge_features: Natural = 0,
    ):
        super().__init__()
        self.num_heads, self.out_features, self.concat = num_heads, out_features, concat
        self.dropout, self.edge_features = dropout, edge_features
        V = nn.Linear(in_features, num_heads * out_features, bias=False)
        self.V = initialize(V, "xavier-uniform")
        self.u_target = vectors(num_heads, out_features)
        self.u_source = vectors(num_heads, out_features)
        self.u_edge = vectors(num_heads, edge_features) if edge_features else None
        self.bias = nn.Parameter(torch.zeros(num_heads * out_features if concat else out_features))

    def forward(
        self,
        x: Float[Tensor, "nodes in_features"],
        edge_index: Int[Tensor, "2 edges"],
        edge_attr: Float[Tensor, "edges edge_features"] | None = None,
    ) -> Float[Tensor, "nodes outputs"]:
        graph = Graph(x, edge_index, edge_attr=edge_attr)
        return self.propagate(self.V(x), *self.structure(graph))

    def attention(
        self,
        x: Float[Tensor, "nodes in_features"],
        edge_index: Int[Tensor, "2 edges"],
        edge_attr: Float[Tensor, "edges edge_features"] | None = None,
    ) -> tuple[Int[Tensor, "2 all"], Float[Tensor, "all heads"]]:
        """The edges with self-loops, sorted by target, and q_mn of every head for each of them."""
        edges, known = self.structure(Graph(x, edge_index, edge_attr=edge_attr))
        q = self.coefficients(self.V(x), edges, known).view(self.num_heads, -1).T
        return torch.stack([edges.column, edges.row])[:, : len(q)], q

    def structure(self, graph: Graph) -> tuple[SparseMatrix, Tensor | None]:
        """The copies of A + I for the heads, and the features of its entries."""
        check_edge_features(graph.edge_attr, self.edge_features)
        return head_copies(graph, self.num_heads), loop_features(graph)

    def propagate(
        self,
        Vx: Float[Tensor, "nodes joint"],
        edges: SparseMatrix,
        edge_attr: Float[Tensor, "entries edge_features"] | None,
    ) -> Float[Tensor, "nodes outputs"]:
        """Σ_n q_mn V x_n + b for the `structure` of a graph."""
        q = dropout(self.coefficients(Vx, edges, edge_attr), self.dropout, self.training)
        z = dropout(Vx, self.dropout, self.training).view(-1, self.num_heads, self.out_features)
        z = z.transpose(0, 1).flatten(0, 1)
        h = edges.matmul(z, q).view(self.num_heads, -1, self.out_features)
        return (h.transpose(0, 1).flatten(1) if self.concat else h.mean(0)) + self.bias

    def coefficients(
        self, Vx: Float[Tensor, "nodes joint"], edges: SparseMatrix, edge_attr: Tensor | None
    ) -> Float[Tensor, " entries"]:
        """q_mn of one head after the other, in the order of the entries of `edges`."""
        u = torch.cat([block_diagonal(self.u_target), block_diagonal(self.u_source)], 1)
        target, source = (Vx @ u).T.reshape(2, -1)
        e = target.index_select(0, edges.row) + source.index_select(0, edges.column)
        if self.u_edge is not None and edge_attr is not None:
            e = e + (self.u_edge @ edge_attr.T).flatten()
        return edges.softmax(F.leaky_relu(e, SLOPE))


@checked
class GAT(nn.Module):
    """Graph attention network, with ELUs φ between the layers.

        q_mn = softmax_n ρ(uᵀ [V x_m, V x_n, x_mn]),   h_m = φ(Σ_n q_mn V x_n + b)

    Dropout acts on the inputs of each layer, the q_mn and the V x_n in the sum; the paper names the
    first two, its authors' code has all three.

    Args:
        in_features: Features of a node.
        hidden: Outputs of each head of the hidden layers.
        out_features: Outputs of a node.
        num_heads: Number of heads of every layer.
        dropout: Dropout probability.
        edge_features: Features of an edge.

    >>> edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> GAT(3, [8], 2, num_heads=(4, 1))(torch.eye(3), edge_index).shape
    torch.Size([3, 2])
    """

    def __init__(
        self,
        in_features: Count,
        hidden: Sequence[Count],
        out_features: Count,
        num_heads: Sequence[Count] = (8, 1),
        dropout: Rate = 0.6,
        edge_features: Natural = 0,
    ):
        super().__init__()
        widths, heads = [*hidden, out_features], list(num_heads)
        if len(heads) != len(widths):
            raise InputError(
                f"expected num_heads for each of the {len(widths)} layers, got {heads}"
            )
        self.dropout = dropout
        sizes = [in_features, *(width * k for width, k in zip(hidden, heads, strict=False))]
        concat = [True] * len(hidden) + [False]
        self.layers = nn.ModuleList(
            GATConv(*each, dropout, edge_features)
            for each in zip(sizes, widths, heads, concat, strict=True)
        )

    def forward(
        self,
        x: Float[Tensor, "nodes in_features"],
        edge_index: Int[Tensor, "2 edges"],
        edge_attr: Float[Tensor, "edges edge_features"] | None = None,
    ) -> Float[Tensor, "nodes out_features"]:
        graph = Graph(x, edge_index, edge_attr=edge_attr)
        return self.layer_outputs(**self.precompute(graph))[-1]

    def attention(
        self,
        x: Float[Tensor, "nodes in_features"],
        edge_index: Int[Tensor, "2 edges"],
        edge_attr: Float[Tensor, "edges edge_features"] | None = None,
        layer: int = -1,
    ) -> tuple[Int[Tensor, "2 all"], Float[Tensor, "all heads"]]:
        """The edges with self-loops, sorted by target, and q_mn of every head of a layer."""
        graph = Graph(x, edge_index, edge_attr=edge_attr)
        inputs = [x, *self.layer_outputs(**self.precompute(graph))[:-1]][layer]
        conv: Any = self.layers[layer]
        return conv.attention(inputs, edge_index, edge_attr)

    def precompute(self, graph: Graph) -> nn.ModuleDict:
        """X, the copies of A + I for the heads of each layer, and the features of its entries."""
        layers: Any = self.layers
        copies, known = zip(*(layer.structure(graph) for layer in layers), strict=True)
        constants = nn.ModuleDict({"x": as_matrix(graph.x), "edges": nn.ModuleList(copies)})
        if known[0] is not None:
            constants["edge_attr"] = DenseMatrix(known[0])
        return constants

    def layer_outputs(
        self, x: Matrix, edges: nn.ModuleList, edge_attr: DenseMatrix | None = None
    ) -> list[Tensor]:
        """Outputs of every layer; hidden ones after their ELU."""
        known = None if edge_attr is None else edge_attr.values
        layers: Any = self.layers
        Vx = x.matmul(layers[0].V.weight.T, dropout(x.values, self.dropout, self.training))
        outputs = [layers[0].propagate(Vx, edges[0], known)]
        for layer, copies in zip(layers[1:], edges[1:], strict=True):
            outputs[-1] = F.elu(outputs[-1])
            h = dropout(outputs[-1], self.dropout, self.training)
            outputs.append(layer.propagate(layer.V(h), copies, known))
        return outputs


def vectors(heads: int, width: int) -> nn.Parameter:
    """One u for each head, drawn by Glorot's law."""
    return nn.Parameter(init.xavier_uniform_(torch.empty(heads, width)))


def block_diagonal(u: Float[Tensor, "heads width"]) -> Float[Tensor, "joint heads"]:
    """u as a matrix that maps V x of all heads to one number for each: a block for every head."""
    return torch.diag_embed(u.T).transpose(0, 1).flatten(0, 1)


def head_copies(graph: Graph, heads: int) -> SparseMatrix:
    """A + I once for each head: a block-diagonal matrix."""
    index = with_diagonal(graph, off_diagonal(graph)[0])
    starts = (torch.arange(heads) * graph.num_nodes).repeat_interleave(index.shape[1])
    repeated = index.repeat(1, heads) + starts.to(index.device)
    side = heads * graph.num_nodes
    return SparseMatrix(repeated, graph.x.new_ones(repeated.shape[1]), (side, side))


def loop_features(graph: Graph) -> Float[Tensor, "entries features"] | None:
    """x_mn in the order of one of the `head_copies`, self-loops with the mean of their node."""
    if graph.edge_attr is None:
        return None
    between = graph.edge_index[0] != graph.edge_index[1]
    known, (index, _) = graph.edge_attr[between], off_diagonal(graph)
    total = torch.stack([summed(column, index[0], graph.num_nodes) for column in known.T], 1)
    degree = index[0].bincount(minlength=graph.num_nodes).clamp_min(1)[:, None]
    row, column = with_diagonal(graph, index)
    order = (row * graph.num_nodes + column).argsort(stable=True)
    return torch.cat([known, total / degree])[order]


def example() -> tuple[OnGraph, Tensor]:
    """A network on a path of eight nodes with an edge feature, and five of the nodes."""
    edge_index = path(8)
    middle = edge_index.float().mean(0)[:, None]
    graph = Graph(torch.eye(8), edge_index, edge_attr=middle)
    return OnGraph(GAT(8, [4], 3, num_heads=(2, 2), edge_features=1), graph), torch.arange(5)
