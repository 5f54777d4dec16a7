"""Citeseer: 3,327 papers on computer science, the words in each, and who cites whom.

Papers are nodes, citations edges in both directions. A node's features are the words of a list of
3,703 that occur in it, divided by their number; its class is the field. 48 papers have no
neighbor, 15 of which have no words and no class either. The published split: 20 training papers of
each field, 500 for validation, 1,000 for the test; `seed` moves nothing.
"""

from pathlib import Path

from chainrule.data.graph_splits import GraphSplits
from chainrule.data.readers.planetoid import Published, about, load_planetoid

ABOUT = about(
    "citeseer",
    "x (n,) node numbers; y 6 classes; 120 / 500 / 1,000; graph 3,327 nodes, 3,703 features, "
    "4,552 edges",
    "Giles, Bollacker and Lawrence (1998), CiteSeer: An Automatic Citation Indexing System",
)
CITESEER = Published(
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
