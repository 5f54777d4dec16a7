"""The citation graphs of Planetoid: fetching, unpickling what is allowed, and joining the parts.

    ind.NAME.x, y          features and labels of the training nodes
    ind.NAME.allx, ally    of all nodes but the test nodes, the training nodes first
    ind.NAME.tx, ty        of the test nodes, in the order of ind.NAME.test.index
    ind.NAME.graph         neighbors of each node

The files are Python 2 pickles. A pickle may run any code when it is loaded; this reader lets it
build arrays, compressed rows and lists of numbers, and refuses everything else. The publishers give
no checksums, so what is read is compared with the published numbers of nodes, edges and features.
"""

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from pickle import Unpickler, UnpicklingError
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array, lil_array
from torch import Tensor

from chainrule.data import cache
from chainrule.data.graph_splits import GraphSplits, split
from chainrule.data.splits import About
from chainrule.errors import InputError
from chainrule.graphs import Graph, undirected

SOURCE = "https://github.com/kimiyoung/planetoid/raw/master/data"
PARTS = ("x", "y", "tx", "ty", "allx", "ally", "graph")
VALIDATION = 500  # nodes after the training nodes, as everybody takes them


@dataclass(frozen=True)
class Published:
    """What a citation graph must be: its name in the files, and its numbers."""

    name: str
    classes: tuple[str, ...]
    nodes: int
    edges: int  # undirected, loops left out
    features: int


class Rows:
    """Stands in for SciPy's CSR matrix while unpickling: it keeps the state and does nothing."""

    def __setstate__(self, state: Any) -> None:
        self.state = state


# Python 2 wrote these names; the reconstruction of an array lives elsewhere since NumPy 2.
ALLOWED: dict[tuple[str, str], Any] = {
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    ("numpy.core.multiarray", "_reconstruct"): np._core.multiarray._reconstruct,  # type: ignore[attr-defined]
    ("scipy.sparse.csr", "csr_matrix"): Rows,
    ("collections", "defaultdict"): defaultdict,
    ("__builtin__", "list"): list,
}


class Restricted(Unpickler):
    """Builds nothing but arrays, compressed rows and lists."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in ALLOWED:
            raise UnpicklingError(f"it asks for {module}.{name}, which is not allowed here")
        return ALLOWED[module, name]


def load_planetoid(published: Published, folder: Path | None) -> GraphSplits:
    """The graph with the published split: 20 nodes of each class, 500 and 1,000 nodes."""
    parts = {part: unpickled(fetched(published.name, part, folder)) for part in PARTS}
    path = fetched(published.name, "test.index", folder)
    try:
        return joined(parts, test_nodes(path), published)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        raise cache.damaged(path.with_name(f"ind.{published.name}.*"), str(error)) from error


def about(name: str, shapes: str, citation: str) -> About:
    return About(
        task="classification",
        source=f"{SOURCE}/ind.{name}.*",
        license="not stated by the publishers",
        citation=f"{citation}; split: Yang, Cohen and Salakhutdinov (2016), Revisiting "
        "Semi-Supervised Learning with Graph Embeddings",
        shapes=shapes,
    )


def fetched(name: str, part: str, folder: Path | None) -> Path:
    file = f"ind.{name}.{part}"
    return cache.fetch(f"planetoid/{file}", f"{SOURCE}/{file}", None, folder)


def unpickled(path: Path) -> Any:
    """What the file holds, if it holds nothing but arrays, compressed rows and lists."""
    try:
        with path.open("rb") as stream:
            found = Restricted(stream, encoding="latin1").load()
        return rows_of(found) if isinstance(found, Rows) else found
    except Exception as error:  # a damaged pickle may raise anything
        raise cache.damaged(path, str(error)) from error


def rows_of(found: Rows) -> csr_array:
    """The matrix whose state was kept."""
    state = found.state
    parts = tuple(np.asarray(state[name]) for name in ("data", "indices", "indptr"))
    rows = csr_array(parts, shape=state["_shape"])
    rows.check_format(full_check=True)
    return rows


def test_nodes(path: Path) -> np.ndarray:
    """The numbers of the test nodes, in the order of the test files."""
    try:
        return np.array(path.read_text("ascii").split(), dtype=np.int64)
    except (ValueError, OSError) as error:
        raise cache.damaged(path, "expected one node number in a line") from error


def joined(parts: dict[str, Any], test: np.ndarray, published: Published) -> GraphSplits:
    """All nodes in the order of the graph; test nodes that the files leave out have no features."""
    before, nodes = parts["allx"].shape[0], published.nodes
    x = lil_array((nodes, published.features), dtype=np.float32)
    x[:before] = parts["allx"]
    x[test] = parts["tx"]
    y = np.full(nodes, -1)
    y[:before] = labels(parts["ally"])
    y[test] = labels(parts["ty"])
    pairs = [(n, m) for n, near in parts["graph"].items() for m in near]
    edge_index = undirected(torch.tensor(pairs).T)
    graph = Graph(row_shares(x.tocsr()), edge_index)
    train = parts["x"].shape[0]
    found = (len(test), edge_index.shape[1], parts["allx"].shape[1], parts["ally"].shape[1])
    wanted = (1000, 2 * published.edges, published.features, len(published.classes))
    if found != wanted:
        raise InputError(
            f"expected {wanted} test nodes, directed edges, features and classes, got {found}"
        )
    rows = torch.arange(train + VALIDATION)
    chosen = rows[:train], rows[train:], torch.from_numpy(np.sort(test))
    return split(graph, torch.from_numpy(y), chosen, published.classes)


def labels(one_hot: np.ndarray) -> np.ndarray:
    """The class of each row; -1 for a row without one."""
    return np.where(one_hot.any(1), one_hot.argmax(1), -1)


def row_shares(x: csr_array) -> Tensor:
    """Every row divided by its sum, as Kipf and Welling do; an empty row stays so."""
    dense = torch.from_numpy(x.toarray())
    return dense / dense.sum(1, keepdim=True).clamp_min(1)
