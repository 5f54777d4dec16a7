"""Your own graph: a table of nodes and a table of edges as splits of one graph.

    nodes.csv   id,…columns…,target     one row per node; the target may be missing
    edges.csv   from,to                 one row per edge, by the ids of its nodes

The column named id identifies a node, else the first column. A fifth of the labeled nodes is the
test split, a fifth is for validation; unlabeled nodes are part of the graph, and their class can be
predicted.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from chainrule.arguments import checked
from chainrule.data.files import errors_naming
from chainrule.data.graph_splits import GraphSplits, graph_splits
from chainrule.data.readers.graphs.edge_table import EdgeEncoder
from chainrule.data.readers.graphs.node_encoder import (
    NodeEncoder,
    checked_ids,
    digest_of,
    id_column,
)
from chainrule.data.readers.tables.column_encodings import Column, NumericColumn
from chainrule.data.readers.tables.column_fitting import fit_columns
from chainrule.data.readers.tables.column_kinds import numeric_column
from chainrule.data.readers.tables.columns import Columns, read_table
from chainrule.data.readers.tables.numbers import is_missing
from chainrule.data.readers.tables.reading import Reading, decide
from chainrule.data.readers.tables.table import MIN_ROWS, infer_classes, rare_class_remarks
from chainrule.data.readers.tables.table_encoder import TableEncoder
from chainrule.data.splits import TEST_SEED, Seed, stratified_indices
from chainrule.errors import InputError
from chainrule.registry import unknown

MAX_ONE_HOT = 4096  # nodes of a graph without feature columns


@dataclass(frozen=True)
class GraphOptions:
    """What the edges of a graph say besides their ends.

    directed: whether an edge carries messages from its first node to its second only.
    weight: the column of weights of the edges; empty for none.
    edge_features: columns of the edges that the network reads.
    weight_is_feature: whether weights become features, as attention and messages take them.
    """

    directed: bool = False
    weight: str = ""
    edge_features: tuple[str, ...] = ()
    weight_is_feature: bool = False


PLAIN_EDGES = GraphOptions()


@checked
def graph_table(
    edges: str | Path,
    nodes: str | Path,
    target: str,
    seed: Seed = 0,
    ignore: tuple[str, ...] = (),
    options: GraphOptions = PLAIN_EDGES,
) -> GraphSplits:
    """A graph of your own, with three splits of its labeled nodes.

    edges: the path of a table whose first two columns are node ids.
    nodes: the path of a table with one row per node.
    target: the column of `nodes` to predict.
    seed: draws the validation split; the test split is always the same.
    ignore: columns of `nodes` to drop.
    options: direction, weights and features of the edges.

    >>> import pathlib, tempfile
    >>> nodes = "id,size,kind\\n" + "".join(f"{k},{k % 7},{'ab'[k % 2]}\\n" for k in range(40))
    >>> edges = "from,to\\n" + "".join(f"{k},{(k + 2) % 40}\\n" for k in range(40))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name, text in (("nodes", nodes), ("edges", edges)):
    ...         _ = pathlib.Path(folder, f"{name}.csv").write_text(text)
    ...     graph_table(f"{folder}/edges.csv", f"{folder}/nodes.csv", target="kind").graph
    Graph(40 nodes with 1 features, 80 directed edges)
    """
    cells, said = read_table(nodes)
    with errors_naming(nodes):
        key = id_column(cells)
        number = checked_ids(cells, key)
        labeled, labels, classes = labels_of(cells, key, target, ignore)
        y = labels[labeled]
        rest, test = stratified_indices(y, round(0.2 * len(y)), TEST_SEED)
        kept, held = stratified_indices(y[rest], round(0.2 * len(y)), seed)
        parts = labeled[rest[kept]], labeled[rest[held]], labeled[test]
        known = {k: v for k, v in cells.items() if k not in (key, target, *ignore)}
        x, table, remarks = features(known, parts[0].tolist(), len(number))
    links, more = EdgeEncoder.fit(edges, options.directed, options.weight, options.edge_features)
    if len(labeled) < len(number):
        remarks += (f"{len(number) - len(labeled)} of {len(number)} nodes have no {target!r}",)
    digest = digest_of(nodes, edges)
    encoder = NodeEncoder(
        str(nodes), str(edges), key, digest, table, links, options.weight_is_feature
    )
    found, last = links.encode(edges, number, nodes)
    every = said + remarks + more + last + rare_class_remarks(classes, y)
    graph = encoder.graph(x, found)
    return graph_splits(graph, labels, parts, classes, encoder=encoder, remarks=every)


def flag_kept(column: Column, values: list[str], rows: Sequence[int]) -> Column:
    """Zeros and ones as they are: standardized, a rare one is so large that attention saturates."""
    if not isinstance(column, NumericColumn):
        return column
    x = numeric_column(column.name, [values[row] for row in rows])
    flags = np.isin(x[~np.isnan(x)], (0, 1)).all()
    return replace(column, mean=0.0, std=1.0) if flags else column


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


def features(
    cells: Columns, rows: list[int], nodes: int
) -> tuple[Tensor, TableEncoder | None, tuple[str, ...]]:
    """(x, encoding, remarks): the encoded columns, or one-hot features if there are none.

    cells: the columns of features as they are written.
    rows: the training nodes, which decide on the encoding.
    nodes: how many there are.
    """
    formats, notes = decide(cells)
    reading = Reading(formats)
    plain = reading.plain(cells)
    fitted = fit_columns(plain, rows)
    remarks = notes + fitted.remarks
    if fitted.columns:
        columns = tuple(flag_kept(c, plain[c.name], rows) for c in fitted.columns)
        return (
            TableEncoder(columns, "").encode(plain),
            TableEncoder(columns, "", reading=reading),
            remarks,
        )
    if nodes > MAX_ONE_HOT:
        raise InputError(
            f"expected feature columns for a graph of {nodes} nodes; without any, at most "
            f"{MAX_ONE_HOT} nodes are possible"
        )
    remarks += ("no feature columns: every node has a one-hot feature",)
    return torch.eye(nodes), None, remarks
