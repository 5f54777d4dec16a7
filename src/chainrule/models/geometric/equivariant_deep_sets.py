"""Equivariant Deep Sets: one output for every element of a set, in the order of the elements.

    f(x_1, …, x_M)_m = ρ(x_m, Σ_k φ(x_k))       or the mean, or the maximum, of φ(x_k)

    f(P X) = P f(X)      for every permutation P        (J 7.1 prints f(X) = P f(P X))

Each output depends on its own element and on the whole set. Sets of different sizes share one
tensor with a mask, True where there is an element; the outputs elsewhere are 0.

Zaheer et al. (2017), NeurIPS. Notes: J 7.1, J 7.2.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from chainrule.arguments import checked
from chainrule.nn.set_pooling import elementwise, pool_named

CHUNK_SIZE = 4096  # elements of a large batch that φ and ρ take at a time in evaluation


@checked
class EquivariantDeepSets(nn.Module):
    """A permutation-equivariant function of sets: f(x)_m = ρ(x_m, pool_k φ(x_k)).

    Args:
        phi: Network from one element to its features.
        rho: Network from an element, concatenated with the pooled features, to its output.
        pool: sum, mean or max.

    >>> model = EquivariantDeepSets(nn.Linear(3, 8), nn.Linear(3 + 8, 2))
    >>> model(torch.randn(4, 5, 3)).shape
    torch.Size([4, 5, 2])
    """

    def __init__(self, phi: nn.Module, rho: nn.Module, pool: str = "sum"):
        super().__init__()
        self.phi, self.rho = phi, rho
        self.pool = pool_named(pool)

    def forward(
        self, x: Float[Tensor, "batch size d"], mask: Bool[Tensor, "batch places"] | None = None
    ) -> Float[Tensor, "batch size outputs"]:
        pooled = self.pool(elementwise(self.phi, x, mask, CHUNK_SIZE), mask)
        both = torch.cat([x, pooled[:, None].expand(-1, x.shape[1], -1)], 2)
        return elementwise(self.rho, both, mask, CHUNK_SIZE)


def example() -> tuple[EquivariantDeepSets, Tensor]:
    """Four sets of five vectors of ℝ³, two numbers for every vector."""
    phi = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 6))
    rho = nn.Sequential(nn.Linear(3 + 6, 8), nn.ReLU(), nn.Linear(8, 2))
    return EquivariantDeepSets(phi, rho), torch.randn(4, 5, 3)
