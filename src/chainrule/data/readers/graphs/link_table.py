"""Pairs of nodes of your own graph, joined or not, as three splits.

    x    (n, 3) int64: both nodes, and where training may draw another second node, among how many
    y    (n,) int64: 1 for an edge, 0 for none

A tenth of the edges is the test split, a tenth is for validation; the graph holds the others alone.
Each split has as many pairs without an edge, drawn at random.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from chainrule.arguments import checked
from chainrule.data.files import errors_naming
from chainrule.data.graph_splits import GraphSplits
from chainrule.data.readers.graphs.edge_table import EdgeEncoder, Edges, both_ways, ends_of
from chainrule.data.readers.graphs.graph_table import features
from chainrule.data.readers.graphs.node_encoder import checked_ids, digest_of, id_column
from chainrule.data.readers.tables.columns import listed, read_csv, read_table
from chainrule.data.splits import TEST_SEED, Seed, Split
from chainrule.data.state import TEXT, fields
from chainrule.errors import InputError
from chainrule.graphs import Graph
from chainrule.registry import unknown

CLASSES = ("no edge", "edge")
MIN_EDGES = 30
HELD = 0.1  # of the edges, for test and for validation each
MAX_NAMES = 3  # in an error message


@dataclass(frozen=True)
class LinkEncoder:
    """Pairs of node ids, the first two columns of a table, as pairs of nodes.

    nodes, edges: the paths of the two files of the graph.
    id: the column of node ids.
    digest: checksum of both files; changed files are refused.
    """

    nodes: str
    edges: str
    id: str
    digest: str

    def encode_file(self, path: str | Path) -> Tensor:
        if digest_of(self.nodes, self.edges) != self.digest:
            raise InputError(
                f"{self.nodes} or {self.edges} has changed since training; train again on the new "
                "graph"
            )
        number = {name: m for m, name in enumerate(read_csv(self.nodes)[self.id])}
        cells = read_csv(path)
        with errors_naming(path):
            first, second = ends_of(cells)
            new = [name for name in (*cells[first], *cells[second]) if name not in number]
            if new:
                raise InputError(
                    f"expected pairs of nodes of {self.nodes}, got {listed(new, MAX_NAMES)}, whose "
                    "features and edges the model does not know; write them into both files, and "
                    "train again"
                )
        ends = [[number[a], number[b], 0] for a, b in zip(cells[first], cells[second], strict=True)]
        return torch.tensor(ends)

    def to_json(self) -> dict[str, Any]:
        return {"kind": "links", **vars(self)}

    @classmethod
    def from_json(cls, state: Any) -> "LinkEncoder":
        kinds = dict.fromkeys(("nodes", "edges", "id", "digest"), TEXT)
        return cls(**fields(state, "the encoder of links", **kinds))


@checked
def link_table(
    edges: str | Path,
    nodes: str | Path,
    seed: Seed = 0,
    ignore: tuple[str, ...] = (),
    weight: str = "",
) -> GraphSplits:
    """Pairs of nodes of a graph of your own, half of them joined by an edge.

    edges: the path of a table whose first two columns are node ids.
    nodes: the path of a table with one row per node.
    seed: draws the validation edges; the test edges are always the same.
    ignore: columns of `nodes` to drop.
    weight: the column of weights of the edges; empty for none.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     nodes, edges = Path(place, "nodes.csv"), Path(place, "edges.csv")
    ...     _ = nodes.write_text("id,x\\n" + "".join(f"{k},{k % 5}\\n" for k in range(40)))
    ...     _ = edges.write_text("a,b\\n" + "".join(f"{k},{(k + 1) % 40}\\n" for k in range(40)))
    ...     data = link_table(edges, nodes)
    >>> data.test.x.shape, data.graph.num_nodes
    (torch.Size([8, 3]), 40)
    """
    cells, said = read_table(nodes)
    with errors_naming(nodes):
        key = id_column(cells)
        number = checked_ids(cells, key)
        for name in ignore:
            if name not in cells:
                raise InputError(unknown("column", name, list(cells)))
        known = {k: v for k, v in cells.items() if k not in (key, *ignore)}
        x, _, remarks = features(known, list(range(len(number))), len(number))
    links, more = EdgeEncoder.fit(edges, True, weight, ())
    every, last = links.encode(edges, number, nodes)
    every = without_reversed(every)
    count = every.ends.shape[1]
    if count < MIN_EDGES:
        raise InputError(f"{edges}: expected at least {MIN_EDGES} edges, got {count}")
    held = round(HELD * count)
    order = torch.randperm(count, generator=torch.Generator().manual_seed(TEST_SEED))
    test, rest = order[:held], order[held:]
    mixed = rest[torch.randperm(len(rest), generator=torch.Generator().manual_seed(seed))]
    validation, train = mixed[:held], mixed[held:]
    seen = chosen(every, train)
    graph = Graph(x, seen.ends, edge_weight=seen.weight)
    parts = {
        name: pairs(every.ends, part, len(number), which, seed)
        for which, (name, part) in enumerate(
            (("train", train), ("validation", validation), ("test", test))
        )
    }
    encoder = LinkEncoder(str(nodes), str(edges), key, digest_of(nodes, edges))
    labels = torch.full((len(number),), -1)
    found = said + remarks + more + last
    found += (f"{held} of {count:,} edges are for validation and {held} for the test",)
    return GraphSplits(
        parts["train"],
        parts["validation"],
        parts["test"],
        CLASSES,
        encoder,
        found,
        graph=graph,
        labels=labels,
    )


def without_reversed(edges: Edges) -> Edges:
    """Each undirected edge once, as it is listed first."""
    low, high = edges.ends.aminmax(dim=0)
    key = (low * (int(high.max()) + 1) + high).numpy()
    kept = torch.from_numpy(np.sort(np.unique(key, return_index=True)[1]))
    weight = None if edges.weight is None else edges.weight[kept]
    return Edges(edges.ends[:, kept], weight, None)


def chosen(edges: Edges, rows: Tensor) -> Edges:
    """Some of the edges, in both directions."""
    weight = None if edges.weight is None else edges.weight[rows]
    return both_ways(Edges(edges.ends[:, rows], weight, None))


def pairs(ends: Tensor, rows: Tensor, nodes: int, part: int, seed: int) -> Split:
    """These edges, and as many pairs without an edge.

    ends: of all edges.
    rows: the edges of this split.
    nodes: how many there are.
    part: 0 for training, 1 for validation, 2 for the test.
    seed: draws the pairs, except those of the test.
    """
    joined = {tuple(sorted(pair)) for pair in ends.T.tolist()}
    if len(rows) > nodes * (nodes - 1) // 2 - len(joined):
        raise InputError("expected a graph with as many pairs without an edge as with one")
    draw = np.random.default_rng([part, TEST_SEED if part == 2 else seed])
    free: list[tuple[int, int]] = []
    while len(free) < len(rows):
        m, n = sorted(draw.integers(0, nodes, 2).tolist())
        if m != n and (m, n) not in joined:
            joined.add((m, n))
            free.append((m, n))
    x = torch.cat([ends[:, rows].T, torch.tensor(free)])
    y = torch.arange(2).flip(0).repeat_interleave(len(rows))
    again = nodes * (1 - y) if part == 0 else torch.zeros_like(y)
    return Split(torch.cat([x, again[:, None]], 1), y)
