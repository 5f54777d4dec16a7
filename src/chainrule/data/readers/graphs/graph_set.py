"""Many graphs of your own: tables of graphs, nodes and edges as three splits.

    graphs.csv  id,label                one row for each graph
    nodes.csv   id,graph,…columns…      one row for each node; an id may recur in another graph
    edges.csv   from,to                 ids of nodes; with a column graph if node ids recur

Edges are undirected. Nodes without columns have the logarithm of their degree as their feature.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from chainrule.arguments import checked
from chainrule.data.files import errors_naming
from chainrule.data.graph_splits import GraphSplits, graph_splits
from chainrule.data.readers.graphs.edge_table import EdgeEncoder, without_kind
from chainrule.data.readers.graphs.graph_table import flag_kept
from chainrule.data.readers.graphs.node_encoder import checked_ids, id_column
from chainrule.data.readers.tables.column_fitting import fit_columns
from chainrule.data.readers.tables.columns import Columns, listed, read_table, require_columns
from chainrule.data.readers.tables.reading import Reading, decide
from chainrule.data.readers.tables.table import MIN_ROWS, infer_classes, rare_class_remarks
from chainrule.data.readers.tables.table_encoder import TableEncoder
from chainrule.data.splits import TEST_SEED, Seed, stratified_indices
from chainrule.data.state import OBJECT, TEXT, fields
from chainrule.errors import InputError
from chainrule.graphs import Graph
from chainrule.registry import unknown

MAX_NAMES = 3  # in an error message


@dataclass(frozen=True)
class GraphEncoder:
    """Tables of nodes and edges as a union of graphs.

    id, graph: the columns of the nodes with their ids and with the graph of each.
    table: the encoding of the other columns; None where there are none.
    links: how edges are read.
    """

    id: str
    graph: str
    table: TableEncoder | None
    links: EdgeEncoder

    def encode_tables(
        self, nodes: str | Path, edges: str | Path, order: Sequence[str] | None = None
    ) -> tuple[Graph, list[str], tuple[str, ...]]:
        """(union, ids of its graphs, remarks).

        nodes, edges: the tables.
        order: the ids of the graphs in their order; by default as the nodes have them.
        """
        cells, _ = read_table(nodes)
        with errors_naming(nodes):
            require_columns(cells, [self.id, self.graph])
            names = list(order or dict.fromkeys(cells[self.graph]))
            place = {name: k for k, name in enumerate(names)}
            strange = [name for name in cells[self.graph] if name not in place]
            empty = sorted(place.keys() - set(cells[self.graph]))
            if strange or empty:
                what = "of graphs that are listed, got" if strange else "of every graph, none of"
                raise InputError(f"expected nodes {what} {listed(strange or empty, MAX_NAMES)}")
            owner = torch.tensor([place[name] for name in cells[self.graph]])
        rows = owner.argsort(stable=True)
        number = self.numbers(cells, rows, nodes)
        found, said = self.links.encode(edges, number, nodes, self.joined_ids(edges, cells))
        across = owner[rows][found.ends]
        if (across[0] != across[1]).any():
            k = int((across[0] != across[1]).nonzero()[0])
            pair = " and ".join(names[int(g)] for g in across[:, k])
            raise InputError(f"{edges}: expected edges within a graph, got one between {pair}")
        degree = found.ends[1].bincount(minlength=len(rows)).float().log1p()[:, None]
        x = degree if self.table is None else self.table.encode_file(nodes)[rows]
        union = Graph(x, found.ends, edge_attr=found.attr, batch=owner[rows])
        return union, names, said

    def numbers(self, cells: Columns, rows: Tensor, nodes: str | Path) -> dict[str, int]:
        """The place of each node in the union, by its id; by graph and id where ids recur."""
        ids = cells[self.id]
        if self.recurring(cells):
            ids = [joint(g, name) for g, name in zip(cells[self.graph], ids, strict=True)]
        with errors_naming(nodes):
            checked_ids({self.id: ids}, self.id)
        return {ids[row]: k for k, row in enumerate(rows.tolist())}

    def recurring(self, cells: Columns) -> bool:
        return len(set(cells[self.id])) < len(cells[self.id])

    def joined_ids(self, edges: str | Path, nodes: Columns) -> Columns:
        """The table of edges, with graph and id as one id where ids of nodes recur."""
        cells, _ = read_table(edges)
        if not self.recurring(nodes):
            return {k: v for k, v in cells.items() if k != self.graph} or cells
        with errors_naming(edges):
            if self.graph not in cells:
                raise InputError(
                    f"expected the column {self.graph!r}, because ids of nodes recur in several "
                    "graphs"
                )
        rest = {name: values for name, values in cells.items() if name != self.graph}
        for name in list(rest)[:2]:
            pairs = zip(cells[self.graph], rest[name], strict=True)
            rest[name] = [joint(g, node) for g, node in pairs]
        return rest

    def encode_file(self, path: str | Path) -> Tensor:
        raise InputError(f"{path}: expected two tables, of nodes and of edges")

    def to_json(self) -> dict[str, Any]:
        table = {} if self.table is None else self.table.to_json()
        links = self.links.to_json()
        return {
            "kind": "graphs",
            "id": self.id,
            "graph": self.graph,
            "table": table,
            "links": links,
        }

    @classmethod
    def from_json(cls, state: Any) -> "GraphEncoder":
        kinds = {"id": TEXT, "graph": TEXT, "table": OBJECT, "links": OBJECT}
        found = fields(state, "the encoder of graphs", **kinds)
        table = TableEncoder.from_json(without_kind(found["table"])) if found["table"] else None
        return cls(found["id"], found["graph"], table, EdgeEncoder.from_json(found["links"]))


def joint(graph: str, node: str) -> str:
    return f"{graph} / {node}"


@checked
def graph_set(
    graphs: str | Path,
    nodes: str | Path,
    edges: str | Path,
    target: str,
    seed: Seed = 0,
    edge_features: tuple[str, ...] = (),
) -> GraphSplits:
    """Three splits of many graphs of your own, each of one class.

    graphs: the path of a table with the id and the class of each graph.
    nodes: the path of a table with the id, the graph and the columns of each node.
    edges: the path of a table whose first two columns are node ids.
    target: the column of `graphs` to predict.
    seed: draws the validation split; the test split is always the same.
    edge_features: columns of `edges` that the network reads.

    >>> import tempfile
    >>> rows = [(f"{g}-{n}", f"{g}-{(n + 1) % 3}", f"g{g}") for g in range(20) for n in range(3)]
    >>> with tempfile.TemporaryDirectory() as place:
    ...     paths = [Path(place, f"{name}.csv") for name in ("graphs", "nodes", "edges")]
    ...     lines = [f"g{k},{'even' if k % 2 == 0 else 'odd'}" for k in range(20)], (
    ...         [f"{a},{g},{len(a)}" for a, _, g in rows]
    ...     ), [f"{a},{b}" for a, b, _ in rows]
    ...     heads = "id,label", "id,graph,size", "from,to"
    ...     for path, head, each in zip(paths, heads, lines):
    ...         _ = path.write_text("\\n".join([head, *each]) + "\\n")
    ...     data = graph_set(*paths, target="label")
    >>> data.classes, len(data.test.x)
    (('even', 'odd'), 4)
    """
    ids, y, classes = labels_of(graphs, target)
    cells, said = read_table(nodes)
    with errors_naming(nodes):
        owner = graph_column(cells, ids)
        rest = {name: values for name, values in cells.items() if name != owner}
        key = id_column(rest)
        known = {name: values for name, values in rest.items() if name != key}
    links, more = EdgeEncoder.fit(edges, False, "", edge_features, owner)
    kept, test = stratified_indices(y, round(0.2 * len(y)), TEST_SEED)
    inner, held = stratified_indices(y[kept], round(0.2 * len(y)), seed)
    parts = kept[inner], kept[held], test
    learned = {ids[k] for k in parts[0].tolist()}
    rows = [row for row, name in enumerate(cells[owner]) if name in learned]
    table, notes = node_columns(known, rows)
    encoder = GraphEncoder(key, owner, table, links)
    union, _, last = encoder.encode_tables(nodes, edges, ids)
    remarks = said + notes + more + last + rare_class_remarks(classes, y)
    return graph_splits(union, y, parts, classes, encoder=encoder, remarks=remarks)


def labels_of(path: str | Path, target: str) -> tuple[list[str], Tensor, tuple[str, ...]]:
    """(ids, labels, classes) of a table of graphs."""
    cells, _ = read_table(path)
    with errors_naming(path):
        if target not in cells:
            raise InputError(unknown("column", target, list(cells)))
        key = id_column({name: values for name, values in cells.items() if name != target})
        ids = list(checked_ids(cells, key))
        if len(ids) < MIN_ROWS:
            raise InputError(f"expected at least {MIN_ROWS} graphs, got {len(ids)}")
        classes = infer_classes(target, cells[target], None)
        if not classes:
            raise InputError(
                f"expected classes in the column {target!r}, got numbers such as "
                f"{cells[target][0]}; group them into a few classes first"
            )
        y = TableEncoder((), target, classes).encode_target({target: cells[target]})
    return ids, y, classes


def graph_column(cells: Columns, ids: Sequence[str]) -> str:
    """The column of the nodes that names their graph: called graph, or holding the ids."""
    named = next((name for name in cells if name.lower() in ("graph", "graph_id")), None)
    found = named or next((name for name in cells if set(cells[name]) == set(ids)), None)
    if found is None:
        raise InputError(f"expected a column 'graph' with the graph of each node, got {[*cells]}")
    return found


def node_columns(
    known: Columns, rows: Sequence[int]
) -> tuple[TableEncoder | None, tuple[str, ...]]:
    """(encoding, remarks) of the columns of the nodes by those of the training graphs."""
    formats, notes = decide(known)
    reading = Reading(formats)
    plain = reading.plain(known)
    fitted = fit_columns(plain, rows)
    if fitted.columns:
        columns = tuple(flag_kept(c, plain[c.name], rows) for c in fitted.columns)
        return TableEncoder(columns, "", reading=reading), notes + fitted.remarks
    said = "no columns of the nodes: the logarithm of the degree is the feature of a node"
    return None, (*notes, *fitted.remarks, said)
