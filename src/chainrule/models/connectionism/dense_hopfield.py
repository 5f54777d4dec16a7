"""Dense associative memory: a steeper energy stores more.

    E(x) = -Σ_μ (ξ_μᵀ x)ᵏ,                          x, ξ_μ ∈ {-1, +1}ⁿ,  degree k
    x_i ← the sign with the lower energy            one unit at a time; equal energies keep x_i

Degree 2 is the Hopfield network with Hebb's rule; degree k holds of the order of nᵏ⁻¹ patterns.
Overlaps ξᵀx are whole numbers and the powers are added in double precision, so energies below
2⁵³ are compared exactly.

Krotov and Hopfield (2016), NeurIPS. Notes: J 1.4, last paragraph.
"""

from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.arguments import Count, checked
from chainrule.models.connectionism.hopfield import bipolar, sign, sweep_orders, until_stable


@checked
class DenseHopfield(nn.Module):
    """An associative memory whose energy is a polynomial of the overlaps.

        E(x) = -Σ_μ (ξ_μᵀ x)ᵏ,     x_i ← the sign with the lower energy

    Args:
        patterns: The stored states ξ_μ of -1 and +1, one per row.
        degree: k; a memory of n units holds of the order of nᵏ⁻¹ patterns.

    Example:
        >>> import torch
        >>> memory = DenseHopfield(torch.tensor([[1.0, 1.0, 1.0, -1.0], [-1.0, 1.0, -1.0, 1.0]]))
        >>> memory.recall(torch.tensor([[1.0, 1.0, 1.0, 1.0]])).tolist()
        [[1.0, 1.0, 1.0, -1.0]]
    """

    patterns: Float[Tensor, "patterns n"]

    def __init__(self, patterns: Float[Tensor, "patterns n"], degree: Count = 3):
        super().__init__()
        self.degree = degree
        self.register_buffer("patterns", bipolar(patterns))

    def energy(self, x: Float[Tensor, "batch n"]) -> Float[Tensor, " batch"]:
        return -negative_energy(overlap(self.patterns, x), self.degree)

    def forward(self, x: Float[Tensor, "batch n"]) -> Float[Tensor, "batch n"]:
        """One sweep of recall: every unit once, in order."""
        return self.sweep(x, torch.arange(x.shape[1]))

    def sweep(
        self, x: Float[Tensor, "batch n"], order: Int[Tensor, " n"]
    ) -> Float[Tensor, "batch n"]:
        return sweep(self.patterns, x, order, lambda m: negative_energy(m, self.degree))

    def recall(
        self,
        x: Float[Tensor, "batch n"],
        sweeps: int = 100,
        generator: torch.Generator | None = None,
    ) -> Float[Tensor, "batch n"]:
        """Sweep until nothing changes: in order or, with a generator, in a random order each."""
        order = sweep_orders(x.shape[1], generator)
        return until_stable(lambda x: self.sweep(x, order()), bipolar(x), sweeps)


def overlap(
    patterns: Float[Tensor, "patterns n"], x: Float[Tensor, "batch n"]
) -> Float[Tensor, "batch patterns"]:
    """m_μ = ξ_μᵀ x, in double precision."""
    return x.double() @ patterns.double().T


def negative_energy(m: Float[Tensor, "batch patterns"], degree: int) -> Float[Tensor, " batch"]:
    """-E = Σ_μ m_μᵏ."""
    return m.pow(degree).sum(-1)


def sweep(
    patterns: Float[Tensor, "patterns n"],
    x: Float[Tensor, "batch n"],
    order: Int[Tensor, " n"],
    negative_energy: Callable[[Tensor], Tensor],
) -> Float[Tensor, "batch n"]:
    """x_i ← sgn(-E(x with x_i = +1) + E(x with x_i = -1)) for one i after the other.

    `negative_energy` is -E as a function of the overlaps, which are updated after each flip.
    """
    x, m = x.clone(), overlap(patterns, x)
    for i in order.tolist():
        xi = patterns[:, i].double()
        rest = m - x[:, i, None] * xi
        x[:, i] = sign(negative_energy(rest + xi) - negative_energy(rest - xi), x[:, i])
        m = rest + x[:, i, None] * xi
    return x


def example() -> tuple[DenseHopfield, Tensor]:
    """A memory of ten random patterns on 16 units, and five random states."""
    return DenseHopfield(torch.randn(10, 16).sign(), degree=3), torch.randn(5, 16).sign()
