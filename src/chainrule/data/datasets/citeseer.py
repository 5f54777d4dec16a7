"""Citeseer: a citation graph of 3,327 papers on computer science, classified by field.

Papers are nodes, citations undirected edges. A node's features say which of 3,703 words occur in
the paper, divided by their number. 48 papers have no neighbor, 15 of which have no words and no
class either. The published split has 20 training papers per field, 500 for validation and 1,000 for
the test; the seed has no effect.
"""

from pathlib import Path

from chainrule.data.graph_splits import GraphSplits
from chainrule.data.readers.planetoid import GraphSpec, about, load_planetoid

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
)


def load(folder: Path | None = None, seed: int = 0) -> GraphSplits:
    return load_planetoid(CITESEER, folder)
