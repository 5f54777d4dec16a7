"""Deep Sets: a function of a set, whatever the order and the number of its elements.

    f({x_1, …, x_M}) = ρ(Σ_m φ(x_m))            or 1/M Σ_m φ(x_m), or max_m φ(x_m)

    f(P X) = f(X)        for every permutation P

φ and ρ are networks of any kind. Sets of different sizes share one tensor with a mask, True where
there is an element; the other entries have no effect. With the sum every continuous function of
sets of M elements has this form, but φ may need as many features as there are elements.

Zaheer et al. (2017), NeurIPS; Wagstaff et al. (2019), ICML. Notes: J 7.1, J 7.2.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from chainrule.arguments import checked
from chainrule.nn.set_pooling import elementwise, pool_named

CHUNK_SIZE = 4096  # elements of a large batch that φ takes at a time in evaluation


@checked
class DeepSets(nn.Module):
    """A permutation-invariant function of sets: f({x_1, …, x_M}) = ρ(pool_m φ(x_m)).

    Args:
        phi: Network from one element to its features.
        rho: Network from the pooled features to the output.
        pool: sum, mean or max.

    >>> model = DeepSets(nn.Linear(3, 8), nn.Linear(8, 2))
    >>> x, mask = torch.randn(4, 5, 3), torch.ones(4, 5, dtype=torch.bool)
    >>> model(x, mask).shape
    torch.Size([4, 2])
    """

    def __init__(self, phi: nn.Module, rho: nn.Module, pool: str = "sum"):
        super().__init__()
        self.phi, self.rho = phi, rho
        self.pool = pool_named(pool)

    def forward(
        self,
        x: Float[Tensor, "batch size *element"],
        mask: Bool[Tensor, "batch places"] | None = None,
    ) -> Float[Tensor, "batch *outputs"]:
        return self.rho(self.pool(elementwise(self.phi, x, mask, CHUNK_SIZE), mask))


def example() -> tuple[DeepSets, Tensor]:
    """Four sets of five vectors of ℝ³, one number for each set."""
    phi = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 6))
    rho = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 1))
    return DeepSets(phi, rho), torch.randn(4, 5, 3)
