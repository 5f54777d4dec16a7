"""Backpropagation and its relatives written out.

    forward     z_l = W_l h_{l-1} + b_l,   h_l = φ(z_l),   h_0 = x,   f = z_L
    top         δ_L = ∂ℓ/∂f            (prediction - y for squared, sigmoid and softmax outputs)
    backward    δ_l = φ'(z_l) ⊙ W_{l+1}ᵀ δ_{l+1}
    gradients   ∂ℓ/∂W_l = δ_l h_{l-1}ᵀ,   ∂ℓ/∂b_l = δ_l

    co-states   p_l = [∂g_l/∂x_l]ᵀ p_{l+1},   ∇_{W_l} ℓ = [∂g_l/∂W_l]ᵀ p_{l+1}     for any layers
                x_{l+1} = g_l(x_l, W_l),   with p_l = ∂ℓ/∂x_l where δ_l = ∂ℓ/∂z_l
    tangents    ż_l = Ẇ_l h_{l-1} + W_l ḣ_{l-1} + ḃ_l,   ḣ_l = φ'(z_l) ⊙ ż_l         forward mode

Reverse mode gives all gradients of one loss in one sweep, forward mode the derivatives of all
outputs along one direction. Rumelhart, Hinton and Williams (1986), Nature 323; LeCun (1988).
Notes: J 3.1 (whose δ-recursion lacks its ∂), L "Chain Rule and Backward Recursion", exercise 10.3.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor


class Layer(NamedTuple):
    """Weight and bias of one layer, or their gradients."""

    W: Float[Tensor, "m n"]
    b: Float[Tensor, " m"]


class Block(NamedTuple):
    """Any layer x ↦ g(x, W), with its vector-Jacobian product.

    pull(x, W, p) = ([∂g/∂x]ᵀ p, [∂g/∂W]ᵀ p); W may be a tensor or a tuple of tensors.
    """

    g: Callable[[Tensor, Any], Tensor]
    pull: Callable[[Tensor, Any, Tensor], tuple[Tensor, Any]]


class Costates(NamedTuple):
    """p_0 … p_L and ∇_{W_0} ℓ … ∇_{W_{L-1}} ℓ of L layers."""

    p: list[Tensor]
    gradients: list[Any]


def forward(
    layers: Sequence[Layer], x: Float[Tensor, "batch n"], activation: str
) -> tuple[list[Tensor], list[Tensor]]:
    """Pre-activations z_1 … z_L and activations h_0 … h_{L-1} of a whole batch."""
    phi, _ = ACTIVATIONS[activation]
    z, h = [], [x]
    for W, b in layers:
        z.append(h[-1] @ W.T + b)
        h.append(phi(z[-1]))
    return z, h[:-1]


def gradients(
    layers: Sequence[Layer],
    x: Float[Tensor, "batch n"],
    delta: Float[Tensor, "batch outputs"],
    activation: str,
) -> list[Layer]:
    """The δ-recursion: gradients of Σ ℓ_i over the batch, given δ_L = ∂ℓ/∂f."""
    z, h = forward(layers, x, activation)
    _, derivative = ACTIVATIONS[activation]
    found: list[Layer] = []
    for l in reversed(range(len(layers))):  # noqa: E741 - the equation's letter
        found.append(Layer(delta.T @ h[l], delta.sum(0)))
        if l > 0:
            delta = derivative(z[l - 1]) * (delta @ layers[l].W)
    return found[::-1]


def tangents(
    layers: Sequence[Layer],
    x: Float[Tensor, "batch n"],
    directions: Sequence[Layer],
    x_direction: Float[Tensor, "batch n"],
    activation: str,
) -> Float[Tensor, "batch outputs"]:
    """ḟ, the derivative of the outputs along (Ẇ_1, ḃ_1, …, Ẇ_L, ḃ_L, ẋ), in one forward sweep."""
    z, h = forward(layers, x, activation)
    _, derivative = ACTIVATIONS[activation]
    h_dot = x_direction
    for (W, _), (W_dot, b_dot), z_l, h_l in zip(layers, directions, z, h, strict=True):
        z_dot = h_l @ W_dot.T + h_dot @ W.T + b_dot
        h_dot = derivative(z_l) * z_dot
    return z_dot


def states(blocks: Sequence[Block], weights: Sequence[Any], x: Tensor) -> list[Tensor]:
    """x_0 = x and x_{l+1} = g_l(x_l, W_l)."""
    found = [x]
    for block, W in zip(blocks, weights, strict=True):
        found.append(block.g(found[-1], W))
    return found


def costates(
    blocks: Sequence[Block], weights: Sequence[Any], states: Sequence[Tensor], top: Tensor
) -> Costates:
    """p_l = [∂g_l/∂x_l]ᵀ p_{l+1} from p_L = ∂ℓ/∂x_L down, and the gradients on the way."""
    p, gradients = [top], []
    for block, W, x in reversed(list(zip(blocks, weights, states[:-1], strict=True))):
        p_l, gradient = block.pull(x, W, p[-1])
        p.append(p_l)
        gradients.append(gradient)
    return Costates(p[::-1], gradients[::-1])


def dense(activation: str) -> Block:
    """g(x, (W, b)) = φ(W x + b), with [∂g/∂x]ᵀ p = Wᵀ δ and [∂g/∂W]ᵀ p = δ xᵀ, δ = φ'(z) ⊙ p."""
    phi, derivative = ACTIVATIONS[activation]

    def pull(x: Tensor, layer: Layer, p: Tensor) -> tuple[Tensor, Layer]:
        delta = derivative(x @ layer.W.T + layer.b) * p
        return delta @ layer.W, Layer(delta.T @ x, delta.sum(0))

    return Block(lambda x, layer: phi(x @ layer.W.T + layer.b), pull)


def automatic(g: Callable[[Tensor, Any], Tensor]) -> Block:
    """The block of any g(x, W), its vector-Jacobian product left to torch."""

    def pull(x: Tensor, W: Any, p: Tensor) -> tuple[Tensor, Any]:
        return torch.func.vjp(g, x, W)[1](p)

    return Block(g, pull)


def delta_squared(
    f: Float[Tensor, "batch k"], y: Float[Tensor, "batch k"]
) -> Float[Tensor, "batch k"]:
    """∂/∂f of ½ ‖y - f‖²."""
    return f - y


def delta_softmax(
    f: Float[Tensor, "batch k"], y: Int[Tensor, " batch"]
) -> Float[Tensor, "batch k"]:
    """∂/∂f of -log softmax(f)_y."""
    return f.softmax(1) - torch.nn.functional.one_hot(y, f.shape[1])


def delta_sigmoid(
    f: Float[Tensor, "batch 1"], y: Int[Tensor, " batch"]
) -> Float[Tensor, "batch 1"]:
    """∂/∂f of -log σ((2y - 1) f)."""
    return f.sigmoid() - y[:, None]


ACTIVATIONS = {
    "identity": (lambda z: z, torch.ones_like),
    "sigmoid": (torch.sigmoid, lambda z: z.sigmoid() * (1 - z.sigmoid())),
    "tanh": (torch.tanh, lambda z: 1 - z.tanh() ** 2),
    "relu": (torch.relu, lambda z: (z > 0).to(z.dtype)),
}
