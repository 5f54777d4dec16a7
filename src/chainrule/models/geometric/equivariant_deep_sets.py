"""Equivariant Deep Sets: an answer for every element of a set, in the order in which they came.

    f(x_1, …, x_M)_m = ρ(x_m, Σ_k φ(x_k))       or the mean, or the maximum, of φ(x_k)

    f(P X) = P f(X)      for every permutation P        (J 7.1 prints f(X) = P f(P X))

Each element sees itself and the whole set. Sets of different sizes lie in one tensor with a mask,
True where there is an element; the answers at the other places are 0.

Zaheer et al. (2017), NeurIPS. Notes: J 7.1, J 7.2.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from chainrule.nn.set_pooling import elementwise, pool_named

AT_ONCE = 4096  # elements of a large batch that a network meets at a time in evaluation


class EquivariantDeepSets(nn.Module):
    """ρ(x_m, pool φ(x_k)) for every m: φ takes one element, ρ an element joined to the pool."""

    def __init__(self, phi: nn.Module, rho: nn.Module, pool: str = "sum"):
        super().__init__()
        self.phi, self.rho = phi, rho
        self.pool = pool_named(pool)

    def forward(
        self, x: Float[Tensor, "batch size d"], mask: Bool[Tensor, "batch places"] | None = None
    ) -> Float[Tensor, "batch size outputs"]:
        whole = self.pool(elementwise(self.phi, x, mask, AT_ONCE), mask)
        joined = torch.cat([x, whole[:, None].expand(-1, x.shape[1], -1)], 2)
        return elementwise(self.rho, joined, mask, AT_ONCE)


def example() -> tuple[EquivariantDeepSets, Tensor]:
    """Four sets of five vectors of ℝ³, two numbers for every vector."""
    phi = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 6))
    rho = nn.Sequential(nn.Linear(3 + 6, 8), nn.ReLU(), nn.Linear(8, 2))
    return EquivariantDeepSets(phi, rho), torch.randn(4, 5, 3)
