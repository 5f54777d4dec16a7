"""Networks whose layers are polynomials of a graph's Laplacian, in whatever basis.

    h = Σ_{k<K} P_k(L) X W_k + b,        P_k of degree k: the filter sees K - 1 hops

The P_k(L) X of the first layer hold no weights, so they are computed once, and kept sparse where
they are. Notes: J 7.5.
"""

from abc import abstractmethod
from collections.abc import Sequence
from itertools import pairwise

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import init

from chainrule.errors import InputError
from chainrule.graphs import Graph
from chainrule.nn.dropout import dropout
from chainrule.nn.sparse import Sparse, matrix


class Filter(nn.Module):
    """The weights W_k and the bias of one layer."""

    def __init__(self, terms: int, inputs: int, outputs: int):
        super().__init__()
        W = torch.empty(terms, inputs, outputs)
        for each in W:
            init.xavier_uniform_(each)
        self.W, self.b = nn.Parameter(W), nn.Parameter(torch.zeros(outputs))

    def forward(self, terms: Sequence[Tensor]) -> Float[Tensor, "nodes outputs"]:
        """Σ_k P_k(L) X W_k + b from the P_k(L) X, as one product."""
        return torch.cat(list(terms), 1) @ self.W.flatten(0, 1) + self.b


class FilterNetwork(nn.Module):
    """Polynomial filters with ReLUs between them; `OnGraph` puts it on a graph."""

    def __init__(
        self,
        inputs: int,
        hidden: Sequence[int],
        outputs: int,
        terms: int = 3,
        dropout: float = 0.5,
    ):
        super().__init__()
        sizes = [inputs, *hidden, outputs]
        if min(sizes) < 1 or terms < 1 or not 0 <= dropout < 1:
            raise InputError(
                "expected layers of at least one unit, at least one term and a dropout from 0 to "
                f"below 1, got {'-'.join(map(str, sizes))}, {terms} and {dropout}"
            )
        self.rate, self.terms = dropout, terms
        self.layers = nn.ModuleList(Filter(terms, m, n) for m, n in pairwise(sizes))

    @abstractmethod
    def operator(self, graph: Graph) -> Sparse:
        """The Laplacian that the polynomials are of."""

    @abstractmethod
    def polynomials(self, L: Sparse, x: Float[Tensor, "nodes width"]) -> list[Tensor]:
        """P_0(L) x, …, P_{K-1}(L) x."""

    def views(self, graph: Graph) -> nn.ModuleDict:
        """P_k(L) X for all k, and L."""
        L = self.operator(graph)
        first = nn.ModuleList(map(matrix, self.polynomials(L, graph.x)))
        return nn.ModuleDict({"first": first, "laplacian": L})

    def forward(self, first: nn.ModuleList, laplacian: Sparse) -> Float[Tensor, "nodes outputs"]:
        """f from the P_k(L) X and L."""
        return self.layer_outputs(first, laplacian)[-1]

    def hidden(self, first: nn.ModuleList, laplacian: Sparse) -> Float[Tensor, "nodes width"]:
        """What the last layer sees: an embedding of the nodes."""
        return [first[0].dense(), *self.layer_outputs(first, laplacian)][-2]  # type: ignore[operator]

    def layer_outputs(self, first: nn.ModuleList, laplacian: Sparse) -> list[Tensor]:
        """Of every layer, after its ReLU; the last one has none."""
        begin, *rest = self.layers
        assert isinstance(begin, Filter)
        each = (
            PX.times(W, dropout(PX.values, self.rate, self.training))  # type: ignore[arg-type, operator]
            for PX, W in zip(first, begin.W, strict=True)
        )
        found = [sum(each, begin.b)]
        for layer in rest:
            found[-1] = found[-1].relu()
            h = dropout(found[-1], self.rate, self.training)
            found.append(layer(self.polynomials(laplacian, h)))
        return found
