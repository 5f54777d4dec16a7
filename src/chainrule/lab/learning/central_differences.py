"""Claim: central differences approach the backpropagated gradient like ε² (J 3.1, A 1.3.6).

    (h(θ + ε v) - h(θ - ε v)) / 2ε  =  vᵀ∇h(θ) + ε²/6 h''' + rounding,     h''' along v, near θ

Measured: along random directions v of the weights of tanh networks, for ε = 0.1 … 1e-8, the
distance between central differences and vᵀ∇h of the δ-recursion, divided by what the formula
allows; the largest value.
Bound: 1. The formula allows ε²/6 max |h'''|, by Taylor's theorem with the maximum over 41 points of
|s| ≤ 0.1 plus 10 % for the points between, and 20 u h(θ) / ε for the rounding of h, a sum of twenty
squares, u = 1.1e-16.
At best ten of sixteen digits are right, for two evaluations per weight; backpropagation has them
all. Rumelhart et al. (1986).
"""

import torch
from torch import Tensor
from torch.func import grad, vmap

from chainrule.autodiff.backpropagation import Layer, delta_squared, gradients
from chainrule.autodiff.curvature import Function, flattened
from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.learning import losses
from chainrule.models.feedforward.mlp import MLP

LARGEST = 0.1
STEPS = torch.logspace(-1, -8, 29, dtype=torch.float64)
ROUNDING = 1.1e-16


def check(hidden: int = 8, directions: int = 20, seed: int = 0) -> Verdict:
    """δ = f - y for the loss ½ ‖y - f‖².

    Args:
        hidden: Hidden units.
        directions: Random directions v.
    """
    return verdict(hidden, directions, seed, scale=1.0)


def broken() -> Verdict:
    """δ = 2 (f - y), as if the loss had no ½."""
    return verdict(8, 20, 0, scale=2.0)


def near() -> Near:
    """An error of the output off by 10 %."""
    return ten_percent("δ", lambda factor: verdict(8, 5, 0, scale=factor))


def verdict(hidden: int, directions: int, seed: int, scale: float) -> Verdict:
    """Distances by ε, and what Taylor and rounding allow."""
    generator = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = MLP(3, [hidden, hidden], 2, activation="tanh", initialization="lecun").double()
    x = torch.randn(10, 3, dtype=torch.float64, generator=generator)
    y = torch.randn(10, 2, dtype=torch.float64, generator=generator)
    h, theta = flattened(model, lambda f: losses.squared(f(x), y).sum())
    layers = [Layer(layer.weight, layer.bias) for layer in model.layers]  # type: ignore[arg-type]
    with torch.no_grad():
        found = gradients(layers, x, scale * delta_squared(model(x), y), "tanh")
    gradient = torch.cat([t.flatten() for layer in found for t in layer])
    v = torch.randn(directions, len(theta), dtype=torch.float64, generator=generator)
    v = v / v.norm(dim=1, keepdim=True)
    moved = STEPS[:, None, None] * v
    each = vmap(vmap(h))
    differences = (each(theta + moved) - each(theta - moved)) / (2 * STEPS[:, None])
    distance = (differences - v @ gradient).abs()
    rounding = 20 * ROUNDING * h(theta).item() / STEPS
    taylor = STEPS[:, None] ** 2 / 6 * 1.1 * third_derivative(h, theta, v)
    worst = (distance / (taylor + rounding[:, None])).max().item()
    steps = STEPS.tolist()
    return Verdict(
        quantity="largest distance / (ε²/6 max |h'''| + rounding)",
        measured=worst,
        relation="≤",
        bound=1.0,
        picture=Picture(
            title="Differences approach backpropagation until rounding takes over",
            x_label="step ε of the differences",
            y_label="distance from backpropagation",
            points={"largest of all directions": (steps, distance.max(1).values.tolist())},
            bounds={
                "ε²/6 max |h'''|": (steps[:17], taylor.max(1).values.tolist()[:17]),
                "rounding / ε": (steps[8:], rounding.tolist()[8:]),
            },
            log="xy",
        ),
        details={"smallest distance": distance.max(1).values.min().item()},
    )


def third_derivative(h: Function, theta: Tensor, v: Tensor) -> Tensor:
    """max |d³/ds³ h(θ + s v)| over |s| ≤ 0.1, for each direction."""
    s = torch.linspace(-LARGEST, LARGEST, 41, dtype=theta.dtype)

    def along(s: Tensor, v: Tensor) -> Tensor:
        return h(theta + s * v)

    third = grad(grad(grad(along)))
    return vmap(lambda v: vmap(lambda s: third(s, v))(s))(v).abs().max(1).values
