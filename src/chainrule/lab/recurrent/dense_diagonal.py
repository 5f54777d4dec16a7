"""Claim: a dense linear recurrence and a diagonal one compute the same outputs (J 5.2).

    z_t = A z_{t-1} + B x_t,  y_t = C z_t,  A = P Λ P⁻¹
    h_t = Λ h_{t-1} + P⁻¹ B x_t,   y_t = Re(C P h_t)

Measured: dense systems with random A of spectral radius 0.95 step by step, and the library's LRU
after this change of basis, on the same random sequences; the largest difference, relative to the
largest output.
Bound: 1e-10: rounding of 1.1e-16, times tens of steps of memory, times the condition number of P,
which the details show: tens for Gaussian A.
The notes say that most matrices can be diagonalized: a Jordan block cannot, P is singular, and the
outputs are lost. Orvieto et al. (2023), ICML.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.models.recurrent.lru import LRU, diagonalized

BOUND = 1e-10
RADIUS, INPUTS, BATCH = 0.95, 3, 4


def check(hidden_size: int = 12, steps: int = 60, systems: int = 5, seed: int = 0) -> Verdict:
    """Gaussian matrices, which have distinct eigenvalues.

    Args:
        hidden_size: States m.
        steps: Length of the sequences.
        systems: Random systems.
    """
    return verdict(hidden_size, steps, systems, seed)


def broken() -> Verdict:
    """The eigenvectors of Aᵀ."""
    return verdict(12, 60, 1, 0, of=torch.t)


def near() -> Near:
    """Eigenvalues and weights off by 10 %, real parts alone, and a Jordan block."""

    def scaled(name: str) -> Callable[[float], Verdict]:
        def change(factor: float) -> Verdict:
            return verdict(12, 60, 1, 0, lambda layer: getattr(layer, name).data.mul_(factor))

        return change

    def jordan() -> Verdict:
        def block(A: Tensor) -> Tensor:
            shifted = torch.eye(len(A), dtype=A.dtype).roll(1, 1).triu(1)
            return 0.9 * torch.eye(len(A), dtype=A.dtype) + shifted

        return verdict(12, 60, 1, 0, matrix=block)

    return {
        **ten_percent("φ", scaled("phi")),
        **ten_percent("log(-log |λ|)", scaled("nu")),
        **ten_percent("C P", scaled("C")),
        "Re C h without the imaginary parts": lambda: verdict(
            12, 60, 1, 0, lambda layer: layer.C.data[1].zero_()
        ),
        "a Jordan block": jordan,
    }


def verdict(
    m: int,
    steps: int,
    systems: int,
    seed: int,
    change: Callable[[LRU], object] = lambda layer: None,
    of: Callable[[Tensor], Tensor] = lambda A: A,
    matrix: Callable[[Tensor], Tensor] = lambda A: A,
) -> Verdict:
    """Outputs of both forms."""
    generator = torch.Generator().manual_seed(seed)
    worst, condition = 0.0, 0.0
    for _ in range(systems):
        A, B, C, x = (
            torch.randn(*shape, dtype=torch.float64, generator=generator)
            for shape in ((m, m), (m, INPUTS), (m, m), (BATCH, steps, INPUTS))
        )
        A = matrix(RADIUS * A / torch.linalg.eigvals(A).abs().max())
        with torch.random.fork_rng(devices=[]):
            layer = diagonalized(of(A), B, C)
        change(layer)
        with torch.no_grad():
            diagonal, _ = layer(x)
        dense = recurrence(A, B, C, x)
        worst = max(worst, ((diagonal - dense).abs().max() / dense.abs().max()).item())
        condition = max(condition, torch.linalg.cond(torch.linalg.eig(A)[1]).item())
    times = [float(t + 1) for t in range(steps)]
    return Verdict(
        quantity="largest relative difference of the outputs",
        measured=worst,
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="A dense recurrence, and its eigenvalues alone",
            x_label="step t",
            y_label="one output",
            curves={"dense A": (times, dense[0, :, 0].tolist())},
            points={"diagonal Λ, an LRU": (times, diagonal[0, :, 0].tolist())},
        ),
        details={"largest condition number of P": condition},
    )


def recurrence(A: Tensor, B: Tensor, C: Tensor, x: Tensor) -> Tensor:
    """y_t = C z_t, step by step."""
    z, outputs = x.new_zeros(len(x), len(A)), []
    for x_t in x.unbind(1):
        z = z @ A.T + x_t @ B.T
        outputs.append(z @ C.T)
    return torch.stack(outputs, 1)
