"""Curvature of a loss without its Hessian, and the step size that follows from it.

    ∂f(x) v       = d/dε f(x + ε v)        at ε = 0: forward mode, one pass
    ∇²h(θ) v      = d/dε ∇h(θ + ε v)       forward mode over reverse mode: about two gradients
    v ← ∇²h v / ‖∇²h v‖                    then ‖∇²h v‖ → L = ‖∇²h‖₂
    θ ← θ - ∇h(θ) / L                      sufficient decrease: h falls by at least ‖∇h‖² / 2L

Pearlmutter (1994), Neural Computation 6. Notes: J 3.2 (whose sufficient decrease prints = where it
should read ≤), L "Backprop as Reverse-Mode Differentiation".
"""

import warnings
from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.func import functional_call, grad, jvp

from chainrule.errors import InputError

Function = Callable[[Tensor], Tensor]


class Curvature(NamedTuple):
    """L = ‖∇²h‖₂, the direction v that it belongs to, and how the iteration ended."""

    largest: float
    direction: Tensor
    steps: int
    converged: bool


def directional_derivative(f: Function, x: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """f(x) and ∂f(x) v."""
    with warnings.catch_warnings():
        # torch compiles its forward-mode rules on first use, by means that it warns of itself.
        warnings.filterwarnings("ignore", "`torch.jit.script`", DeprecationWarning)
        value, derivative = jvp(f, (x,), (v,))[:2]
    return value, derivative


def hessian_vector(
    h: Function, theta: Float[Tensor, "*shape"], v: Float[Tensor, "*shape"]
) -> Float[Tensor, "*shape"]:
    """∇²h(θ) v = d/dε ∇h(θ + ε v)."""
    return directional_derivative(grad(h), theta, v)[1]


def largest_curvature(
    h: Function, theta: Tensor, tolerance: float = 1e-3, max_steps: int = 1000, seed: int = 0
) -> Curvature:
    """Power iteration v ← ∇²h v / ‖∇²h v‖ from a random direction.

    It has converged when v returns to itself within `tolerance` after two steps: an eigenvalue may
    be negative, or ±L both be there. L then errs by about `tolerance` at most, relative, and is
    never too large; where L is double or nearly so, v is some direction of that eigenspace.
    """
    generator = torch.Generator().manual_seed(seed)
    start = torch.randn(theta.shape, generator=generator, dtype=theta.dtype).to(theta.device)
    older = old = v = start / start.norm()
    size = 0.0
    for step in range(1, max_steps + 1):
        Hv = hessian_vector(h, theta, v)
        size = Hv.norm().item()
        if size == 0:
            return Curvature(0.0, v, step, True)
        older, old, v = old, v, Hv / size
        if step > 1 and (v - older).norm() <= tolerance:
            return Curvature(size, v, step, True)
    return Curvature(size, v, max_steps, False)


def gradient_descent(
    h: Function, start: Float[Tensor, "*shape"], steps: int, rate: float | None = None
) -> Float[Tensor, "points *shape"]:
    """The path θ_{t+1} = θ_t - η ∇h(θ_t) from its start; without a rate, η = 1/L there."""
    eta = rate if rate is not None else safe_rate(h, start)
    path = [start.detach()]
    gradient = grad(h)
    for _ in range(steps):
        path.append(path[-1] - eta * gradient(path[-1]))
    return torch.stack(path)


def safe_rate(h: Function, theta: Tensor) -> float:
    """1/L, with L the largest curvature at θ; h need not be as flat elsewhere."""
    L = largest_curvature(h, theta.detach()).largest
    if L == 0:
        raise InputError("the loss has no curvature at the start, so 1/L is unbounded; give a rate")
    return 1 / L


def flattened(model: nn.Module, loss: Callable[[Callable], Tensor]) -> tuple[Function, Tensor]:
    """h(θ) = loss(the model with weights θ) as a function of one vector, and the model's own θ.

    For example `flattened(model, lambda f: losses.squared(f(x), y).mean())`.
    """
    weights = {name: p.detach() for name, p in model.named_parameters()}
    sizes = [p.numel() for p in weights.values()]

    def h(theta: Tensor) -> Tensor:
        parts = zip(weights.items(), theta.split(sizes), strict=True)
        given = {name: part.view(p.shape) for (name, p), part in parts}
        return loss(lambda *x: functional_call(model, given, x))

    return h, torch.cat([p.flatten() for p in weights.values()])
