"""Karate club: who met whom among 34 members before the club fell apart.

Members are nodes, friendships edges. The class is the club that a member joined after the split, as
Zachary saw it. Only the two leaders have a label in training: Mr. Hi, member 0, and the officer,
member 33. The features are one unit per member. Of the 32 others 22 are for the test, always the
same; the seed draws 8 of the last 10 for validation.
"""

from pathlib import Path

import networkx
import torch

from chainrule.data.graph_splits import GraphSplits, split
from chainrule.data.splits import TEST_SEED, About, draw
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
TESTED, VALIDATED = 22, 8


def load(folder: Path | None = None, seed: int = 0) -> GraphSplits:
    club = networkx.karate_club_graph()
    labels = torch.tensor([CLASSES.index(club.nodes[member]["club"]) for member in club])
    members = torch.tensor([member for member in club if member not in LEADERS])
    rest, tested = draw(labels[members], TESTED, TEST_SEED)
    _, validated = draw(labels[members[rest]], VALIDATED, seed)
    parts = (torch.tensor(LEADERS), members[rest[validated]], members[tested])
    graph = from_networkx(club, torch.eye(len(club)))
    return split(graph, labels, parts, CLASSES)
