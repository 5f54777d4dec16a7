"""Claim: the antisymmetric RNN's differential equation is stable for all weights (L "RNN").

    h' = tanh(M h + V x + b),  M = W - Wᵀ - γ I    ⇒    Re λ(M) = -γ,   -γ ≤ Re λ(diag(tanh') M) ≤ 0

With D = diag(tanh'), D M is similar to D^½ (W - Wᵀ) D^½ - γ D, antisymmetric up to -γ D, and 0 < D
≤ I.
Measured: the layer's Jacobian I + ε D M by autograd, at random weights, states and inputs; how far
the real parts of λ(D M) lie outside [-γ, 0], and those of λ(M) from -γ.
Bound: 1e-10; eigenvalues of matrices of this size have errors of about 1e-14, times the spread of
√D, about 100.
Euler steps are not covered: |1 + ε λ|² = 1 + 2 ε Re λ + ε² |λ|² exceeds 1 by O(ε²), which is why γ
is needed. L "RNN: Training" names the model, J 5.2 the condition on eigenvalues. Chang, Chen, Haber
and Chi (2019), ICLR.
"""

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.models.recurrent.antisymmetric import Antisymmetric, transition

BOUND = 1e-10
INPUTS = 3


def check(hidden_size: int = 24, networks: int = 10, seed: int = 0) -> Verdict:
    """A little damping.

    Args:
        hidden_size: Units of the layer.
        networks: Random networks.
    """
    return verdict(hidden_size, networks, seed, damping=0.01)


def broken() -> Verdict:
    """Damping of the wrong sign."""
    return verdict(24, 3, 0, damping=-0.05)


def near() -> Near:
    """Another damping than the layer's."""

    def scaled(factor: float) -> Verdict:
        return verdict(24, 3, 0, damping=0.01, gamma=0.01 * factor)

    return ten_percent("γ", scaled)


def verdict(
    width: int, networks: int, seed: int, damping: float, gamma: float | None = None
) -> Verdict:
    """Eigenvalues at random states."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        layers = [Antisymmetric(INPUTS, width, damping=damping).double() for _ in range(networks)]
        x = torch.randn(networks, INPUTS, dtype=torch.float64)
        h = torch.randn(networks, width, dtype=torch.float64)
    found = [generator(layer, x_0, h_0) for layer, x_0, h_0 in zip(layers, x, h, strict=True)]
    values = torch.linalg.eigvals(torch.stack(found))
    free = torch.linalg.eigvals(torch.stack([transition(layer.W, damping) for layer in layers]))
    gamma = damping if gamma is None else gamma
    outside = torch.maximum(values.real, -gamma - values.real).max().item()
    worst = max(outside, (free.real + gamma).abs().max().item())
    growth = (1 + layers[0].step_size * values).abs().max().item()
    plain = torch.linalg.eigvals(layers[0].W.detach())
    reach = free[0].imag.abs().max().item()
    return Verdict(
        quantity="largest distance of Re λ from [-γ, 0]",
        measured=worst,
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="Antisymmetric weights rotate; they neither stretch nor shrink",
            x_label="Re λ",
            y_label="Im λ",
            curves={"Re λ(M) = -γ": ([-damping, -damping], [-reach, reach])},
            points={
                "diag(tanh') (W - Wᵀ - γ I)": (values[0].real.tolist(), values[0].imag.tolist()),
                "W by itself": (plain.real.tolist(), plain.imag.tolist()),
            },
            marks={"stable | unstable": 0.0},
        ),
        details={"largest |1 + ε λ|": growth},
    )


def generator(layer: Antisymmetric, x: Tensor, h: Tensor) -> Tensor:
    """D M from the Jacobian of one step, (∂h_1/∂h_0 - I) / ε."""
    m = layer.hidden_size
    before = h.repeat(m, 1).requires_grad_()
    _, after = layer(x.expand(m, 1, -1), before)
    (jacobian,) = torch.autograd.grad(after.diagonal().sum(), before)
    return (jacobian - torch.eye(m, dtype=torch.float64)) / layer.step_size
