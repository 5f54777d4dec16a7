"""Citeseer: a citation graph of 3,327 papers on computer science, classified by field.

Papers are nodes, citations undirected edges. A node's features say which of 3,703 words occur in
the paper, divided by their number. 48 papers have no neighbor, 15 of which have no words and no
class either. The published split has 20 training papers per field, 500 for validation and 1,000 for
the test; the seed has no effect.
"""

from pathlib import Path

from chainrule.data.graph_splits import GraphSplits
from chainrule.data.readers.graphs.planetoid import GraphSpec, about, load_planetoid

ABOUT = about(
    "citeseer",
    "x (n,) node numbers; y 6 classes; 120 / 500 / 1,000; graph 3,327 nodes, 3,703 features, "
    "4,552 edges",
    "Giles, Bollacker and Lawrence (1998), CiteSeer: An Automatic Citation Indexing System",
)
CITESEER = GraphSpec(
    name="citeseer",
    classes=(
        "artificial intelligence",
        "machine learning",
        "retrieval",
        "databases",
        "agents",
        "interaction",
    ),
    nodes=3327,
    edges=4552,
    features=3703,
    checksums={
        "x": "d20de19150741e555de0ed037195630fc194114ebc7fd72ced62810148aa22f6",
        "y": "8ba87e515d8e3ee3cf52f6d2c5b86aa73f11ecad825a808455209ec26cd54924",
        "tx": "539a8906a2da97628d212f2fdd668c109a8b3f0d36574b59e5d3fd5b5303da21",
        "ty": "55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce",
        "allx": "2ac30345d95c9ec933a817ee0bdd6a5f077f8c184a20e696910192d534414668",
        "ally": "f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95",
        "graph": "d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7",
        "test.index": "2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4",
    },
)


def load(folder: Path | None = None, seed: int = 0) -> GraphSplits:
    return load_planetoid(CITESEER, folder)
