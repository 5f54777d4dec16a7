"""Weisfeiler-Leman: nodes are recolored by their neighborhoods until no color class splits.

    c_0(m)   = x_m
    c_t+1(m) = a new color for each pair (c_t(m), {{c_t(n) : n → m}})
    G ≁ H    if some color occurs in one more often than in the other         (1-WL test)

    k(G, H) = ⟨φ(G), φ(H)⟩ / ‖φ(G)‖ ‖φ(H)‖,   φ counts the colors of rounds 0 … T
    f(G)    = Σ_i α_i k(G, G_i),    α = (K + μ I)⁻¹ Y

Graphs that the test does not distinguish may still differ: two triangles and a hexagon look the
same from every node. No message-passing network distinguishes more graphs than this test. The
classifier is a ridge regression on the subtree kernel, solved in closed form.

Weisfeiler and Leman (1968); Shervashidze et al. (2011), JMLR 12; Morris et al. (2019), AAAI.
Notes: J 7.4.
"""

from collections import Counter

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy.sparse import csr_array
from torch import Tensor, nn

from chainrule.arguments import Count, Natural, checked
from chainrule.errors import InputError
from chainrule.graphs import Graph, path, union


@checked
class WeisfeilerLeman(nn.Module):
    """Ridge regression on the Weisfeiler-Leman subtree kernel, for the graphs of a union.

        f(G) = Σ_i α_i k(G, G_i),   k(G, H) = ⟨φ(G), φ(H)⟩ / ‖φ(G)‖ ‖φ(H)‖

    φ counts the colors of each round of refinement.

    Args:
        graphs: The union of all graphs, those to predict included.
        num_classes: Number of classes.
        rounds: Rounds of refinement.

    >>> graphs = union([Graph(torch.ones(n, 1), path(n)) for n in range(3, 9)])
    >>> model = WeisfeilerLeman(graphs, num_classes=2)
    >>> model.fit(torch.tensor([0, 5]), torch.tensor([0, 1]))  # the paths of 3 and of 8 nodes
    >>> model(torch.arange(6)).argmax(1).tolist()
    [0, 1, 1, 1, 1, 1]
    """

    K: Tensor
    alpha: Float[Tensor, "graphs classes"]

    def __init__(self, graphs: Graph, num_classes: Count, rounds: Natural = 3):
        super().__init__()
        self.register_buffer("K", kernel(color_counts(graphs, rounds)), persistent=False)
        self.register_buffer("alpha", torch.zeros(graphs.num_graphs, num_classes))

    def fit(self, which: Int[Tensor, " n"], y: Int[Tensor, " n"], ridge: float = 0.1) -> None:
        """α ← (K + μ I)⁻¹ Y on the graphs with these numbers, Y one-hot; 0 for all others."""
        K, classes = self.K[which][:, which].double(), self.alpha.shape[1]
        Y = torch.nn.functional.one_hot(y, classes).double()
        solved = torch.linalg.solve(K + ridge * torch.eye(len(K)), Y)
        self.alpha.zero_()[which] = solved.float()

    def forward(self, which: Int[Tensor, " batch"]) -> Float[Tensor, "batch classes"]:
        """Σ_i α_i k(G, G_i) of the graphs with these numbers."""
        return self.K.index_select(0, which) @ self.alpha


def refine(graph: Graph, rounds: int | None = None) -> list[Int[np.ndarray, " nodes"]]:
    """Colors of every node in rounds 0, 1, …; without `rounds`, until no color class splits.

    A color is a number, the same in all graphs of a union.
    """
    colors = np.unique(graph.x.numpy(force=True), axis=0, return_inverse=True)[1].reshape(-1)
    source, target = graph.edge_index.numpy(force=True)
    found = [colors]
    while rounds is None or len(found) <= rounds:
        order = np.lexsort((colors[source], target))
        ends = np.searchsorted(target[order], np.arange(1, graph.num_nodes))
        neighbors = np.split(colors[source][order], ends)
        seen: dict[tuple[int, bytes], int] = {}
        pairs = ((int(own), near.tobytes()) for own, near in zip(colors, neighbors, strict=True))
        colors = np.array([seen.setdefault(pair, len(seen)) for pair in pairs])
        if rounds is None and len(seen) == len(np.unique(found[-1])):
            return found
        found.append(colors)
    return found


def distinguishable(one: Graph, other: Graph) -> bool:
    """Whether the 1-WL test distinguishes two graphs; if not, they may still differ."""
    if one.num_nodes != other.num_nodes:
        return True
    colors = refine(union([one, other]))[-1]
    return Counter(colors[: one.num_nodes].tolist()) != Counter(colors[one.num_nodes :].tolist())


def color_counts(graphs: Graph, rounds: int) -> csr_array:
    """φ: the count of each color of each round in each graph."""
    if rounds < 0:
        raise InputError(f"rounds must be at least 0, got {rounds}")
    owner, columns, start = graphs.graph_of_node.numpy(force=True), [], 0
    for colors in refine(graphs, rounds):
        columns.append(colors + start)
        start += int(colors.max()) + 1
    rows = np.tile(owner, len(columns))
    ones = np.ones(len(rows))
    return csr_array((ones, (rows, np.concatenate(columns))), shape=(graphs.num_graphs, start))


def kernel(counts: csr_array) -> Float[Tensor, "graphs graphs"]:
    """⟨φ(G), φ(H)⟩ / ‖φ(G)‖ ‖φ(H)‖."""
    K = (counts @ counts.T).toarray()
    norm = np.sqrt(K.diagonal())
    return torch.from_numpy(K / np.outer(norm, norm)).float()


def example() -> tuple[WeisfeilerLeman, Tensor]:
    """Paths of three to eight nodes, classified by parity, and five of them."""
    graphs = union([Graph(torch.ones(n, 1), path(n)) for n in range(3, 9)])
    model = WeisfeilerLeman(graphs, num_classes=2)
    model.fit(torch.arange(6), torch.arange(6) % 2)
    return model, torch.arange(5)
