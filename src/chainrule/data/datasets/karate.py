"""Karate club: 34 members, classified by the club they joined after a split.

Members are nodes, friendships edges. The features are one-hot, one per member. Only the two leaders
are labeled for training: Mr. Hi, member 0, and the officer, member 33. Of the 32 others a fixed 22
are the test split; the seed draws 8 of the remaining 10 for validation.
"""

from pathlib import Path

import networkx
import torch

from chainrule.data.graph_splits import GraphSplits, graph_splits
from chainrule.data.splits import TEST_SEED, About, stratified_indices
from chainrule.graphs import from_networkx

ABOUT = About(
    task="classification",
    source="networkx.karate_club_graph",
    license="BSD (package networkx)",
    citation="Zachary (1977), An Information Flow Model for Conflict and Fission in Small Groups",
    shapes="x (n,) node numbers; y 2 classes; 2 / 8 / 22; graph 34 nodes, 34 features, 78 edges",
)
CLASSES = ("Mr. Hi", "Officer")
LEADERS = (0, 33)
TEST, VALIDATION = 22, 8


def load(folder: Path | None = None, seed: int = 0) -> GraphSplits:
    club = networkx.karate_club_graph()
    labels = torch.tensor([CLASSES.index(club.nodes[member]["club"]) for member in club])
    members = torch.tensor([member for member in club if member not in LEADERS])
    rest, test = stratified_indices(labels[members], TEST, TEST_SEED)
    _, validation = stratified_indices(labels[members[rest]], VALIDATION, seed)
    parts = (torch.tensor(LEADERS), members[rest[validation]], members[test])
    graph = from_networkx(club, torch.eye(len(club)))
    return graph_splits(graph, labels, parts, CLASSES)
