"""Stochastic block model: four groups of nodes, more edges within a group than between groups.

    P(edge between m and n) = p_in if both are in one group, else p_out
    x_m = e_group(m) + σ noise

A thousand nodes with 14 neighbors within the group and 6 outside it on average. The features are so
noisy that without the graph half of the nodes are misclassified. 40 nodes are labeled for training,
300 are for validation, drawn by the seed, and 500 for the test.
"""

from pathlib import Path

import torch
from jaxtyping import Float, Int
from torch import Tensor

from chainrule.data.graph_splits import GraphSplits, graph_splits
from chainrule.data.splits import TEST_SEED, About, stratified_indices
from chainrule.graphs import Graph, undirected

ABOUT = About(
    task="classification",
    source="generated",
    license="public domain",
    citation="Holland, Laskey and Leinhardt (1983), Stochastic Blockmodels: First Steps",
    shapes="x (n,) node numbers; y 4 classes; 40 / 300 / 500; graph 1,000 nodes, 4 features",
)
GROUPS, NODES = 4, 1000
WITHIN, OUTSIDE = 14.0, 6.0  # mean number of neighbors of a node
NOISE = 1.0
LABELED, VALIDATION, TEST = 40, 300, 500


def load(folder: Path | None = None, seed: int = 0) -> GraphSplits:
    generator = torch.Generator().manual_seed(TEST_SEED)
    labels = torch.arange(NODES) % GROUPS
    own = NODES // GROUPS
    p_in, p_out = WITHIN / own, OUTSIDE / (NODES - own)
    rates = torch.full((GROUPS, GROUPS), p_out).fill_diagonal_(p_in)
    x = torch.eye(GROUPS)[labels] + NOISE * torch.randn(NODES, GROUPS, generator=generator)
    graph = Graph(x, block_edges(labels, rates, generator))
    rest, test = stratified_indices(labels, TEST, TEST_SEED)
    others, labeled = stratified_indices(labels[rest], LABELED, TEST_SEED)
    _, validation = stratified_indices(labels[rest[others]], VALIDATION, seed)
    parts = rest[labeled], rest[others][validation], test
    return graph_splits(graph, labels, parts, tuple(f"group {k + 1}" for k in range(GROUPS)))


def block_edges(
    labels: Int[Tensor, " nodes"],
    rates: Float[Tensor, "groups groups"],
    generator: torch.Generator,
) -> Int[Tensor, "2 edges"]:
    """Independent edges with P(m, n) = rates[group of m, group of n]."""
    first, second = torch.triu_indices(len(labels), len(labels), 1)
    chosen = torch.rand(len(first), generator=generator) < rates[labels[first], labels[second]]
    return undirected(torch.stack([first, second])[:, chosen])
