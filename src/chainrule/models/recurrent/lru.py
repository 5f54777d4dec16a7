"""LRU: a linear recurrence whose complex eigenvalues cannot leave the unit disc.

    λ = exp(-exp ν + i φ)                 |λ| = exp(-exp ν) < 1 for every ν
    h_t = λ ⊙ h_{t-1} + γ ⊙ B x_t,        γ = √(1 - |λ|²) initially, then learned
    y_t = Re(C h_t) + D x_t

λ is initialized uniformly on the ring min_radius ≤ |λ| ≤ max_radius with phases up to max_phase; γ
gives every unit the same variance under white-noise input, however slowly it forgets. y is linear
in x; `residual_block` adds the norm, the MLP and the residual connections of a deep LRU.

Orvieto et al. (2023), ICML. Notes: J 5.2 (which leaves out γ, and draws r, not r², uniformly).
"""

import math

import torch
from jaxtyping import Complex, Float
from torch import Tensor, nn

from chainrule.arguments import Count, Finite, checked
from chainrule.errors import InputError
from chainrule.models.recurrent.recurrent import Recurrent
from chainrule.models.recurrent.sequence_classifier import SequenceClassifier
from chainrule.nn.kernels.complex_pairs import complex_product, real_product
from chainrule.nn.kernels.scan import scan


@checked
class LRU(Recurrent):
    """Linear recurrent unit: a diagonal complex recurrence, stable for any parameters.

        λ   = exp(-exp ν + i φ)
        h_t = λ ⊙ h_{t-1} + γ ⊙ B x_t
        y_t = Re(C h_t) + D x_t

    The state is h, with as many complex units as outputs.

    Args:
        input_size: Features of each step.
        hidden_size: Number of units and of outputs.
        min_radius: Smallest initial |λ|.
        max_radius: Largest initial |λ|, below 1.
        max_phase: Largest initial phase φ.

    >>> import torch
    >>> from chainrule.models.recurrent import LRU
    >>> outputs, state = LRU(4, 8)(torch.zeros(2, 5, 4))
    >>> outputs.shape, state.dtype
    (torch.Size([2, 5, 8]), torch.complex64)
    """

    complex_state = True

    def __init__(
        self,
        input_size: Count,
        hidden_size: Count,
        min_radius: Finite = 0.9,
        max_radius: Finite = 0.999,
        max_phase: Finite = 2 * math.pi,
    ):
        super().__init__(input_size, hidden_size)
        if not 0 <= min_radius <= max_radius < 1:
            raise InputError(
                "expected a ring in the unit disc, 0 <= min_radius <= max_radius < 1, got "
                f"{min_radius} and {max_radius}"
            )
        nu, phi = ring(hidden_size, min_radius, max_radius, max_phase)
        self.nu, self.phi = nn.Parameter(nu), nn.Parameter(phi)
        self.log_gamma = nn.Parameter(torch.log(normalization(nu)))
        self.B = nn.Parameter(torch.randn(2, hidden_size, input_size) / (2 * input_size) ** 0.5)
        self.C = nn.Parameter(torch.randn(2, hidden_size, hidden_size) / hidden_size**0.5)
        self.D = nn.Parameter(torch.randn(hidden_size, input_size) / input_size**0.5)

    def unroll(self, x: Tensor, *state: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        (h,) = state
        u = complex_product(self.log_gamma.exp()[:, None] * self.B, x)
        states = scan(eigenvalues(self.nu, self.phi), u, h)
        return real_product(self.C, states) + x @ self.D.T, (states,)


def eigenvalues(nu: Float[Tensor, " m"], phi: Float[Tensor, " m"]) -> Complex[Tensor, " m"]:
    """λ = exp(-exp ν + i φ)."""
    return torch.polar(torch.exp(-torch.exp(nu)), phi)


def normalization(nu: Float[Tensor, " m"]) -> Float[Tensor, " m"]:
    """γ = √(1 - |λ|²) = √(-expm1(-2 exp ν)), accurate for |λ| near 1."""
    return torch.sqrt(-torch.expm1(-2 * torch.exp(nu)))


def diagonalized(A: Float[Tensor, "m m"], B: Float[Tensor, "m n"], C: Float[Tensor, "m m"]) -> LRU:
    """The LRU with the outputs of z_t = A z_{t-1} + B x_t, y_t = C z_t for a dense A = P Λ P⁻¹.

        h_t = Λ h_{t-1} + P⁻¹ B x_t,   y_t = Re(C P h_t),   h_t = P⁻¹ z_t

    Args:
        A: Transition matrix, diagonalizable, with eigenvalues inside the unit disc.
        B: Input weights.
        C: Output weights.
    """
    lam, P = torch.linalg.eig(A)
    if not 0 < lam.abs().min() <= lam.abs().max() < 1:
        raise InputError(
            f"expected eigenvalues of A with 0 < |λ| < 1, got up to {lam.abs().max():.4g} and "
            f"down to {lam.abs().min():.4g}"
        )
    layer = LRU(B.shape[1], len(A)).to(A)
    with torch.no_grad():
        layer.nu.copy_(torch.log(-torch.log(lam.abs())))
        layer.phi.copy_(lam.angle())
        layer.log_gamma.zero_()
        inputs, outputs = torch.linalg.solve(P, B.to(P)), C.to(P) @ P
        layer.B.copy_(torch.stack([inputs.real, inputs.imag]))
        layer.C.copy_(torch.stack([outputs.real, outputs.imag]))
        layer.D.zero_()
    return layer


def ring(
    units: int, min_radius: float, max_radius: float, max_phase: float
) -> tuple[Tensor, Tensor]:
    """ν and φ of eigenvalues uniform on a ring: r² is uniform between the squared radii."""
    u = torch.rand(units)
    nu = torch.log(-0.5 * torch.log(u * (max_radius**2 - min_radius**2) + min_radius**2))
    return nu, max_phase * torch.rand(units)


def example() -> tuple[SequenceClassifier, Tensor]:
    """A classifier of six steps into three classes, with eight complex units."""
    return SequenceClassifier(LRU(4, 8), 3), torch.randn(5, 6, 4)
