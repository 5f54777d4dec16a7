"""Edges of your own graph: a table whose first two columns are the ids of both ends.

    from,to                     one row for each edge
    from,to,weight,kind         further columns may be its weight or its features

An undirected edge becomes two columns of edge_index, with one weight and the same features.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from chainrule.data.files import errors_naming
from chainrule.data.readers.tables.column_fitting import fit_columns
from chainrule.data.readers.tables.column_kinds import numeric_column
from chainrule.data.readers.tables.columns import Columns, listed, read_table, require_columns
from chainrule.data.readers.tables.reading import PLAIN, Reading, decide
from chainrule.data.readers.tables.table_encoder import TableEncoder
from chainrule.data.state import FLAG, OBJECT, TEXT, fields
from chainrule.errors import InputError
from chainrule.registry import unknown

MAX_NAMES = 3  # in an error message


class Edges(NamedTuple):
    """The edges of a graph; an undirected one twice.

    ends: (2, edges) source and target.
    weight: (edges,) or None.
    attr: (edges, features) or None.
    """

    ends: Tensor
    weight: Tensor | None
    attr: Tensor | None


@dataclass(frozen=True)
class EdgeEncoder:
    """How a table of edges is read.

    directed: whether an edge goes from the first id to the second only.
    weight: the column of weights; empty for none.
    table: the encoding of the columns that are features; None for none.
    reading: how cells are read.
    """

    directed: bool = False
    weight: str = ""
    table: TableEncoder | None = None
    reading: Reading = PLAIN

    @classmethod
    def fit(
        cls,
        path: str | Path,
        directed: bool,
        weight: str,
        columns: tuple[str, ...],
        without: str = "",
    ) -> tuple["EdgeEncoder", tuple[str, ...]]:
        """(encoder, remarks) by the columns of a table.

        path: of the table.
        directed: whether an edge goes from the first id to the second only.
        weight: the column of weights; empty for none.
        columns: those that are features.
        without: a column that is not of the edges themselves.
        """
        cells, said = read_table(path)
        cells = {name: values for name, values in cells.items() if name != without}
        with errors_naming(path):
            ends = ends_of(cells)
            named = (*columns, *([weight] if weight else []))
            for name in named:
                if name not in cells:
                    raise InputError(unknown("column", name, list(cells)))
            if set(ends) & set(named):
                raise InputError(f"the columns {ends[0]!r} and {ends[1]!r} are the ids of the ends")
            formats, notes = decide({name: cells[name] for name in named})
            read = Reading(formats)
            table = None
            if columns:
                plain = read.plain({name: cells[name] for name in columns})
                fitted = fit_columns(plain, range(len(cells[ends[0]])))
                notes += fitted.remarks
                table = TableEncoder(fitted.columns, "") if fitted.columns else None
        unused = [name for name in cells if name not in (*ends, *named)]
        notes += tuple(f"column {name!r} of the edges was ignored" for name in unused)
        return cls(directed, weight, table, read), said + notes

    def encode(
        self,
        path: str | Path,
        number: dict[str, int],
        nodes: str | Path,
        cells: Columns | None = None,
    ) -> tuple[Edges, tuple[str, ...]]:
        """(edges, remarks) of a file.

        path: of the table.
        number: of each node, by its id.
        nodes: the file of the nodes, for messages.
        cells: its columns, where they have been read and changed.
        """
        cells = self.reading.cells(path) if cells is None else cells
        with errors_naming(path):
            pairs, rows, remarks = self.checked_pairs(cells, number, nodes)
            cells = self.reading.plain(cells)
            ends = torch.tensor(pairs).reshape(-1, 2).T
            weight, attr = None, None
            if self.weight:
                weight = self.weights(cells)[rows]
            if self.table is not None:
                attr = self.table.encode(cells)[rows]
        found = Edges(ends, weight, attr)
        return (found if self.directed else both_ways(found)), remarks

    def weights(self, cells: Columns) -> Tensor:
        """The column of weights: finite and not negative."""
        require_columns(cells, [self.weight])
        found = torch.from_numpy(numeric_column(self.weight, cells[self.weight])).float()
        wrong = (~(found >= 0)).nonzero()
        if len(wrong):
            row = int(wrong[0])
            raise InputError(
                f"column {self.weight!r}, row {row + 1} below the header: expected a weight of at "
                f"least 0, got {cells[self.weight][row]!r}"
            )
        return found

    def checked_pairs(
        self, cells: Columns, number: dict[str, int], nodes: str | Path
    ) -> tuple[list[tuple[int, int]], list[int], tuple[str, ...]]:
        """(numbers of the ends, rows of the table, remarks): every edge once, without loops."""
        first, second = ends_of(cells)
        strange = [name for name in (*cells[first], *cells[second]) if name not in number]
        if strange:
            raise InputError(
                f"expected ids of nodes in {nodes}, got {listed(strange, MAX_NAMES)}; add them "
                "there, or remove their edges"
            )
        seen: dict[tuple[str, str], int] = {}
        pairs, rows, loops, both = [], [], 0, 0
        for row, pair in enumerate(zip(cells[first], cells[second], strict=True)):
            if pair in seen:
                raise InputError(
                    f"the edge {pair[0]} to {pair[1]} is in rows {seen[pair] + 1} and {row + 1} "
                    "below the header; expected every edge once, remove one"
                )
            seen[pair] = row
            if pair[0] == pair[1]:
                loops += 1
            elif not self.directed and pair[::-1] in seen:
                both += 1
                self.check_equal(cells, pair, seen[pair[::-1]], row)
            else:
                pairs.append((number[pair[0]], number[pair[1]]))
                rows.append(row)
        remarks = [f"{loops} edges from a node to itself were dropped"] if loops else []
        if both:
            remarks.append(f"{both} edges are listed in both directions and count once")
        return pairs, rows, tuple(remarks)

    def check_equal(self, cells: Columns, pair: tuple[str, str], row: int, other: int) -> None:
        """Refuse two directions of one undirected edge that say different things."""
        used = [column.name for column in self.table.columns] if self.table else []
        for name in (*used, *([self.weight] if self.weight else [])):
            if cells[name][row] != cells[name][other]:
                raise InputError(
                    f"the edge {pair[0]} to {pair[1]} has {cells[name][row]!r} and "
                    f"{cells[name][other]!r} as {name!r} in its two directions; set `directed`, or "
                    "remove one"
                )

    def to_json(self) -> dict[str, Any]:
        table = None if self.table is None else self.table.to_json()
        reading = TableEncoder((), "", reading=self.reading).to_json()["reading"]
        return {
            "directed": self.directed,
            "weight": self.weight,
            "table": table or {},
            "reading": reading,
        }

    @classmethod
    def from_json(cls, state: Any) -> "EdgeEncoder":
        kinds = {"directed": FLAG, "weight": TEXT, "table": OBJECT, "reading": OBJECT}
        found = fields(state, "the encoder of edges", **kinds)
        table = TableEncoder.from_json(without_kind(found["table"])) if found["table"] else None
        read = Reading.from_json(found["reading"])
        return cls(found["directed"], found["weight"], table, read)


def without_kind(state: Any) -> Any:
    return {key: value for key, value in state.items() if key != "kind"}


def ends_of(cells: Columns) -> tuple[str, str]:
    """The columns of both ids."""
    if len(cells) < 2:
        raise InputError("expected two columns, the ids of both nodes of an edge, got one")
    first, second, *_ = cells
    return first, second


def both_ways(edges: Edges) -> Edges:
    """Every edge in both directions, sorted by target, then source."""
    index = torch.cat([edges.ends, edges.ends.flip(0)], 1)
    nodes = int(index.max()) + 1 if index.numel() else 1
    order = (index[1] * nodes + index[0]).argsort()
    twice = [None if v is None else torch.cat([v, v])[order] for v in (edges.weight, edges.attr)]
    return Edges(index[:, order], *twice)


def joined(parts: list[Edges]) -> Edges:
    """The edges of several tables."""
    index = torch.cat([part.ends for part in parts], 1)
    weights = [part.weight for part in parts if part.weight is not None]
    known = [part.attr for part in parts if part.attr is not None]
    return Edges(
        index, torch.cat(weights) if weights else None, torch.cat(known) if known else None
    )


def weight_as_feature(edges: Edges) -> Edges:
    """log(1 + weight) as a further feature, for networks that learn what a weight means."""
    if edges.weight is None:
        return edges
    column = edges.weight.log1p()[:, None]
    attr = column if edges.attr is None else torch.cat([edges.attr, column], 1)
    return Edges(edges.ends, None, attr)
