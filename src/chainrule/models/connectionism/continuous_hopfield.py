"""Continuous Hopfield network: one step of recall is attention.

    E(ξ) = -1/β log Σ_μ exp(β x_μᵀ ξ) + 1/2 ξᵀ ξ + 1/β log s + 1/2 max_μ ‖x_μ‖²,     ξ ∈ ℝⁿ
    ξ ← Xᵀ softmax(β X ξ)                        the s patterns x_μ are the rows of X

The step is attention with query ξ, keys and values X, and β in the place of 1/√d. It never raises
the energy, which is never negative. With a large β one step recalls the nearest pattern.

Ramsauer et al. (2020), "Hopfield networks is all you need". Notes: J 1.4, last paragraph.
"""

from math import log

import torch
from jaxtyping import Float
from torch import Tensor, nn

from chainrule.arguments import Finite, checked


@checked
class ContinuousHopfield(nn.Module):
    """An associative memory of real vectors.

        E(ξ) = -1/β log Σ_μ exp(β x_μᵀ ξ) + 1/2 ξᵀ ξ + constant
        ξ ← Xᵀ softmax(β X ξ)

    Args:
        patterns: The stored vectors x_μ, one per row.
        beta: β, the inverse temperature; the larger it is, the closer recall comes to one pattern.

    Example:
        >>> import torch
        >>> memory = ContinuousHopfield(torch.eye(3), beta=20.0)
        >>> memory.recall(torch.tensor([[0.2, 0.9, 0.0]])).round().tolist()
        [[0.0, 1.0, 0.0]]
    """

    patterns: Float[Tensor, "patterns n"]

    def __init__(self, patterns: Float[Tensor, "patterns n"], beta: Finite = 1.0):
        super().__init__()
        self.beta = beta
        self.register_buffer("patterns", patterns)

    def energy(self, x: Float[Tensor, "batch n"]) -> Float[Tensor, " batch"]:
        return energy(self.patterns, x, self.beta)

    def forward(self, x: Float[Tensor, "batch n"]) -> Float[Tensor, "batch n"]:
        """One step of recall."""
        return update(self.patterns, x, self.beta)

    def recall(
        self, x: Float[Tensor, "batch n"], steps: int = 100, tolerance: float = 1e-6
    ) -> Float[Tensor, "batch n"]:
        """Repeat the step until no state moves by more than the tolerance."""
        for _ in range(steps):
            before, x = x, self(x)
            if (x - before).norm(dim=-1).max() <= tolerance:
                break
        return x


def energy(
    X: Float[Tensor, "patterns n"], x: Float[Tensor, "batch n"], beta: float
) -> Float[Tensor, " batch"]:
    """E(ξ) = -1/β log Σ_μ exp(β x_μᵀ ξ) + 1/2 ξᵀ ξ + 1/β log s + 1/2 max_μ ‖x_μ‖²."""
    constant = log(len(X)) / beta + 0.5 * X.square().sum(1).max()
    return -(beta * x @ X.T).logsumexp(-1) / beta + 0.5 * x.square().sum(-1) + constant


def update(
    X: Float[Tensor, "patterns n"], x: Float[Tensor, "batch n"], beta: float
) -> Float[Tensor, "batch n"]:
    """ξ ← Xᵀ softmax(β X ξ)."""
    return (beta * x @ X.T).softmax(-1) @ X


def example() -> tuple[ContinuousHopfield, Tensor]:
    """A memory of six random vectors, and five random states."""
    return ContinuousHopfield(torch.randn(6, 8), beta=2.0), torch.randn(5, 8)
