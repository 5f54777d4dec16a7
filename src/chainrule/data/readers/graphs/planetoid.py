"""The citation graphs of Planetoid: download, and assembly of the parts.

    ind.NAME.x, y          features and labels of the training nodes
    ind.NAME.allx, ally    of all nodes but the test nodes, the training nodes first
    ind.NAME.tx, ty        of the test nodes, in the order of ind.NAME.test.index
    ind.NAME.graph         neighbors of each node

The files are Python 2 pickles, which `pickled` reads as data. The publishers give no checksums;
those in use were computed from the published files, and every file is compared with its own. The
result is compared with the published numbers of nodes, edges and features.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array, lil_array
from torch import Tensor

from chainrule.data import cache
from chainrule.data.files import damaged, read_bytes, reading
from chainrule.data.graph_splits import GraphSplits, graph_splits
from chainrule.data.readers.pickled import read_pickle
from chainrule.data.splits import About
from chainrule.errors import InputError
from chainrule.graphs import Graph, undirected

SOURCE = "https://github.com/kimiyoung/planetoid/raw/master/data"
PARTS = ("x", "y", "tx", "ty", "allx", "ally", "graph")
MAX_PART = 2**24  # bytes of a file; the largest has 595,021
VALIDATION = 500  # the nodes after the training nodes, as is usual


@dataclass(frozen=True)
class GraphSpec:
    """A published citation graph.

    name: its name in the file names.
    classes: the class names in label order.
    nodes, edges, features: their numbers; edges are undirected and without self-loops.
    checksums: SHA-256 of each of its files.
    """

    name: str
    classes: tuple[str, ...]
    nodes: int
    edges: int
    features: int
    checksums: Mapping[str, str]


def load_planetoid(spec: GraphSpec, folder: Path | None) -> GraphSplits:
    """The graph with the published split: 20 nodes per class, 500 and 1,000 nodes."""
    parts = {part: read_part(spec, part, folder, read_pickle) for part in PARTS}
    test = read_part(spec, "test.index", folder, read_indices)
    with reading(cache.folder(folder) / f"planetoid/ind.{spec.name}.*"):
        return assemble(parts, test, spec)


def about(name: str, shapes: str, citation: str) -> About:
    return About(
        task="classification",
        source=f"{SOURCE}/ind.{name}.*",
        license="not stated by the publishers",
        citation=f"{citation}; split: Yang, Cohen and Salakhutdinov (2016), Revisiting "
        "Semi-Supervised Learning with Graph Embeddings",
        shapes=shapes,
    )


def read_part(spec: GraphSpec, part: str, folder: Path | None, read: Callable[[bytes], Any]) -> Any:
    """What one file holds; a file that is not the published one is refused."""
    file, checksum = f"ind.{spec.name}.{part}", spec.checksums[part]
    path = cache.fetch(f"planetoid/{file}", f"{SOURCE}/{file}", f"sha256:{checksum}", folder)
    content = read_bytes(path, MAX_PART)
    if hashlib.sha256(content).hexdigest() != checksum:
        raise damaged(path, f"its checksum is not sha256:{checksum}")
    with reading(path):
        return read(content)


def read_indices(content: bytes) -> np.ndarray:
    """The indices of the test nodes, in the order of the test files."""
    return np.array(content.decode("ascii").split(), dtype=np.int64)


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
