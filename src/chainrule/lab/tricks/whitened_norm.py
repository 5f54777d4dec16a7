"""Claim: on whitened inputs weight normalization is batch normalization (J 8.6).

    E x = 0, Cov x = I   ⇒   BN(wᵀx) = μ + γ wᵀx / ‖w‖_Σ = μ + γ wᵀx / ‖w‖ = WN(x),  ‖w‖_Σ = ‖w‖

As functions of w, γ and μ they are equal, and so are their gradients: the batch's statistics
depend on w only through ‖w‖.
Measured: outputs and the gradients of a squared loss with respect to w, γ and μ on a whitened
batch; the largest difference, relative to the largest entry of each.
Bound: 1e-11, rounding of the whitening in double precision; ε = 0.
Salimans and Kingma (2016), section 2.2; Notes also: J 8.5.
"""

import torch
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.learning.losses import squared
from chainrule.nn.normalization import BatchNorm, WeightNormLinear

BOUND = 1e-11
STRETCHES = (1.0, 1.25, 1.5, 2.0, 3.0, 5.0, 8.0)


def check(inputs: int = 8, batch: int = 100, seed: int = 0) -> Verdict:
    """Whitened inputs.

    Args:
        inputs: Input dimension.
        batch: Examples in the batch, more than inputs.
    """
    if batch <= inputs:
        raise InputError(f"`batch` must be above `inputs` to be whitened, got {batch}, {inputs}")
    return verdict(inputs, batch, seed)


def broken() -> Verdict:
    """One input with three times the standard deviation of the others."""
    return verdict(8, 100, 0, stretch=3.0)


def near() -> Near:
    """One input with another deviation, or a mean that is not 0."""
    return {
        **ten_percent("√Var x_1", lambda factor: verdict(8, 100, 0, stretch=factor)),
        "E x_1 = 0.1": lambda: verdict(8, 100, 0, shift=0.1),
    }


def verdict(
    inputs: int, batch: int, seed: int, stretch: float = 1.0, shift: float = 0.0
) -> Verdict:
    """Both normalizations of the same linear layer."""
    generator = torch.Generator().manual_seed(seed)
    x = whitened(torch.randn(batch, inputs, dtype=torch.float64, generator=generator))
    y = torch.randn(batch, 3, dtype=torch.float64, generator=generator)
    w = torch.randn(3, inputs, dtype=torch.float64, generator=generator)
    gamma, mu = 0.5 + torch.rand(2, 3, dtype=torch.float64, generator=generator)

    def apart(factor: float, offset: float = 0.0) -> float:
        moved = torch.cat([factor * x[:, :1] + offset, x[:, 1:]], 1)
        pairs = zip(
            by_batch(moved, y, w, gamma, mu), by_weight(moved, y, w, gamma, mu), strict=True
        )
        return max(((a - b).abs().max() / a.abs().max()).item() for a, b in pairs)

    return Verdict(
        quantity="largest relative difference of outputs and gradients",
        measured=apart(stretch, shift),
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="Weight and batch normalization agree on whitened inputs only",
            x_label="standard deviation of one input, the others having 1",
            y_label="relative difference of outputs and gradients",
            points={"batch against weight": (list(STRETCHES), [apart(s) for s in STRETCHES])},
            bounds={"rounding": ([STRETCHES[0], STRETCHES[-1]], [BOUND, BOUND])},
            log="y",
        ),
    )


def whitened(x: Tensor) -> Tensor:
    """(x - E x) Cov^{-1/2} of the batch."""
    x = x - x.mean(0)
    values, axes = torch.linalg.eigh(x.T @ x / len(x))
    return x @ axes * values.rsqrt() @ axes.T


def by_batch(x: Tensor, y: Tensor, w: Tensor, gamma: Tensor, mu: Tensor) -> list[Tensor]:
    """Outputs, and the gradients of w, γ and μ, with batch normalization."""
    w, norm = w.clone().requires_grad_(), BatchNorm(len(w), eps=0.0).double()
    norm.weight.data, norm.bias.data = gamma.clone(), mu.clone()
    return results(norm(x @ w.T), y, [w, norm.weight, norm.bias])


def by_weight(x: Tensor, y: Tensor, w: Tensor, gamma: Tensor, mu: Tensor) -> list[Tensor]:
    """The same with weight normalization."""
    linear = nn.Linear(w.shape[1], len(w)).double()
    linear.weight.data, linear.bias.data = w.clone(), mu.clone()
    layer = WeightNormLinear(linear)
    layer.gamma.data = gamma.clone()
    return results(layer(x), y, [layer.v, layer.gamma, layer.bias])


def results(output: Tensor, y: Tensor, parameters: list[Tensor]) -> list[Tensor]:
    gradients = torch.autograd.grad(squared(output, y).mean(), parameters)
    return [output.detach(), *gradients]
