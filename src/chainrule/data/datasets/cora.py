"""Cora: 2,708 papers on machine learning, the words in each, and who cites whom.

Papers are nodes, citations edges in both directions. A node's features are the words of a list of
1,433 that occur in it, divided by their number; its class is the field. The published split: 20
training papers of each field, 500 for validation, 1,000 for the test; `seed` moves nothing.
"""

from pathlib import Path

from chainrule.data.graph_splits import GraphSplits
from chainrule.data.readers.planetoid import Published, about, load_planetoid

ABOUT = about(
    "cora",
    "x (n,) node numbers; y 7 classes; 140 / 500 / 1,000; graph 2,708 nodes, 1,433 features, "
    "5,278 edges",
    "McCallum, Nigam, Rennie and Seymore (2000), Automating the Construction of Internet Portals "
    "with Machine Learning",
)
CORA = Published(
    name="cora",
    classes=(
        "theory",
        "reinforcement learning",
        "genetic algorithms",
        "neural networks",
        "probabilistic methods",
        "case-based",
        "rule learning",
    ),
    nodes=2708,
    edges=5278,
    features=1433,
)


def load(folder: Path | None = None, seed: int = 0) -> GraphSplits:
    return load_planetoid(CORA, folder)
