"""Your own graph: a table of nodes and a table of edges as splits of one graph.

    nodes.csv   id,…columns…,target     one row per node; the target may be missing
    edges.csv   from,to                 one row per edge, by the ids of its nodes

Edges are undirected. The column named id identifies a node, else the first column. A fifth of the
labeled nodes is the test split, a fifth is for validation; unlabeled nodes are part of the graph,
and their class can be predicted.
"""

import hashlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from chainrule.arguments import checked
from chainrule.data.files import errors_naming, read_bytes
from chainrule.data.graph_splits import GraphSplits, graph_splits
from chainrule.data.readers.columns import (
    Columns,
    is_missing,
    listed,
    read_csv,
    require_columns,
)
from chainrule.data.readers.table import MIN_ROWS, infer_classes, rare_class_remarks
from chainrule.data.readers.table_encoder import TableEncoder, fit_columns
from chainrule.data.splits import TEST_SEED, Seed, stratified_indices
from chainrule.data.state import TEXT, fields
from chainrule.errors import InputError
from chainrule.graphs import Graph, undirected
from chainrule.registry import unknown

MAX_ONE_HOT = 4096  # nodes of a graph without feature columns
MAX_NAMES = 3  # in an error message


@dataclass(frozen=True)
class NodeEncoder:
    """Node ids of a CSV file as node indices of the training graph.

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
        known = read_csv(self.nodes)
        with errors_naming(self.nodes):
            require_columns(known, [self.id])
        number = {name: m for m, name in enumerate(known[self.id])}
        asked = read_csv(path)
        with errors_naming(path):
            require_columns(asked, [self.id])
            unknown_ids = [name for name in asked[self.id] if name not in number]
            if unknown_ids:
                raise InputError(
                    f"expected nodes of {self.nodes}, got {listed(unknown_ids, MAX_NAMES)}; add "
                    "them to the graph and train again"
                )
        return torch.tensor([number[name] for name in asked[self.id]])

    def to_json(self) -> dict[str, Any]:
        return {"kind": "nodes", **asdict(self)}

    @classmethod
    def from_json(cls, state: Any) -> "NodeEncoder":
        kinds = dict.fromkeys(("nodes", "edges", "id", "digest"), TEXT)
        return cls(**fields(state, "the encoder of nodes", **kinds))


@checked
def graph_table(
    edges: str | Path,
    nodes: str | Path,
    target: str,
    seed: Seed = 0,
    ignore: tuple[str, ...] = (),
) -> GraphSplits:
    """A graph of your own, with three splits of its labeled nodes.

    edges: the path of a CSV file whose first two columns are node ids.
    nodes: the path of a CSV file with one row per node.
    target: the column of `nodes` to predict.
    seed: draws the validation split; the test split is always the same.
    ignore: columns of `nodes` to drop.
    """
    table = read_csv(nodes)
    with errors_naming(nodes):
        key = id_column(table)
        ids = checked_ids(table, key)
        labeled, labels, classes = labels_of(table, key, target, ignore)
        y = labels[labeled]
        rest, test = stratified_indices(y, round(0.2 * len(y)), TEST_SEED)
        kept, held = stratified_indices(y[rest], round(0.2 * len(y)), seed)
        parts = labeled[rest[kept]], labeled[rest[held]], labeled[test]
        known = {k: v for k, v in table.items() if k not in (key, target, *ignore)}
        x, remarks = features(known, parts[0].tolist(), len(ids))
    edge_index, more = edges_of(edges, ids, nodes)
    if len(labeled) < len(ids):
        remarks += (f"{len(ids) - len(labeled)} of {len(ids)} nodes have no {target!r}",)
    encoder = NodeEncoder(str(nodes), str(edges), key, digest_of(nodes, edges))
    every = remarks + more + rare_class_remarks(classes, y)
    graph = Graph(x, edge_index)
    return graph_splits(graph, labels, parts, classes, encoder=encoder, remarks=every)


def id_column(table: Columns) -> str:
    """The column named id, else the first one."""
    return next((name for name in table if name.lower() == "id"), next(iter(table)))


def checked_ids(table: Columns, key: str) -> dict[str, int]:
    """The index of each node by its id."""
    number: dict[str, int] = {}
    for row, name in enumerate(table[key]):
        if is_missing(name):
            raise InputError(f"expected an id in every row, but it is missing in row {row + 1}")
        if name in number:
            raise InputError(
                f"expected unique ids in the column {key!r}, got {name!r} in rows "
                f"{number[name] + 1} and {row + 1} below the header"
            )
        number[name] = row
    return number


def labels_of(
    table: Columns, key: str, target: str, ignore: tuple[str, ...]
) -> tuple[Tensor, Tensor, tuple[str, ...]]:
    """(labeled nodes, labels of all nodes with -1 for none, classes)."""
    for name in (target, *ignore):
        if name not in table:
            raise InputError(unknown("column", name, list(table)))
    if target == key or target in ignore or key in ignore:
        raise InputError(
            f"the target {target!r} and the id {key!r} must be two columns, and not in ignore"
        )
    rows = [row for row, value in enumerate(table[target]) if not is_missing(value)]
    if len(rows) < MIN_ROWS:
        raise InputError(
            f"expected at least {MIN_ROWS} nodes with a label in the column {target!r}, got "
            f"{len(rows)}; label more nodes"
        )
    values = [table[target][row] for row in rows]
    classes = infer_classes(target, values, None)
    if not classes:
        raise InputError(
            f"expected classes in the column {target!r}, got numbers such as {values[0]}; group "
            "them into a few classes first"
        )
    labels = torch.full((len(table[target]),), -1)
    labels[rows] = TableEncoder((), target, classes).encode_target({target: values})
    return torch.tensor(rows), labels, classes


def features(known: Columns, rows: list[int], nodes: int) -> tuple[Tensor, tuple[str, ...]]:
    """(x, remarks): the encoded columns, or one-hot features if there are none."""
    encodings, remarks = fit_columns(known, rows)
    if encodings:
        return TableEncoder(encodings, "", ()).encode(known), remarks
    if nodes > MAX_ONE_HOT:
        raise InputError(
            f"expected feature columns for a graph of {nodes} nodes; without any, at most "
            f"{MAX_ONE_HOT} nodes are possible"
        )
    return torch.eye(nodes), (*remarks, "no feature columns: every node has a one-hot feature")


def edges_of(
    path: str | Path, number: dict[str, int], nodes: str | Path
) -> tuple[Tensor, tuple[str, ...]]:
    """(edge_index, remarks) of a table whose first two columns are node ids."""
    table = read_csv(path)
    with errors_naming(path):
        if len(table) < 2:
            raise InputError("expected two columns, the ids of both nodes of an edge, got one")
        first, second, *more = table
        unknown_ids = [name for name in (*table[first], *table[second]) if name not in number]
        if unknown_ids:
            raise InputError(
                f"expected ids of nodes in {nodes}, got {listed(unknown_ids, MAX_NAMES)}; add them "
                "there, or remove their edges"
            )
        pairs = list(zip(table[first], table[second], strict=True))
        seen: dict[tuple[str, str], int] = {}
        for row, pair in enumerate(pairs):
            if pair in seen:
                raise InputError(
                    f"the edge {pair[0]} to {pair[1]} is in rows {seen[pair] + 1} and {row + 1} "
                    "below the header; expected every edge once, remove one"
                )
            seen[pair] = row
    remarks = [f"column {name!r} of the edges was ignored" for name in more]
    if loops := sum(a == b for a, b in pairs):
        remarks.append(f"{loops} edges from a node to itself were dropped")
    both = sum((b, a) in seen for a, b in pairs if a < b)
    if both:
        remarks.append(f"{both} edges are listed in both directions and count once")
    ends = torch.tensor([[number[a], number[b]] for a, b in pairs]).T
    return undirected(ends), tuple(remarks)


def digest_of(*paths: str | Path) -> str:
    """One checksum of several files."""
    found = hashlib.sha256()
    for path in paths:
        found.update(hashlib.sha256(read_bytes(path)).digest())
    return found.hexdigest()
