"""One small value for every graph: the features of its nodes, and its edges.

Field names are those of PyTorch Geometric. An undirected edge is two columns of `edge_index`, one
in each direction. Many graphs are one disconnected graph (`union`): no message passes between its
parts. Notes: J 7.4.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from chainrule.errors import InputError

if TYPE_CHECKING:
    import networkx
    from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """Nodes with features, joined by directed edges.

    Args:
        x: Features of the nodes, (nodes, features).
        edge_index: Source and target of each edge, (2, edges).
        edge_weight: Weight a_mn of each edge n → m, (edges,); None means 1.
        edge_attr: Features of each edge, (edges, features).
        batch: Number of the graph of each node, ascending from 0 without a gap.

    >>> Graph(torch.eye(3), undirected(torch.tensor([[0, 1], [1, 2]])))
    Graph(3 nodes with 3 features, 4 directed edges)
    """

    x: Float[Tensor, "nodes features"]
    edge_index: Int[Tensor, "2 edges"]
    _: KW_ONLY
    edge_weight: Float[Tensor, " edges"] | None = None
    edge_attr: Float[Tensor, "edges edge_features"] | None = None
    batch: Int[Tensor, " nodes"] | None = None

    def __post_init__(self) -> None:
        for name in ("x", "edge_index", "edge_weight", "edge_attr", "batch"):
            value = getattr(self, name)
            if not isinstance(value, Tensor) and (value is not None or name in ("x", "edge_index")):
                raise InputError(f"expected {name} to be a tensor, got {type(value).__name__}")
        if self.x.ndim != 2:
            raise InputError(f"expected x (nodes, features), got {tuple(self.x.shape)}")
        check_edges(self.edge_index, self.num_nodes)
        check_per_edge("edge_weight", self.edge_weight, self.num_edges, ndim=1)
        check_per_edge("edge_attr", self.edge_attr, self.num_edges, ndim=2)
        if self.batch is not None:
            check_batch(self.batch, self.num_nodes)

    @property
    def num_nodes(self) -> int:
        return len(self.x)

    @property
    def num_edges(self) -> int:
        """Columns of `edge_index`: an undirected edge counts twice."""
        return self.edge_index.shape[1]

    @property
    def num_graphs(self) -> int:
        return 1 if self.batch is None else int(self.batch[-1]) + 1

    @property
    def num_edge_features(self) -> int:
        return 0 if self.edge_attr is None else self.edge_attr.shape[1]

    @property
    def graph_of_node(self) -> Int[Tensor, " nodes"]:
        """`batch`, or zeros for a single graph."""
        if self.batch is not None:
            return self.batch
        return torch.zeros(self.num_nodes, dtype=torch.int64, device=self.x.device)

    def __repr__(self) -> str:
        many = f"{self.num_graphs} graphs, " if self.batch is not None else ""
        weighted = "weighted " if self.edge_weight is not None else ""
        known = f" with {self.num_edge_features} features" if self.edge_attr is not None else ""
        return (
            f"Graph({many}{self.num_nodes} nodes with {self.x.shape[1]} features, "
            f"{self.num_edges} {weighted}directed edges{known})"
        )


def check_edges(edge_index: Tensor, nodes: int) -> None:
    """Integers (2, edges) from 0 to nodes - 1."""
    if edge_index.ndim != 2 or len(edge_index) != 2 or edge_index.is_floating_point():
        got = f"{edge_index.dtype} {tuple(edge_index.shape)}"
        raise InputError(f"expected an integer edge_index (2, edges), got {got}")
    low, high = (int(end) for end in edge_index.aminmax()) if edge_index.numel() else (0, 0)
    if low < 0 or high >= max(nodes, 1):
        raise InputError(
            f"expected edges between nodes 0 and {nodes - 1}, got numbers from {low} to {high}"
        )


def check_per_edge(name: str, values: Tensor | None, edges: int, ndim: int) -> None:
    """One number or one row for each edge, if there is anything."""
    if values is not None and (values.ndim != ndim or len(values) != edges):
        raise InputError(
            f"expected {name} with one {'number' if ndim == 1 else 'row'} for each of the {edges} "
            f"edges, got shape {tuple(values.shape)}"
        )


def check_batch(batch: Tensor, nodes: int) -> None:
    """Graph numbers ascend from 0 without a gap, so that every graph is a slice of the nodes."""
    steps = batch.diff()
    gapless = batch.shape == (nodes,) and nodes and ((steps == 0) | (steps == 1)).all()
    if not gapless or batch[0] != 0:
        raise InputError(
            f"expected batch to hold one graph number for each of the {nodes} nodes, ascending "
            f"from 0 without a gap, got {batch.tolist()[:10]}{' …' * (len(batch) > 10)}"
        )


def undirected(pairs: Int[Tensor, "2 pairs"]) -> Int[Tensor, "2 edges"]:
    """Both directions of every pair once, without self-loops, sorted by target, then source."""
    both = torch.cat([pairs, pairs.flip(0)], 1)
    both = both[:, both[0] != both[1]]
    return both.flip(0).unique(dim=1).flip(0)


def path(nodes: int) -> Int[Tensor, "2 edges"]:
    """The edges 0 - 1 - … - (nodes - 1), in both directions."""
    return undirected(torch.stack([torch.arange(nodes - 1), torch.arange(1, nodes)]))


def union(graphs: Sequence[Graph]) -> Graph:
    """The disjoint union of single graphs, nodes numbered consecutively, with `batch`."""
    if not graphs or any(g.batch is not None or not g.num_nodes for g in graphs):
        raise InputError("expected one or more single graphs with nodes to join")
    kinds = {(g.x.shape[1], g.num_edge_features, g.edge_weight is None) for g in graphs}
    if len(kinds) > 1:
        raise InputError("expected graphs with equally many features, all or none weighted")
    sizes = torch.tensor([g.num_nodes for g in graphs])
    starts = (sizes.cumsum(0) - sizes).tolist()
    weights = [g.edge_weight for g in graphs if g.edge_weight is not None]
    known = [g.edge_attr for g in graphs if g.edge_attr is not None]
    return Graph(
        torch.cat([g.x for g in graphs]),
        torch.cat([g.edge_index + start for g, start in zip(graphs, starts, strict=True)], 1),
        edge_weight=torch.cat(weights) if weights else None,
        edge_attr=torch.cat(known) if known else None,
        batch=torch.arange(len(graphs)).repeat_interleave(sizes),
    )


def select(graph: Graph, which: Int[Tensor, " chosen"]) -> Graph:
    """The union of the graphs with these numbers, in this order; a number may repeat."""
    owner = graph.graph_of_node
    sizes = owner.bincount()
    nodes, batch = slices(sizes, which)
    group = owner.index_select(0, graph.edge_index[1])
    edges, of = slices(group.bincount(minlength=len(sizes)), which)
    if (group.diff() < 0).any():  # `slices` needs the edges graph by graph
        edges = group.argsort(stable=True)[edges]
    starts, moved = sizes.cumsum(0) - sizes, sizes[which].cumsum(0) - sizes[which]
    return Graph(
        graph.x[nodes],
        graph.edge_index[:, edges] + (moved - starts[which])[of],
        edge_weight=None if graph.edge_weight is None else graph.edge_weight[edges],
        edge_attr=None if graph.edge_attr is None else graph.edge_attr[edges],
        batch=batch,
    )


def slices(sizes: Tensor, which: Tensor) -> tuple[Tensor, Tensor]:
    """Of items stored group by group: the indices of the chosen groups, and each item's group."""
    starts, wanted = sizes.cumsum(0) - sizes, sizes[which]
    part = torch.arange(len(which), device=sizes.device).repeat_interleave(wanted)
    within = torch.arange(len(part), device=sizes.device) - (wanted.cumsum(0) - wanted)[part]
    return starts[which][part] + within, part


def separate(graph: Graph) -> list[Graph]:
    """The graphs of a union, one by one."""
    numbers = torch.arange(graph.num_graphs)
    return [replace(select(graph, k), batch=None) for k in numbers.split(1)]


def to_scipy(graph: Graph) -> "csr_array":
    """The adjacency matrix A: a_mn is the weight of the edge n → m; parallel edges add up."""
    from scipy.sparse import coo_array

    source, target = graph.edge_index.numpy(force=True)
    weight = torch.ones(graph.num_edges) if graph.edge_weight is None else graph.edge_weight
    entries = (weight.numpy(force=True), (target, source))
    return coo_array(entries, shape=(graph.num_nodes, graph.num_nodes)).tocsr()


def from_scipy(adjacency: Any, x: Float[Tensor, "nodes features"]) -> Graph:
    """The graph of a sparse adjacency matrix; unless all entries are 1, they become weights."""
    if not hasattr(adjacency, "tocsr"):
        raise InputError(f"expected a sparse matrix of SciPy, got {type(adjacency).__name__}")
    found = adjacency.tocsr().tocoo()
    if found.shape != (len(x), len(x)):
        raise InputError(f"expected a matrix ({len(x)}, {len(x)}) for x, got {found.shape}")
    target, source, weight = (torch.as_tensor(part) for part in (found.row, found.col, found.data))
    edge_index = torch.stack([source, target]).long()
    return Graph(x, edge_index, edge_weight=None if weight.eq(1).all() else weight.to(x.dtype))


def to_networkx(graph: Graph) -> "networkx.DiGraph":
    """Nodes 0, 1, … with attribute x, edges with attributes weight and edge_attr where known."""
    import networkx

    found = networkx.DiGraph()
    found.add_nodes_from((m, {"x": row}) for m, row in enumerate(graph.x.tolist()))
    ends = [tuple(pair) for pair in graph.edge_index.T.tolist()]
    found.add_edges_from(ends)
    for name, values in (("weight", graph.edge_weight), ("edge_attr", graph.edge_attr)):
        if values is not None:
            known = dict(zip(ends, values.tolist(), strict=True))
            networkx.set_edge_attributes(found, known, name)
    return found


def from_networkx(
    source: "networkx.Graph",
    x: Float[Tensor, "nodes features"] | None = None,
    weight: str | None = None,
) -> Graph:
    """The graph with its nodes in networkx's order.

    Args:
        source: A graph without parallel edges; an undirected edge becomes two.
        x: Features of the nodes; by default their attribute x.
        weight: Name of the edge attribute with the weights, 1 where an edge lacks it.
    """
    if source.is_multigraph():
        raise InputError("expected a graph without parallel edges, got a networkx multigraph")
    number = {node: m for m, node in enumerate(source)}
    rows = [known.get("x") for _, known in source.nodes(data=True)]
    if x is None and (not rows or any(row is None for row in rows)):
        raise InputError("expected x, or an attribute x at every node of the networkx graph")
    x = torch.tensor(rows, dtype=torch.float32) if x is None else x
    pairs = [(number[n], number[m], known) for n, m, known in source.edges(data=True)]
    if not source.is_directed():
        pairs += [(m, n, known) for n, m, known in pairs if n != m]
    pairs.sort(key=lambda pair: (pair[1], pair[0]))
    ends = torch.tensor([pair[:2] for pair in pairs], dtype=torch.int64).reshape(-1, 2).T
    known = [own for *_, own in pairs]
    weights = [] if weight is None else [own.get(weight, 1.0) for own in known]
    rows = [own["edge_attr"] for own in known if "edge_attr" in own]
    return Graph(
        x,
        ends.contiguous(),
        edge_weight=None if weight is None else torch.tensor(weights, dtype=x.dtype),
        edge_attr=torch.tensor(rows, dtype=x.dtype) if rows and len(rows) == len(known) else None,
    )
