"""Exponential associative memory: exponentially many patterns.

    E(x) = -Σ_μ exp(ξ_μᵀ x),                        x, ξ_μ ∈ {-1, +1}ⁿ
    x_i ← the sign with the lower energy            one unit at a time; equal energies keep x_i

The sum overflows from n ≈ 700 on, so energies are compared and returned as -log Σ_μ exp(ξ_μᵀ x),
which has the same order. This is also the energy that the continuous Hopfield network starts from.

Demircigil et al. (2017), Journal of Statistical Physics 168. Notes: J 1.4, last paragraph.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.arguments import checked
from chainrule.models.connectionism.dense_hopfield import overlap, sweep
from chainrule.models.connectionism.hopfield import bipolar, sweep_orders, until_stable


@checked
class ExponentialHopfield(nn.Module):
    """An associative memory whose energy is a sum of exponentials of the overlaps.

        E(x) = -Σ_μ exp(ξ_μᵀ x),     x_i ← the sign with the lower energy

    Args:
        patterns: The stored states ξ_μ of -1 and +1, one per row.

    Example:
        >>> import torch
        >>> patterns = torch.tensor([[1.0, 1.0, 1.0, -1.0], [-1.0, 1.0, -1.0, 1.0]])
        >>> memory = ExponentialHopfield(patterns)
        >>> memory.recall(torch.tensor([[1.0, 1.0, 1.0, 1.0]])).tolist()
        [[1.0, 1.0, 1.0, -1.0]]
    """

    patterns: Float[Tensor, "patterns n"]

    def __init__(self, patterns: Float[Tensor, "patterns n"]):
        super().__init__()
        self.register_buffer("patterns", bipolar(patterns))

    def energy(self, x: Float[Tensor, "batch n"]) -> Float[Tensor, " batch"]:
        """-log Σ_μ exp(ξ_μᵀ x)."""
        return -negative_energy(overlap(self.patterns, x))

    def forward(self, x: Float[Tensor, "batch n"]) -> Float[Tensor, "batch n"]:
        """One sweep of recall: every unit once, in order."""
        return self.sweep(x, torch.arange(x.shape[1]))

    def sweep(
        self, x: Float[Tensor, "batch n"], order: Int[Tensor, " n"]
    ) -> Float[Tensor, "batch n"]:
        return sweep(self.patterns, x, order, negative_energy)

    def recall(
        self,
        x: Float[Tensor, "batch n"],
        sweeps: int = 100,
        generator: torch.Generator | None = None,
    ) -> Float[Tensor, "batch n"]:
        """Sweep until nothing changes: in order or, with a generator, in a random order each."""
        order = sweep_orders(x.shape[1], generator)
        return until_stable(lambda x: self.sweep(x, order()), bipolar(x), sweeps)


def negative_energy(m: Float[Tensor, "batch patterns"]) -> Float[Tensor, " batch"]:
    """log(-E) = log Σ_μ exp(m_μ)."""
    return m.logsumexp(-1)


def example() -> tuple[ExponentialHopfield, Tensor]:
    """A memory of forty random patterns on 16 units, and five random states."""
    return ExponentialHopfield(torch.randn(40, 16).sign()), torch.randn(5, 16).sign()
