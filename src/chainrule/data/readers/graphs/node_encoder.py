"""Nodes of your own graph by their ids, those of training and new ones."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from chainrule.data.files import errors_naming, read_bytes
from chainrule.data.readers.graphs.edge_table import (
    EdgeEncoder,
    joined,
    weight_as_feature,
    without_kind,
)
from chainrule.data.readers.tables.columns import Columns, listed, read_csv, require_columns
from chainrule.data.readers.tables.numbers import is_missing
from chainrule.data.readers.tables.table_encoder import TableEncoder
from chainrule.data.state import FLAG, OBJECT, TEXT, fields
from chainrule.errors import InputError
from chainrule.graphs import Graph

MAX_NAMES = 3  # in an error message


@dataclass(frozen=True)
class NodeEncoder:
    """Node ids of a table as nodes of the training graph, or of that graph with new nodes.

    nodes, edges: the paths of the two files of the graph.
    id: the column of node ids.
    digest: checksum of both files; changed files are refused.
    table: the encoding of the columns of the nodes; None where there are none.
    links: how edges are read.
    weight_is_feature: whether the network takes the weight of an edge as one of its features.
    """

    nodes: str
    edges: str
    id: str
    digest: str
    table: TableEncoder | None
    links: EdgeEncoder
    weight_is_feature: bool = False

    def encode_file(self, path: str | Path) -> Tensor:
        self.check_unchanged()
        number = self.known()
        asked = read_csv(path)
        with errors_naming(path):
            require_columns(asked, [self.id])
            new = [name for name in asked[self.id] if name not in number]
            if new:
                raise InputError(
                    f"expected nodes of {self.nodes}, got {listed(new, MAX_NAMES)}; to predict for "
                    "new nodes give a table of their edges too"
                )
        return torch.tensor([number[name] for name in asked[self.id]])

    def check_unchanged(self) -> None:
        if digest_of(self.nodes, self.edges) != self.digest:
            raise InputError(
                f"{self.nodes} or {self.edges} has changed since training; train again on the new "
                "graph"
            )

    def known(self) -> dict[str, int]:
        """The number of each node of the training graph."""
        table = read_csv(self.nodes)
        with errors_naming(self.nodes):
            require_columns(table, [self.id])
            return checked_ids(table, self.id)

    def divided(self, paths: Sequence[Path]) -> tuple[list[Path], list[Path]]:
        """(tables of nodes, tables of edges): nodes have the column of ids."""
        nodes: list[Path] = []
        edges: list[Path] = []
        for path in paths:
            (nodes if self.id in read_csv(path) else edges).append(path)
        return nodes, edges

    def extended(self, nodes: Sequence[Path], edges: Sequence[Path]) -> tuple[Graph, list[Tensor]]:
        """(the training graph with new nodes and edges, the nodes of each table).

        nodes: tables of nodes; those with ids of the training graph are these.
        edges: tables of further edges.
        """
        self.check_unchanged()
        number, asked = self.known(), []
        if self.table is None:
            raise InputError(
                f"the nodes of {self.nodes} have no columns to learn from, so that nothing is "
                "known of a new node; train on a graph with columns"
            )
        x = [self.table.encode_file(self.nodes)]
        for path in nodes:
            table = read_csv(path)
            with errors_naming(path):
                checked_ids(table, self.id)
            new = [row for row, name in enumerate(table[self.id]) if name not in number]
            x.append(self.table.encode_file(path)[new])
            for row in new:
                number[table[self.id][row]] = len(number)
            asked.append(torch.tensor([number[name] for name in table[self.id]]))
        parts = [
            self.links.encode(path, number, "the nodes")[0] for path in (Path(self.edges), *edges)
        ]
        found = joined(parts)
        return self.graph(torch.cat(x), found), asked

    def graph(self, x: Tensor, edges: Any) -> Graph:
        """The graph as the network takes it."""
        if self.weight_is_feature:
            edges = weight_as_feature(edges)
        return Graph(x, edges.ends, edge_weight=edges.weight, edge_attr=edges.attr)

    def to_json(self) -> dict[str, Any]:
        names = ("nodes", "edges", "id", "digest", "weight_is_feature")
        plain = {name: getattr(self, name) for name in names}
        table = {} if self.table is None else self.table.to_json()
        return {"kind": "nodes", **plain, "table": table, "links": self.links.to_json()}

    @classmethod
    def from_json(cls, state: Any) -> "NodeEncoder":
        kinds: Any = dict.fromkeys(("nodes", "edges", "id", "digest"), TEXT)
        kinds |= {"table": OBJECT, "links": OBJECT, "weight_is_feature": FLAG}
        found = fields(state, "the encoder of nodes", **kinds)
        table = TableEncoder.from_json(without_kind(found["table"])) if found["table"] else None
        return cls(**found | {"table": table, "links": EdgeEncoder.from_json(found["links"])})


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


def digest_of(*paths: str | Path) -> str:
    """One checksum of several files."""
    found = hashlib.sha256()
    for path in paths:
        found.update(hashlib.sha256(read_bytes(path)).digest())
    return found.hexdigest()
