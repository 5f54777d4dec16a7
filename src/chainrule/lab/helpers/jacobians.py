"""Elman networks with a given σ₁(U), and the norms of their derivatives through time."""

import torch
from torch import Tensor

from chainrule.models.recurrent.elman import Elman


def network(
    largest: float, kind: str, activation: str, units: int, generator: torch.Generator
) -> Elman:
    """U orthogonal or Gaussian, scaled to σ₁(U) = `largest`; every unit has its own input."""
    with torch.random.fork_rng(devices=[]):
        layer = Elman(units, units, activation).double()
    U = torch.randn(units, units, dtype=torch.float64, generator=generator)
    U = torch.linalg.qr(U)[0] if kind == "orthogonal" else U
    with torch.no_grad():
        layer.U.copy_(largest * U / torch.linalg.matrix_norm(U, 2))
        layer.V.copy_(torch.eye(units))
    return layer


def through(
    layer: Elman, steps: int, size: float, generator: torch.Generator, start: float = 0.0
) -> tuple[list[float], Tensor]:
    """‖∂z_k/∂z_0‖₂ for k = 1 … steps, and z_1 … z_steps, under Gaussian z_0 and inputs.

    z_0 has the mean `start` and, like the inputs, the standard deviation `size`.
    """
    m = layer.hidden_size
    x = size * torch.randn(1, steps, m, dtype=torch.float64, generator=generator)
    z_0 = start + size * torch.randn(1, m, dtype=torch.float64, generator=generator)
    with torch.no_grad():
        z = layer(x, z_0)[0][0]
    before = torch.cat([z_0, z[:-1]]).repeat_interleave(m, 0).requires_grad_()
    after, _ = layer(x[0].repeat_interleave(m, 0)[:, None], before)
    chosen = after.view(steps, m, m).diagonal(dim1=1, dim2=2)  # unit r of the r-th copy
    (jacobians,) = torch.autograd.grad(chosen.sum(), before)
    product, norms = torch.eye(m, dtype=torch.float64), []
    for jacobian in jacobians.view(steps, m, m):
        product = jacobian @ product
        norms.append(torch.linalg.matrix_norm(product, 2).item())
    return norms, z
