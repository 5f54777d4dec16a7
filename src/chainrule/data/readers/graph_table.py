"""Your own graph: a table of nodes and a table of edges as splits of one graph.

    nodes.csv   id,…columns…,target     one row for each node; the target may be missing in some
    edges.csv   from,to                 one row for each edge, by the ids of its ends

An edge counts in both directions. The first column of the nodes is the id, unless one is called id.
Of the nodes with a label a fifth is the test split and a fifth validation; nodes without one have
neighbors and features like all others, and can be predicted.
"""

import hashlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from chainrule.data.graph_splits import GraphSplits, split
from chainrule.data.readers.columns import Columns, is_missing, naming, read_csv, require
from chainrule.data.readers.table import FEWEST, classes_of, rare
from chainrule.data.readers.table_encoder import TableEncoder, fit_columns
from chainrule.data.splits import TEST_SEED, draw
from chainrule.errors import InputError
from chainrule.graphs import Graph, undirected
from chainrule.registry import unknown

MOST_WITHOUT_COLUMNS = 4096  # nodes that are told apart by a unit each where nothing is known
SHOWN = 3  # of many culprits


@dataclass(frozen=True)
class NodeEncoder:
    """Rows of a table as node numbers of the graph that a run has learned on.

    digest: of both files, whose change would give the numbers another meaning.
    """

    nodes: str
    edges: str
    id: str
    digest: str

    def encode_file(self, path: str | Path) -> Tensor:
        if digest_of(self.nodes, self.edges) != self.digest:
            raise InputError(
                f"{self.nodes} or {self.edges} is not the file that the run has learned from; "
                "train again on the new graph"
            )
        number = {name: m for m, name in enumerate(read_csv(self.nodes)[self.id])}
        asked = read_csv(path)
        with naming(path):
            require(asked, [self.id])
            strange = [name for name in asked[self.id] if name not in number]
            if strange:
                raise InputError(
                    f"expected nodes of the graph in {self.nodes}, got {listed(strange)}; add them "
                    "to the graph and train again"
                )
        return torch.tensor([number[name] for name in asked[self.id]])

    def to_json(self) -> dict[str, Any]:
        return {"kind": "nodes", **asdict(self)}

    @classmethod
    def from_json(cls, state: dict[str, Any]) -> "NodeEncoder":
        return cls(state["nodes"], state["edges"], state["id"], state["digest"])


def graph_table(
    edges: str | Path, nodes: str | Path, target: str, seed: int = 0, ignore: tuple[str, ...] = ()
) -> GraphSplits:
    """The graph with splits of its labeled nodes; the seed moves the validation split only."""
    table = read_csv(nodes)
    with naming(nodes):
        key = id_column(table)
        ids = checked_ids(table, key)
        labeled, labels, classes = labels_of(table, key, target, ignore)
        y = labels[labeled]
        rest, test = draw(y, round(0.2 * len(y)), TEST_SEED)
        kept, held = draw(y[rest], round(0.2 * len(y)), seed)
        parts = labeled[rest[kept]], labeled[rest[held]], labeled[test]
        known = {k: v for k, v in table.items() if k not in (key, target, *ignore)}
        x, notes = features(known, parts[0].tolist(), len(ids))
    edge_index, more = edges_of(edges, ids, nodes)
    if len(labeled) < len(ids):
        notes += (f"{len(ids) - len(labeled)} of {len(ids)} nodes have no {target!r}",)
    encoder = NodeEncoder(str(nodes), str(edges), key, digest_of(nodes, edges))
    every = notes + more + rare(classes, y)
    graph = Graph(x, edge_index)
    return split(graph, labels, parts, classes, encoder=encoder, notes=every)


def id_column(table: Columns) -> str:
    """The column called id, else the first one."""
    return next((name for name in table if name.lower() == "id"), next(iter(table)))


def checked_ids(table: Columns, key: str) -> dict[str, int]:
    """The number of each node by its id."""
    number: dict[str, int] = {}
    for row, name in enumerate(table[key]):
        if is_missing(name):
            raise InputError(f"expected an id in every row, got none in row {row + 1}")
        if name in number:
            raise InputError(
                f"expected every id once in the column {key!r}, got {name!r} in rows "
                f"{number[name] + 1} and {row + 1} below the header"
            )
        number[name] = row
    return number


def labels_of(
    table: Columns, key: str, target: str, ignore: tuple[str, ...]
) -> tuple[Tensor, Tensor, tuple[str, ...]]:
    """(nodes with a label, labels of all nodes with -1 for none, classes)."""
    for name in (target, *ignore):
        if name not in table:
            raise InputError(unknown("column", name, list(table)))
    if target == key or target in ignore or key in ignore:
        raise InputError(
            f"the target {target!r} must be another column than the id and the ignored"
        )
    rows = [row for row, value in enumerate(table[target]) if not is_missing(value)]
    if len(rows) < FEWEST:
        raise InputError(
            f"expected at least {FEWEST} nodes with a label in the column {target!r}, got "
            f"{len(rows)}; nodes without one may stay"
        )
    values = [table[target][row] for row in rows]
    classes = classes_of(target, values, None)
    if not classes:
        raise InputError(
            f"expected classes in the column {target!r}, got numbers such as {values[0]}; put them "
            "into a few groups first"
        )
    labels = torch.full((len(table[target]),), -1)
    labels[rows] = TableEncoder((), target, classes).encode_target({target: values})
    return torch.tensor(rows), labels, classes


def features(known: Columns, rows: list[int], nodes: int) -> tuple[Tensor, tuple[str, ...]]:
    """(x, notes): the columns as numbers, or a unit for each node where there are none."""
    encodings, notes = fit_columns(known, rows)
    if encodings:
        return TableEncoder(encodings, "", ()).encode(known), notes
    if nodes > MOST_WITHOUT_COLUMNS:
        raise InputError(
            f"expected columns to learn from for a graph of {nodes} nodes; up to "
            f"{MOST_WITHOUT_COLUMNS} can be told apart without"
        )
    return torch.eye(nodes), (*notes, "no columns to learn from: every node is a feature")


def edges_of(
    path: str | Path, number: dict[str, int], nodes: str | Path
) -> tuple[Tensor, tuple[str, ...]]:
    """(edge_index, notes) of a table whose first two columns are ids."""
    table = read_csv(path)
    with naming(path):
        if len(table) < 2:
            raise InputError("expected two columns, the ids of both ends of an edge, got one")
        first, second, *more = table
        strange = [name for name in (*table[first], *table[second]) if name not in number]
        if strange:
            raise InputError(
                f"expected ids of nodes in {nodes}, got {listed(strange)}; add them there, or take "
                "out their edges"
            )
        pairs = list(zip(table[first], table[second], strict=True))
        seen: dict[tuple[str, str], int] = {}
        for row, pair in enumerate(pairs):
            if pair in seen:
                raise InputError(
                    f"the edge {pair[0]} to {pair[1]} stands in rows {seen[pair] + 1} and "
                    f"{row + 1} below the header; expected every edge once, take one out"
                )
            seen[pair] = row
    notes = [f"column {name!r} of the edges was left out" for name in more]
    if loops := sum(a == b for a, b in pairs):
        notes.append(f"{loops} edges from a node to itself were left out")
    both = sum((b, a) in seen for a, b in pairs if a < b)
    if both:
        notes.append(f"{both} edges are listed in both directions and count once")
    ends = torch.tensor([[number[a], number[b]] for a, b in pairs]).T
    return undirected(ends), tuple(notes)


def listed(strange: list[str]) -> str:
    """A few of the names, and how many more there are."""
    names = list(dict.fromkeys(strange))
    rest = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(map(repr, names[:SHOWN])) + rest


def digest_of(*paths: str | Path) -> str:
    """One checksum of files, in this order."""
    found = hashlib.sha256()
    for path in paths:
        try:
            found.update(hashlib.sha256(Path(path).read_bytes()).digest())
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror}") from error
    return found.hexdigest()
