"""The citation graphs of Planetoid: download, restricted unpickling, and assembly of the parts.

    ind.NAME.x, y          features and labels of the training nodes
    ind.NAME.allx, ally    of all nodes but the test nodes, the training nodes first
    ind.NAME.tx, ty        of the test nodes, in the order of ind.NAME.test.index
    ind.NAME.graph         neighbors of each node

The files are Python 2 pickles. A pickle may run any code when it is loaded; this reader allows only
arrays, CSR matrices and lists of numbers, and refuses everything else. The publishers give no
checksums, so the result is compared with the published numbers of nodes, edges and features.
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
from chainrule.data.graph_splits import GraphSplits, graph_splits
from chainrule.data.splits import About
from chainrule.errors import InputError
from chainrule.graphs import Graph, undirected

SOURCE = "https://github.com/kimiyoung/planetoid/raw/master/data"
PARTS = ("x", "y", "tx", "ty", "allx", "ally", "graph")
VALIDATION = 500  # the nodes after the training nodes, as is usual


@dataclass(frozen=True)
class GraphSpec:
    """A published citation graph.

    name: its name in the file names.
    classes: the class names in label order.
    nodes, edges, features: their numbers; edges are undirected and without self-loops.
    """

    name: str
    classes: tuple[str, ...]
    nodes: int
    edges: int
    features: int


class PickledCSR:
    """Stands in for SciPy's CSR matrix while unpickling: it only keeps the state."""

    def __setstate__(self, state: Any) -> None:
        self.state = state


# The names of Python 2; NumPy 2 moved the reconstruction of arrays.
ALLOWED: dict[tuple[str, str], Any] = {
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    ("numpy.core.multiarray", "_reconstruct"): np._core.multiarray._reconstruct,  # type: ignore[attr-defined]
    ("scipy.sparse.csr", "csr_matrix"): PickledCSR,
    ("collections", "defaultdict"): defaultdict,
    ("__builtin__", "list"): list,
}


class RestrictedUnpickler(Unpickler):
    """Builds nothing but arrays, CSR matrices and lists."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in ALLOWED:
            raise UnpicklingError(f"{module}.{name} is not allowed")
        return ALLOWED[module, name]


def load_planetoid(spec: GraphSpec, folder: Path | None) -> GraphSplits:
    """The graph with the published split: 20 nodes per class, 500 and 1,000 nodes."""
    parts = {part: restricted_load(fetch_part(spec.name, part, folder)) for part in PARTS}
    path = fetch_part(spec.name, "test.index", folder)
    try:
        return assemble(parts, test_nodes(path), spec)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        raise cache.damaged(path.with_name(f"ind.{spec.name}.*"), str(error)) from error


def about(name: str, shapes: str, citation: str) -> About:
    return About(
        task="classification",
        source=f"{SOURCE}/ind.{name}.*",
        license="not stated by the publishers",
        citation=f"{citation}; split: Yang, Cohen and Salakhutdinov (2016), Revisiting "
        "Semi-Supervised Learning with Graph Embeddings",
        shapes=shapes,
    )


def fetch_part(name: str, part: str, folder: Path | None) -> Path:
    file = f"ind.{name}.{part}"
    return cache.fetch(f"planetoid/{file}", f"{SOURCE}/{file}", None, folder)


def restricted_load(path: Path) -> Any:
    """The content of a pickle of arrays, CSR matrices and lists."""
    try:
        with path.open("rb") as stream:
            found = RestrictedUnpickler(stream, encoding="latin1").load()
        return csr_matrix(found) if isinstance(found, PickledCSR) else found
    except Exception as error:  # a damaged pickle may raise anything
        raise cache.damaged(path, str(error)) from error


def csr_matrix(found: PickledCSR) -> csr_array:
    """The matrix with the pickled state."""
    state = found.state
    parts = tuple(np.asarray(state[name]) for name in ("data", "indices", "indptr"))
    rows = csr_array(parts, shape=state["_shape"])
    rows.check_format(full_check=True)
    return rows


def test_nodes(path: Path) -> np.ndarray:
    """The indices of the test nodes, in the order of the test files."""
    try:
        return np.array(path.read_text("ascii").split(), dtype=np.int64)
    except (ValueError, OSError) as error:
        raise cache.damaged(path, "expected one node index per line") from error


def assemble(parts: dict[str, Any], test: np.ndarray, spec: GraphSpec) -> GraphSplits:
    """All nodes in the order of the graph; test nodes missing from the files have no features."""
    before, nodes = parts["allx"].shape[0], spec.nodes
    x = lil_array((nodes, spec.features), dtype=np.float32)
    x[:before] = parts["allx"]
    x[test] = parts["tx"]
    y = np.full(nodes, -1)
    y[:before] = labels(parts["ally"])
    y[test] = labels(parts["ty"])
    pairs = [(n, m) for n, near in parts["graph"].items() for m in near]
    edge_index = undirected(torch.tensor(pairs).T)
    graph = Graph(normalize_rows(x.tocsr()), edge_index)
    train = parts["x"].shape[0]
    found = (len(test), edge_index.shape[1], parts["allx"].shape[1], parts["ally"].shape[1])
    wanted = (1000, 2 * spec.edges, spec.features, len(spec.classes))
    if found != wanted:
        raise InputError(
            f"expected {wanted} test nodes, directed edges, features and classes, got {found}"
        )
    rows = torch.arange(train + VALIDATION)
    chosen = rows[:train], rows[train:], torch.from_numpy(np.sort(test))
    return graph_splits(graph, torch.from_numpy(y), chosen, spec.classes)


def labels(one_hot: np.ndarray) -> np.ndarray:
    """The class of each row; -1 for a row without one."""
    return np.where(one_hot.any(1), one_hot.argmax(1), -1)


def normalize_rows(x: csr_array) -> Tensor:
    """Every row divided by its sum, as in Kipf and Welling; an empty row stays zero."""
    dense = torch.from_numpy(x.toarray())
    return dense / dense.sum(1, keepdim=True).clamp_min(1)
