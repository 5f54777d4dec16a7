"""Growth with the edges of a random graph, ten to a node: an epoch of a GCN, 32-16-8."""

from collections.abc import Callable

import torch

from benchmarks.suite.contract import Growth, Line

PER_NODE, FEATURES, HIDDEN, GROUPS = 10, 32, 16, 8


def epoch(edges: int) -> Callable[[], object]:
    """All nodes are labeled."""
    from chainrule.graphs import Graph
    from chainrule.models.geometric.gcn import GCN
    from chainrule.nn.on_graph import OnGraph
    from chainrule.training import Settings, iterate

    nodes = max(1, edges // PER_NODE)
    torch.manual_seed(0)
    graph = Graph(torch.randn(nodes, FEATURES), torch.randint(nodes, (2, edges)))
    model = OnGraph(GCN(FEATURES, [HIDDEN], GROUPS), graph)
    split = torch.arange(nodes), torch.randint(GROUPS, (nodes,))
    settings = Settings(epochs=10**6, batch_size=nodes, learning_rate=0.01)
    reports = iterate(model, split, settings=settings, device="cpu")
    return lambda: next(now for now in reports if now.record) and None


ROW = Growth(
    axis="edges",
    lines={"GCN": Line(epoch, [10_000, 100_000, 1_000_000, 3_000_000, 10_000_000], 1.0, 1.0)},
    tiny=(20, 40),
)
