"""LRU: a linear recurrence with complex eigenvalues that cannot leave the unit disc.

    λ = exp(-exp ν + i φ)                 |λ| = exp(-exp ν) < 1, whatever ν
    h_t = λ ⊙ h_{t-1} + γ ⊙ B x_t,        γ = √(1 - |λ|²) at the start, then learned
    y_t = Re(C h_t) + D x_t

λ starts uniformly on the ring r_min ≤ |λ| ≤ r_max, with phases φ up to `phase`; γ gives every unit
the same variance for white-noise input, however slowly it forgets. y is linear in x: `Block` adds
the norm, the MLP and the skip connections, between which a deep LRU stacks its layers.

Orvieto et al. (2023), ICML. Notes: J 5.2 (which leaves out γ, and draws r, not r², uniformly).
"""

import math

import torch
from jaxtyping import Complex, Float
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.models.recurrent.recurrent import Recurrent
from chainrule.models.recurrent.sequence_classifier import SequenceClassifier
from chainrule.nn.scan import scan


class LRU(Recurrent):
    """As many complex units as outputs; the state is h."""

    complex_state = True

    def __init__(
        self,
        inputs: int,
        width: int,
        smallest: float = 0.9,
        largest: float = 0.999,
        phase: float = 2 * math.pi,
    ):
        super().__init__(inputs, width)
        if not 0 <= smallest <= largest < 1:
            raise InputError(f"expected a ring in the unit disc, got {smallest} to {largest}")
        nu, phi = ring(width, smallest, largest, phase)
        self.nu, self.phi = nn.Parameter(nu), nn.Parameter(phi)
        self.log_gamma = nn.Parameter(torch.log(normalization(nu)))
        self.B = nn.Parameter(torch.randn(2, width, inputs) / (2 * inputs) ** 0.5)
        self.C = nn.Parameter(torch.randn(2, width, width) / width**0.5)
        self.D = nn.Parameter(torch.randn(width, inputs) / inputs**0.5)

    def unroll(self, x: Tensor, *state: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        (h,) = state
        B = self.log_gamma.exp()[:, None] * self.B
        u = torch.complex(x @ B[0].T, x @ B[1].T)
        states = scan(eigenvalues(self.nu, self.phi), u, h)
        y = states.real @ self.C[0].T - states.imag @ self.C[1].T
        return y + x @ self.D.T, (states,)


def eigenvalues(nu: Float[Tensor, " m"], phi: Float[Tensor, " m"]) -> Complex[Tensor, " m"]:
    """λ = exp(-exp ν + i φ)."""
    return torch.polar(torch.exp(-torch.exp(nu)), phi)


def normalization(nu: Float[Tensor, " m"]) -> Float[Tensor, " m"]:
    """γ = √(1 - |λ|²) = √(-expm1(-2 exp ν)), exact for |λ| near 1."""
    return torch.sqrt(-torch.expm1(-2 * torch.exp(nu)))


def ring(units: int, smallest: float, largest: float, phase: float) -> tuple[Tensor, Tensor]:
    """ν and φ of eigenvalues uniform on a ring: r² uniform between the squares of its radii."""
    u = torch.rand(units)
    nu = torch.log(-0.5 * torch.log(u * (largest**2 - smallest**2) + smallest**2))
    return nu, phase * torch.rand(units)


def example() -> tuple[SequenceClassifier, Tensor]:
    """Eight complex units that read six steps and answer with three classes."""
    return SequenceClassifier(LRU(4, 8), 3), torch.randn(5, 6, 4)
