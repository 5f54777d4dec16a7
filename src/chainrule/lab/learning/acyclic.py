"""Claim: a graph without a cycle has finitely many paths, whose sum is the gradient (A 1.3.7).

    accepted   =   A has no closed walk   =   Aⁿ = 0           A_ij = 1 where j → i, of n nodes
    ∂ℓ/∂v_j    =   Σ over paths j → … → ℓ of Π ∂f_i/∂v_j   =   Σ_{k<n} (Jᵏ)_{ℓj},    a finite sum
    z = φ(U z + V x)   a cycle          z_t = φ(U z_{t-1} + V x_t),  t = 1 … T   none

Measured: wrong decisions of the library's graph class. It is given all 2^{n(n-1)} graphs of n = 1 …
`nodes` nodes, and must accept exactly those with Aⁿ = 0. It must also accept the unrolled Elman
network of 1 … `steps` steps, and refuse the one whose state is both argument and result.
Bound: exactly 0; these are counts. For the unrolled networks the sum over paths of the derivatives
along every edge must be autograd's gradient to 1e-5, single precision.
The accepted graphs are counted by Robinson (1973): 1, 3, 25, 543, 29281.
"""

from collections.abc import Callable, Sequence
from itertools import permutations, product
from math import comb

import numpy as np
import torch

from chainrule.autodiff.computation_graph import Edge, Graph, Node, trace
from chainrule.errors import InputError
from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.models.recurrent.elman import Elman

ROUNDING = 1e-5
NODE = Node("node", "any", torch.zeros(()))


def check(nodes: int = 4, steps: int = 6) -> Verdict:
    """The library's graph class.

    Args:
        nodes: Largest number of nodes.
        steps: Largest number of unrolled steps.
    """
    return verdict(accepted, nodes, steps)


def broken() -> Verdict:
    """Only edges from a node to itself are refused; longer cycles are not."""
    return verdict(lambda n, edges: all(a != b for a, b in edges), 3, 2)


def near() -> Near:
    """Tests that accept cycles of three or refuse graphs without a cycle, and other sums."""

    def short(n: int, edges: Sequence[Edge]) -> bool:
        return all(a != b and (b, a) not in edges for a, b in edges)

    return {
        "cycles of three accepted": lambda: verdict(short, 3, 2),
        "only edges to later nodes": lambda: verdict(
            lambda n, edges: all(a < b for a, b in edges), 3, 2
        ),
        **ten_percent("∂f/∂v", lambda factor: verdict(accepted, 2, 2, scale=factor)),
        "without the longest paths": lambda: verdict(accepted, 2, 2, dropped=1),
    }


def verdict(
    takes: Callable[[int, Sequence[Edge]], bool],
    nodes: int,
    steps: int,
    scale: float = 1.0,
    dropped: int = 0,
) -> Verdict:
    """Decisions on all graphs; the recurrence unrolled and folded, and its sum over paths."""
    sizes = list(range(1, nodes + 1))
    decisions = {n: [(takes(n, e), nilpotent(n, e)) for e in every_graph(n)] for n in sizes}
    wrong = sum(took != right for each in decisions.values() for took, right in each)
    networks = [unrolled(T) for T in range(1, steps + 1)]
    wrong += sum(not takes(len(g.nodes), g.edges) for g in networks) + takes(*folded())
    off = max(path_sum_difference(graph, scale, dropped) for graph in networks)
    shares = [sum(took for took, _ in decisions[n]) / len(decisions[n]) for n in sizes]
    more = range(1, nodes + 3)
    fine = list(map(float, more))
    return Verdict(
        quantity="graphs wrongly accepted or refused",
        measured=float(wrong),
        relation="=",
        bound=0.0,
        conditions={"the sum over paths is the gradient": off <= ROUNDING},
        picture=Picture(
            title="A vanishing fraction of directed graphs are computation graphs",
            x_label="nodes n",
            y_label="fraction accepted",
            curves={
                "without a cycle, a_n / 2ⁿ⁽ⁿ⁻¹⁾": (fine, [acyclic(n) / graphs(n) for n in more])
            },
            points={"accepted": (list(map(float, sizes)), shares)},
            log="y",
        ),
        details={
            "graphs tried": float(sum(map(graphs, sizes))),
            "largest relative |sum over paths - gradient|": off,
        },
    )


def acyclic(n: int) -> int:
    """a_n, Robinson's number of labeled graphs without a directed cycle: 1, 3, 25, 543, 29281."""
    terms = (
        (-1) ** (k + 1) * comb(n, k) * 2 ** (k * (n - k)) * acyclic(n - k) for k in range(1, n + 1)
    )
    return sum(terms) if n else 1


def graphs(n: int) -> int:
    return 2 ** (n * (n - 1))


def every_graph(n: int) -> list[list[Edge]]:
    """All sets of edges between n nodes."""
    places = list(permutations(range(n), 2))
    return [
        [edge for edge, there in zip(places, choice, strict=True) if there]
        for choice in product([False, True], repeat=len(places))
    ]


def accepted(n: int, edges: Sequence[Edge]) -> bool:
    """Whether the library accepts it as a computation graph."""
    try:
        Graph([NODE] * n, edges)
    except InputError:
        return False
    return True


def nilpotent(n: int, edges: Sequence[Edge]) -> bool:
    """Whether Aⁿ = 0: no walk of n edges, which would have to visit a node twice."""
    A = np.zeros((n, n), dtype=np.int64)
    for argument, result in edges:
        A[result, argument] = 1
    return not np.linalg.matrix_power(A, n).any()


def unrolled(T: int) -> Graph:
    """The traced graph of an Elman network that runs T steps."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        cell, x, z_0 = Elman(2, 3), torch.randn(T, 1, 2), torch.zeros(1, 3)

    def compute() -> torch.Tensor:
        z = z_0
        for x_t in x:
            z = torch.tanh(z @ cell.U.T + x_t @ cell.V.T + cell.b)
        return z.sum()

    return trace(compute, {"z": z_0, **dict(cell.named_parameters())}, jacobians=True)


def folded() -> tuple[int, Sequence[Edge]]:
    """One step whose result, the last node but its sum, is the node of its argument z."""
    graph = unrolled(1)
    result = len(graph.nodes) - 2
    return len(graph.nodes), [(a, 0 if b == result else b) for a, b in graph.edges]


def path_sum_difference(graph: Graph, scale: float, dropped: int) -> float:
    """Largest relative distance between Σ_k (Jᵏ) and autograd's gradient, of all nodes."""
    sizes = [node.value.numel() for node in graph.nodes]
    begin = np.concatenate([[0], np.cumsum(sizes)])
    J = torch.zeros(int(begin[-1]), int(begin[-1]))
    for (j, i), local in graph.jacobians.items():
        block = J[begin[i] : begin[i + 1], begin[j] : begin[j + 1]]
        block += scale * local.reshape(sizes[i], sizes[j])
    walk = torch.zeros(len(J))
    walk[-1] = 1.0
    walks = []
    while walk.any():
        walks.append(walk)
        walk = walk @ J
    total = torch.stack(walks[: len(walks) - dropped]).sum(0)
    expected = torch.cat(
        [(torch.zeros(0) if n.gradient is None else n.gradient).flatten() for n in graph.nodes]
    )
    known = torch.cat(
        [torch.full((s,), n.gradient is not None) for s, n in zip(sizes, graph.nodes, strict=True)]
    )
    return ((total[known] - expected).abs().max() / expected.abs().max()).item()
