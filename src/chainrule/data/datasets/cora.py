"""Cora: a citation graph of 2,708 papers on machine learning, classified by field.

Papers are nodes, citations undirected edges. A node's features say which of 1,433 words occur in
the paper, divided by their number. The published split has 20 training papers per field, 500 for
validation and 1,000 for the test; the seed has no effect.
"""

from pathlib import Path

from chainrule.data.graph_splits import GraphSplits
from chainrule.data.readers.graphs.planetoid import GraphSpec, about, load_planetoid

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
    checksums={
        "x": "23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab",
        "y": "94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1",
        "tx": "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a",
        "ty": "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad",
        "allx": "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543",
        "ally": "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71",
        "graph": "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d",
        "test.index": "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875",
    },
)


def load(folder: Path | None = None, seed: int = 0) -> GraphSplits:
    return load_planetoid(CORA, folder)
