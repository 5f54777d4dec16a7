"""The largest curvature of a loss without its Hessian, and the learning rate 1/L it allows.

    ∇²h(θ) v = d/dε ∇h(θ + ε v)     forward mode over reverse mode; costs about two gradients
    v ← ∇²h v / ‖∇²h v‖             power iteration: ‖∇²h v‖ → L = ‖∇²h‖₂
    θ ← θ - ∇h(θ) / L               sufficient decrease: h falls by at least ‖∇h‖² / 2L

Pearlmutter (1994), Neural Computation 6. Notes: J 3.2 (whose sufficient decrease prints = where it
should read ≤), L "Backprop as Reverse-Mode Differentiation".
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.func import functional_call, grad

from chainrule.arguments import checked
from chainrule.autodiff.forward_mode import directional_derivative
from chainrule.errors import InputError

Function = Callable[[Tensor], Tensor]


class Curvature(NamedTuple):
    """L = ‖∇²h‖₂, its direction v, the number of steps and whether they converged."""

    largest: float
    direction: Tensor
    steps: int
    converged: bool


@checked
def hessian_vector(
    h: Function, theta: Float[Tensor, "*shape"], v: Float[Tensor, "*shape"]
) -> Float[Tensor, "*shape"]:
    """∇²h(θ) v = d/dε ∇h(θ + ε v).

    Args:
        h: A function of θ with one value.
        theta: θ.
        v: A direction of the same shape.

    >>> import torch
    >>> h = lambda theta: 0.5 * (torch.tensor([1.0, 4.0]) * theta**2).sum()
    >>> hessian_vector(h, torch.zeros(2), torch.ones(2))
    tensor([1., 4.])
    """
    return directional_derivative(grad(h), theta, v)[1]


@checked
def largest_curvature(
    h: Function, theta: Tensor, tolerance: float = 1e-3, max_steps: int = 1000, seed: int = 0
) -> Curvature:
    """Power iteration v ← ∇²h v / ‖∇²h v‖ from a random direction.

    It has converged when two steps change v by at most `tolerance`: two, because v changes its sign
    at every step if the eigenvalue is negative, and alternates if both L and -L are eigenvalues.
    The relative error of L is then about `tolerance`, and L is never too large. If several
    eigenvalues are nearly L, v is a direction of their joint eigenspace.

    Args:
        h: A function of θ with one value.
        theta: θ.
        tolerance: Change of v at which the iteration ends.
        max_steps: Steps after which it ends anyway.
        seed: Draws the first direction.

    >>> import torch
    >>> h = lambda theta: 0.5 * (torch.tensor([1.0, 4.0]) * theta**2).sum()
    >>> round(largest_curvature(h, torch.zeros(2)).largest, 2)
    4.0
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


@checked
def gradient_descent(
    h: Function, start: Float[Tensor, "*shape"], steps: int, rate: float | None = None
) -> Float[Tensor, "points *shape"]:
    """θ_0, θ_1, …, with θ_{t+1} = θ_t - η ∇h(θ_t); η defaults to 1/L at the start.

    Args:
        h: A function of θ with one value.
        start: θ_0.
        steps: Number of updates.
        rate: η.

    >>> import torch
    >>> h = lambda theta: 0.5 * (torch.tensor([1.0, 4.0]) * theta**2).sum()
    >>> gradient_descent(h, torch.tensor([0.0, 1.0]), steps=1, rate=0.25)
    tensor([[0., 1.],
            [0., 0.]])
    """
    eta = rate if rate is not None else safe_rate(h, start)
    path = [start.detach()]
    gradient = grad(h)
    for _ in range(steps):
        path.append(path[-1] - eta * gradient(path[-1]))
    return torch.stack(path)


@checked
def safe_rate(h: Function, theta: Tensor) -> float:
    """1/L, with L the largest curvature at θ; elsewhere the curvature may be larger.

    Args:
        h: A function of θ with one value.
        theta: θ.

    >>> import torch
    >>> h = lambda theta: 0.5 * (torch.tensor([1.0, 4.0]) * theta**2).sum()
    >>> round(safe_rate(h, torch.zeros(2)), 2)
    0.25
    """
    L = largest_curvature(h, theta.detach()).largest
    if L == 0:
        raise InputError("the loss has no curvature at the start, so 1/L is infinite; pass a rate")
    return 1 / L


@checked
def flattened(model: nn.Module, loss: Callable[[Callable], Tensor]) -> tuple[Function, Tensor]:
    """h(θ), the loss of the model with the parameter vector θ, and the model's present θ.

    Example: `h, theta = flattened(model, lambda f: losses.squared(f(x), y).mean())`.

    Args:
        model: A network whose parameters become θ.
        loss: Takes the network as a function, and returns one value.

    >>> import torch
    >>> model, x = torch.nn.Linear(2, 1, bias=False), torch.ones(3, 2)
    >>> h, theta = flattened(model, lambda f: (f(x) ** 2).mean())
    >>> theta.shape, bool(h(torch.zeros(2)) == 0)
    (torch.Size([2]), True)
    """
    weights = {name: p.detach() for name, p in model.named_parameters()}
    sizes = [p.numel() for p in weights.values()]

    def h(theta: Tensor) -> Tensor:
        parts = zip(weights.items(), theta.split(sizes), strict=True)
        given = {name: part.view(p.shape) for (name, p), part in parts}
        return loss(lambda *x: functional_call(model, given, x))

    return h, torch.cat([p.flatten() for p in weights.values()])
