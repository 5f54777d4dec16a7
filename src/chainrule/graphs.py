"""One small value for every graph: what its nodes know, and which of them are joined.

    x           (nodes, features)      what is known of each node
    edge_index  (2, edges)             a column (n, m): node n sends to node m
    edge_x      (edges, features)      what is known of each edge, if anything
    batch       (nodes,)               which graph a node belongs to, if there are many in one

An undirected edge is two columns, one each way. Many graphs are one graph of several parts, whose
nodes are numbered on (`union`); nothing that looks along edges can tell. Notes: J 7.4.
"""

from collections.abc import Sequence
from dataclasses import dataclass
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
    """Nodes with features, joined by directed edges."""

    x: Float[Tensor, "nodes features"]
    edge_index: Int[Tensor, "2 edges"]
    edge_x: Float[Tensor, "edges edge_features"] | None = None
    batch: Int[Tensor, " nodes"] | None = None

    def __post_init__(self) -> None:
        ends, nodes = self.edge_index, len(self.x)
        if self.x.ndim != 2 or ends.ndim != 2 or len(ends) != 2 or ends.is_floating_point():
            raise InputError(
                "expected x (nodes, features) and a whole-numbered edge_index (2, edges), got "
                f"{tuple(self.x.shape)} and {str(ends.dtype).removeprefix('torch.')} "
                f"{tuple(ends.shape)}"
            )
        if ends.numel() and not 0 <= int(ends.min()) <= int(ends.max()) < nodes:
            raise InputError(
                f"expected edges between nodes 0 to {nodes - 1}, got ends from {int(ends.min())} "
                f"to {int(ends.max())}"
            )
        if self.edge_x is not None and (self.edge_x.ndim != 2 or len(self.edge_x) != self.edges):
            raise InputError(
                f"expected edge_x ({self.edges}, features), got {tuple(self.edge_x.shape)}"
            )
        if self.batch is not None:
            check_batch(self.batch, nodes)

    @property
    def nodes(self) -> int:
        return len(self.x)

    @property
    def edges(self) -> int:
        """Columns of `edge_index`: an undirected edge counts twice."""
        return self.edge_index.shape[1]

    @property
    def graphs(self) -> int:
        """How many graphs are joined in this one."""
        return 1 if self.batch is None else int(self.batch[-1]) + 1

    @property
    def graph_of_node(self) -> Int[Tensor, " nodes"]:
        """`batch`, or zeros where there is one graph only."""
        if self.batch is not None:
            return self.batch
        return torch.zeros(self.nodes, dtype=torch.int64, device=self.x.device)

    def __repr__(self) -> str:
        many = f"{self.graphs} graphs, " if self.batch is not None else ""
        known = f", {self.edge_x.shape[1]} features each" if self.edge_x is not None else ""
        return (
            f"Graph({many}{self.nodes} nodes, {self.x.shape[1]} features each; "
            f"{self.edges} directed edges{known})"
        )


def check_batch(batch: Tensor, nodes: int) -> None:
    """Graph numbers ascend from 0 without a gap, so that every graph is a slice of the nodes."""
    steps = batch.diff()
    if (
        batch.shape != (nodes,)
        or not nodes
        or batch[0] != 0
        or not ((steps == 0) | (steps == 1)).all()
    ):
        raise InputError(
            f"expected one graph number for each of the {nodes} nodes, ascending from 0 without a "
            f"gap, got {batch.tolist()[:10]}{' …' * (len(batch) > 10)}"
        )


def undirected(pairs: Int[Tensor, "2 pairs"]) -> Int[Tensor, "2 edges"]:
    """Both directions of every pair, each once, without loops, sorted by target, then source."""
    both = torch.cat([pairs, pairs.flip(0)], 1)
    both = both[:, both[0] != both[1]]
    return both.flip(0).unique(dim=1).flip(0)


def union(graphs: Sequence[Graph]) -> Graph:
    """Many graphs as one, their nodes numbered on; `batch` says whose each node is."""
    if not graphs or any(g.batch is not None or not g.nodes for g in graphs):
        raise InputError("expected one or more single graphs with nodes to join")
    kinds = {(g.x.shape[1], None if g.edge_x is None else g.edge_x.shape[1]) for g in graphs}
    if len(kinds) > 1:
        raise InputError(
            f"expected graphs with equally many features, got {sorted(map(str, kinds))}"
        )
    sizes = torch.tensor([g.nodes for g in graphs])
    starts = (sizes.cumsum(0) - sizes).tolist()
    known = [g.edge_x for g in graphs if g.edge_x is not None]
    return Graph(
        torch.cat([g.x for g in graphs]),
        torch.cat([g.edge_index + start for g, start in zip(graphs, starts, strict=True)], 1),
        torch.cat(known) if known else None,
        torch.arange(len(graphs)).repeat_interleave(sizes),
    )


def select(graph: Graph, which: Int[Tensor, " chosen"]) -> Graph:
    """The graphs of these numbers, in this order, as one; a number may occur more than once."""
    owner = graph.graph_of_node
    sizes = owner.bincount()
    nodes, batch = slices(sizes, which)
    group = owner.index_select(0, graph.edge_index[1])
    edges, of = slices(group.bincount(minlength=len(sizes)), which)
    if (group.diff() < 0).any():  # a union has its edges graph by graph
        edges = group.argsort(stable=True)[edges]
    starts, moved = sizes.cumsum(0) - sizes, sizes[which].cumsum(0) - sizes[which]
    ends = graph.edge_index[:, edges] + (moved - starts[which])[of]
    known = None if graph.edge_x is None else graph.edge_x[edges]
    return Graph(graph.x[nodes], ends, known, batch)


def slices(sizes: Tensor, which: Tensor) -> tuple[Tensor, Tensor]:
    """Of things laid out group after group, those of the groups asked for, and whose each is."""
    starts, wanted = sizes.cumsum(0) - sizes, sizes[which]
    part = torch.arange(len(which), device=sizes.device).repeat_interleave(wanted)
    within = torch.arange(len(part), device=sizes.device) - (wanted.cumsum(0) - wanted)[part]
    return starts[which][part] + within, part


def separate(graph: Graph) -> list[Graph]:
    """The graphs of a union, one by one."""
    parts = (select(graph, torch.tensor([k])) for k in range(graph.graphs))
    return [Graph(g.x, g.edge_index, g.edge_x) for g in parts]


def to_scipy(graph: Graph) -> "csr_array":
    """The adjacency matrix A, a_mn = 1 where n sends to m; parallel edges add up."""
    from scipy.sparse import coo_array

    source, target = graph.edge_index.numpy(force=True)
    ones = torch.ones(graph.edges).numpy()
    return coo_array((ones, (target, source)), shape=(graph.nodes, graph.nodes)).tocsr()


def from_scipy(adjacency: Any, x: Float[Tensor, "nodes features"]) -> Graph:
    """The graph of a sparse adjacency matrix; entries that are not 1 become edge features."""
    found = adjacency.tocsr().tocoo()
    if found.shape != (len(x), len(x)):
        raise InputError(f"expected a matrix ({len(x)}, {len(x)}) for x, got {found.shape}")
    target, source, weight = (torch.as_tensor(part) for part in (found.row, found.col, found.data))
    known = None if weight.eq(1).all() else weight.float()[:, None]
    return Graph(x, torch.stack([source, target]).long(), known)


def to_networkx(graph: Graph) -> "networkx.DiGraph":
    """Nodes 0, 1, … with the attribute x, edges with edge_x where there are edge features."""
    import networkx

    found = networkx.DiGraph()
    found.add_nodes_from((m, {"x": row}) for m, row in enumerate(graph.x.tolist()))
    known = [{}] * graph.edges if graph.edge_x is None else graph.edge_x.tolist()
    ends = zip(*graph.edge_index.tolist(), strict=True)
    found.add_edges_from(
        (n, m, {} if graph.edge_x is None else {"edge_x": row})
        for (n, m), row in zip(ends, known, strict=True)
    )
    return found


def from_networkx(
    source: "networkx.Graph", x: Float[Tensor, "nodes features"] | None = None
) -> Graph:
    """The graph with nodes in networkx's order; x may stand in their attribute x instead."""
    if source.is_multigraph():
        raise InputError("expected a graph with single edges, got a networkx multigraph")
    number = {node: m for m, node in enumerate(source)}
    rows = [known.get("x") for _, known in source.nodes(data=True)]
    if x is None and (not rows or any(row is None for row in rows)):
        raise InputError("expected x, or an attribute x at every node of the networkx graph")
    x = torch.tensor(rows, dtype=torch.float32) if x is None else x
    pairs = [(number[n], number[m], known.get("edge_x")) for n, m, known in source.edges(data=True)]
    if not source.is_directed():
        pairs += [(m, n, known) for n, m, known in pairs if n != m]
    pairs.sort(key=lambda pair: (pair[1], pair[0]))
    ends = torch.tensor([pair[:2] for pair in pairs], dtype=torch.int64).reshape(-1, 2).T
    known = [pair[2] for pair in pairs]
    given = bool(known) and all(row is not None for row in known)
    return Graph(x, ends.contiguous(), torch.tensor(known, dtype=torch.float32) if given else None)
