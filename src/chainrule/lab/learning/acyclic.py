"""Claim: a computation graph must be acyclic; a recurrence becomes so once unrolled (A 1.3.7).

    accepted  =  no directed cycle:   a_n = Σ_{k≥1} (-1)^{k+1} C(n, k) 2^{k(n-k)} a_{n-k},   a_0 = 1
    z = φ(U z + V x)   a cycle          z_t = φ(U z_{t-1} + V x_t),  t = 1 … T   none

Measured: wrong decisions of the library's graph class. It is given all 2^{n(n-1)} graphs of n = 1 …
`nodes` nodes and must accept as many as have no cycle. It must also accept the unrolled Elman
network of 1 … `steps` steps, and refuse the one whose state is both argument and result.
Bound: exactly 0; these are counts.
a_n: Robinson (1973).
"""

from collections.abc import Callable, Sequence
from itertools import permutations, product
from math import comb

import torch

from chainrule.autodiff.computation_graph import Edge, Graph, Node, trace
from chainrule.errors import InputError
from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.models.recurrent.elman import Elman

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
    """A test that accepts cycles of three, and one that refuses some graphs without a cycle."""

    def short(n: int, edges: Sequence[Edge]) -> bool:
        return all(a != b and (b, a) not in edges for a, b in edges)

    return {
        "cycles of three accepted": lambda: verdict(short, 3, 2),
        "only edges to later nodes": lambda: verdict(
            lambda n, edges: all(a < b for a, b in edges), 3, 2
        ),
    }


def verdict(takes: Callable[[int, Sequence[Edge]], bool], nodes: int, steps: int) -> Verdict:
    """Counts of accepted graphs against Robinson's; the recurrence unrolled and folded."""
    sizes = list(range(1, nodes + 1))
    counts = [sum(takes(n, edges) for edges in every_graph(n)) for n in sizes]
    wrong = sum(abs(found - acyclic(n)) for n, found in zip(sizes, counts, strict=True))
    wrong += sum(not takes(*unrolled(T)) for T in range(1, steps + 1)) + takes(*folded())
    shares = [found / graphs(n) for n, found in zip(sizes, counts, strict=True)]
    more = range(1, nodes + 3)
    fine = list(map(float, more))
    return Verdict(
        quantity="graphs wrongly accepted or refused",
        measured=float(wrong),
        relation="=",
        bound=0.0,
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
        details={"graphs tried": float(sum(map(graphs, sizes)))},
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


def unrolled(T: int) -> tuple[int, Sequence[Edge]]:
    """The traced graph of an Elman network that runs T steps."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        cell, x, z_0 = Elman(2, 3), torch.randn(T, 1, 2), torch.zeros(1, 3)

    def compute() -> torch.Tensor:
        z = z_0
        for x_t in x:
            z = torch.tanh(z @ cell.U.T + x_t @ cell.V.T + cell.b)
        return z

    found = trace(compute, {"z": z_0, **dict(cell.named_parameters())})
    return len(found.nodes), found.edges


def folded() -> tuple[int, Sequence[Edge]]:
    """One step whose result is the node of its argument z."""
    n, edges = unrolled(1)
    return n - 1, [(a, 0 if b == n - 1 else b) for a, b in edges]
