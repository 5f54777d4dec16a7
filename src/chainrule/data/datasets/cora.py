"""Cora: a citation graph of 2,708 papers on machine learning, classified by field.

Papers are nodes, citations undirected edges. A node's features say which of 1,433 words occur in
the paper, divided by their number. The published split has 20 training papers per field, 500 for
validation and 1,000 for the test; the seed has no effect.
"""

from pathlib import Path

from chainrule.data.graph_splits import GraphSplits
from chainrule.data.readers.planetoid import GraphSpec, about, load_planetoid

ABOUT = about(
    "cora",
    "x (n,) node numbers; y 7 classes; 140 / 500 / 1,000; graph 2,708 nodes, 1,433 features, "
    "5,278 edges",
    "McCallum, Nigam, Rennie and Seymore (2000), Automating the Construction of Internet Portals "
    "with Machine Learning",
)
CORA = GraphSpec(
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
