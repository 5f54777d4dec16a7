"""McCulloch-Pitts neuron: logic from threshold units.

    f(x) = 1{σᵀ x ≥ θ},     x ∈ {0, 1}ⁿ,  σ ∈ {-1, +1}ⁿ,  θ ∈ ℝ

A synapse σ_i = +1 excites, -1 inhibits. A layer holds several units over the same inputs, and
a network is a sequence of layers: one unit cannot compute XOR, three can.

McCulloch and Pitts (1943), Bulletin of Mathematical Biophysics 5. Notes: J 1.1.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from chainrule.arguments import checked
from chainrule.errors import InputError


@checked
class McCullochPitts(nn.Module):
    """A layer of threshold units with fixed weights.

        f(x) = 1{σᵀ x ≥ θ},     x ∈ {0, 1}ⁿ,  σ ∈ {-1, +1}ⁿ

    Args:
        sigma: The synapses σ, one row per unit: +1 excites, -1 inhibits.
        theta: The thresholds θ, one per unit.

    Example:
        >>> import torch
        >>> unit = McCullochPitts(torch.tensor([[1.0, 1.0]]), torch.tensor([2.0]))
        >>> unit(torch.tensor([[1.0, 1.0], [1.0, 0.0]])).flatten().tolist()
        [1.0, 0.0]
    """

    sigma: Float[Tensor, "units n"]
    theta: Float[Tensor, " units"]

    def __init__(self, sigma: Float[Tensor, "units n"], theta: Float[Tensor, " units"]):
        super().__init__()
        if not sigma.abs().eq(1).all():
            raise InputError("sigma must hold -1 and +1 only, one sign per synapse")
        self.register_buffer("sigma", sigma)
        self.register_buffer("theta", theta)

    def forward(self, x: Float[Tensor, "batch n"]) -> Float[Tensor, "batch units"]:
        if not (x.eq(0) | x.eq(1)).all():
            raise InputError("x must hold 0 and 1 only; threshold the inputs first")
        return threshold(x, self.sigma, self.theta)


def threshold(
    x: Float[Tensor, "batch n"], sigma: Float[Tensor, "units n"], theta: Float[Tensor, " units"]
) -> Float[Tensor, "batch units"]:
    """1{σᵀ x ≥ θ}."""
    return (x @ sigma.T >= theta).to(x.dtype)


def unit(sigma: list[int], theta: int) -> McCullochPitts:
    """A layer of one unit."""
    return McCullochPitts(torch.tensor([sigma]).float(), torch.tensor([float(theta)]))


def logical_and(inputs: int = 2) -> McCullochPitts:
    """1{Σ x_i ≥ n}."""
    return unit([1] * inputs, inputs)


def logical_or(inputs: int = 2) -> McCullochPitts:
    """1{Σ x_i ≥ 1}."""
    return unit([1] * inputs, 1)


def logical_not() -> McCullochPitts:
    """1{-x ≥ 0}."""
    return unit([-1], 0)


def logical_nand(inputs: int = 2) -> McCullochPitts:
    """1{-Σ x_i ≥ 1 - n}."""
    return unit([-1] * inputs, 1 - inputs)


def majority(inputs: int = 3) -> McCullochPitts:
    """1{Σ x_i ≥ ⌊n/2⌋ + 1}: more than half of the inputs are on."""
    return unit([1] * inputs, inputs // 2 + 1)


def logical_xor() -> nn.Sequential:
    """1{(x₁ or x₂) - (x₁ and x₂) ≥ 1}: three units in two layers, all weights ±1."""
    or_and = McCullochPitts(torch.ones(2, 2), torch.tensor([1.0, 2.0]))
    return nn.Sequential(or_and, unit([1, -1], 1))


def example() -> tuple[nn.Sequential, Tensor]:
    """XOR, and the four inputs of its truth table."""
    return logical_xor(), torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
