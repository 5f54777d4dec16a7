"""S4: a state space model with the HiPPO matrix, run as a recurrence or as one long convolution.

    h'(t) = A h(t) + B u(t),   y(t) = Re(C h(t)) + d u(t),   A = Λ - p p*     diagonal plus low rank
    h_t = Ā h_{t-1} + B̄ u_t,   Ā = (I - Δ/2 A)⁻¹ (I + Δ/2 A),   B̄ = Δ (I - Δ/2 A)⁻¹ B      bilinear
    y = K * u + d u,           K_k = Re(C Ā^k B̄),   k = 0 … T - 1

Each channel has its own model of N states. A starts as HiPPO-LegS, which holds the past in
Legendre polynomials; it is not normal, so it cannot be diagonalized stably, but A + p p* is normal.
The kernel's Fourier transform needs sums over Λ only (Woodbury's identity):

    K̂(z) = 2/(1 + z) C̃ (g - A)⁻¹ B,   g = 2/Δ (1 - z)/(1 + z),   C̃ = C (I - Ā^T)
    C̃ (g - Λ + p p*)⁻¹ B = C̃ R B - C̃ R p (1 + p* R p)⁻¹ p* R B,   R = (g - Λ)⁻¹ diagonal

at the T-th roots of unity z. Re Λ < 0, so that Ā is stable for any parameters.

Gu, Goel and Ré (2022), ICLR; HiPPO: Gu, Dao, Ermon, Rudra and Ré (2020), NeurIPS.
Notes: L "RNN: Training" (S4). `state_space` is the diagonal form (S4D).
"""

import math

import torch
from jaxtyping import Complex, Float
from torch import Tensor, nn

from chainrule.arguments import Count, checked
from chainrule.models.recurrent.recurrent import Recurrent
from chainrule.models.recurrent.sequence_classifier import SequenceClassifier
from chainrule.nn.initialization import initialize

MIN_DELTA, MAX_DELTA = 1e-3, 1e-1  # range of the initial Δ


@checked
class S4(Recurrent):
    """Structured state space model with a diagonal plus low-rank matrix.

        u_t = W x_t                                 one channel per output
        h_t = Ā h_{t-1} + B̄ u_t,   A = Λ - p p*     bilinear, per channel
        y_t = Re(C h_t) + d ⊙ u_t

    The state is h, complex. `convolve` gives the same outputs from h_0 = 0 by FFT.

    Args:
        input_size: Features of each step.
        hidden_size: Number of channels and of outputs.
        state_size: States of each channel.

    >>> import torch
    >>> from chainrule.models.recurrent import S4
    >>> outputs, state = S4(4, 8, state_size=6)(torch.zeros(2, 5, 4))
    >>> outputs.shape, state.shape
    (torch.Size([2, 5, 8]), torch.Size([2, 8, 6]))
    """

    complex_state = True

    def __init__(self, input_size: Count, hidden_size: Count, state_size: Count = 16):
        super().__init__(input_size, hidden_size, ((hidden_size, state_size),))
        m, n = hidden_size, state_size
        lam, p, B = (t.to(torch.complex64).expand(m, n) for t in diagonal_plus_low_rank(n))
        self.input = initialize(nn.Linear(input_size, m, bias=False), "lecun")
        self.log_decay = nn.Parameter(torch.log(-lam.real))
        self.omega = nn.Parameter(lam.imag.clone())
        self.p, self.B = (nn.Parameter(torch.view_as_real(t).clone()) for t in (p, B))
        self.C = nn.Parameter(torch.randn(m, n, 2) / (2 * n) ** 0.5)
        self.d = nn.Parameter(torch.ones(m))
        low, high = math.log(MIN_DELTA), math.log(MAX_DELTA)
        self.log_delta = nn.Parameter(torch.empty(m).uniform_(low, high))

    def unroll(self, x: Tensor, *state: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        (h,), states = state, []
        lam, p, B, C, delta = self.matrices()
        A_bar, B_bar = bilinear(lam, p, B, delta)
        u = self.input(x)
        for u_t in u.unbind(1):
            h = torch.einsum("hij,bhj->bhi", A_bar, h) + B_bar * u_t[..., None]
            states.append(h)
        trajectory = torch.stack(states, 1)
        return (trajectory * C).sum(-1).real + self.d * u, (trajectory,)

    def convolve(
        self, x: Float[Tensor, "batch steps input_size"]
    ) -> Float[Tensor, "batch steps hidden_size"]:
        """y = K * u + d u, from h_0 = 0."""
        self.check_input(x, None)
        u, T = self.input(x), x.shape[1]
        K = kernel(*self.matrices(), T)
        spectrum = torch.fft.rfft(u, 2 * T, 1) * torch.fft.rfft(K.T, 2 * T, 0)
        return torch.fft.irfft(spectrum, 2 * T, 1)[:, :T] + self.d * u

    def matrices(self) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """Λ, p, B and C as complex numbers, and Δ."""
        lam = torch.complex(-self.log_decay.exp(), self.omega)
        p, B, C = (torch.view_as_complex(t) for t in (self.p, self.B, self.C))
        return lam, p, B, C, self.log_delta.exp()


def hippo_legs(n: int) -> tuple[Float[Tensor, "n n"], Float[Tensor, " n"]]:
    """A_ij = -√(2i + 1) √(2j + 1) for i > j, -(i + 1) for i = j, else 0;  B_i = √(2i + 1)."""
    i = torch.arange(n, dtype=torch.float64)
    B = torch.sqrt(2 * i + 1)
    return -torch.tril(torch.outer(B, B), -1) - torch.diag(i + 1), B


def diagonal_plus_low_rank(
    n: int,
) -> tuple[Complex[Tensor, " n"], Complex[Tensor, " n"], Complex[Tensor, " n"]]:
    """Λ, p = V* P and V* B of HiPPO-LegS A = V (Λ - p p*) V*, where P_i = √(i + 1/2).

    A + P Pᵀ = -I/2 + K with Kᵀ = -K, so that V is unitary and Re Λ = -1/2.
    """
    A, B = hippo_legs(n)
    P = torch.sqrt(torch.arange(n, dtype=torch.float64) + 0.5)
    K = A + torch.outer(P, P) + torch.eye(n) / 2
    omega, V = torch.linalg.eigh(-1j * K)
    p, B = (V.mH @ v.to(V.dtype) for v in (P, B))
    return torch.complex(torch.full_like(omega, -0.5), omega), p, B


def bilinear(
    lam: Complex[Tensor, "m n"],
    p: Complex[Tensor, "m n"],
    B: Complex[Tensor, "m n"],
    delta: Float[Tensor, " m"],
) -> tuple[Complex[Tensor, "m n n"], Complex[Tensor, "m n"]]:
    """Ā = (I - Δ/2 A)⁻¹ (I + Δ/2 A) and B̄ = Δ (I - Δ/2 A)⁻¹ B, where A = Λ - p p*."""
    half = delta[:, None, None] / 2 * (torch.diag_embed(lam) - p[..., None] * p[:, None].conj())
    one = torch.eye(lam.shape[1], dtype=lam.dtype, device=lam.device)
    right = torch.cat([one + half, (delta[:, None] * B)[..., None]], 2)
    solved = torch.linalg.solve(one - half, right)
    return solved[..., :-1], solved[..., -1]


def kernel(
    lam: Complex[Tensor, "m n"],
    p: Complex[Tensor, "m n"],
    B: Complex[Tensor, "m n"],
    C: Complex[Tensor, "m n"],
    delta: Float[Tensor, " m"],
    steps: int,
) -> Float[Tensor, "m steps"]:
    """K_k = Re(C Ā^k B̄) for k < steps, from K̂ at the roots of unity.

    Their number is odd, so that z = -1, where g has a pole, is not among them.
    """
    T = steps | 1
    A_bar, _ = bilinear(lam, p, B, delta)
    C_end = C - (C[:, None] @ torch.linalg.matrix_power(A_bar, T)).squeeze(1)
    turn = -2 * math.pi / T * torch.arange(T, dtype=delta.dtype, device=delta.device)
    z = torch.polar(torch.ones_like(turn), turn)
    g = 2 / delta[:, None] * (1 - z) / (1 + z)
    R = 1 / (g[..., None] - lam[:, None])  # (m, T, n)
    CB, Cp, pp, pB = (
        torch.einsum("mtn,mn->mt", R, left * right)
        for left, right in ((C_end, B), (C_end, p), (p.conj(), p), (p.conj(), B))
    )
    return torch.fft.ifft(2 / (1 + z) * (CB - Cp * pB / (1 + pp)))[:, :steps].real


def example() -> tuple[SequenceClassifier, Tensor]:
    """A classifier of six steps into three classes, with eight channels of four states."""
    return SequenceClassifier(S4(4, 8, state_size=4), 3), torch.randn(5, 6, 4)
