"""Backpropagation written out for a fully connected network: the δ-recursion.

    forward     z_l = W_l h_{l-1} + b_l,   h_l = φ(z_l),   h_0 = x,   f = z_L
    top         δ_L = ∂ℓ/∂f            (p - y with the matching loss, see `delta_…`)
    backward    δ_l = φ'(z_l) ⊙ W_{l+1}ᵀ δ_{l+1}
    gradients   ∂ℓ/∂W_l = δ_l h_{l-1}ᵀ,   ∂ℓ/∂b_l = δ_l

This is reverse mode: one backward sweep gives all gradients of one loss. `costate` is the same
recursion for any layers, `forward_mode` its counterpart.

Rumelhart, Hinton and Williams (1986), Nature 323.
Notes: J 3.1 (whose δ-recursion lacks its ∂), L "Chain Rule and Backward Recursion", exercise 10.3.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from chainrule.arguments import checked


class Layer(NamedTuple):
    """Weight and bias of one layer, or their gradients, or a direction in which they move."""

    W: Float[Tensor, "m n"]
    b: Float[Tensor, " m"]


@checked
def forward(
    layers: Sequence[Layer], x: Float[Tensor, "batch n"], activation: str
) -> tuple[list[Tensor], list[Tensor]]:
    """Pre-activations z_1 … z_L and activations h_0 … h_{L-1} of a batch; f = z_L."""
    phi, _ = ACTIVATIONS[activation]
    z, h = [], [x]
    for W, b in layers:
        z.append(h[-1] @ W.T + b)
        h.append(phi(z[-1]))
    return z, h[:-1]


@checked
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


@checked
def delta_squared(
    f: Float[Tensor, "batch k"], y: Float[Tensor, "batch k"]
) -> Float[Tensor, "batch k"]:
    """∂/∂f of ½ ‖y - f‖²."""
    return f - y


@checked
def delta_squared_sigmoid(
    f: Float[Tensor, "batch k"], y: Float[Tensor, "batch k"]
) -> Float[Tensor, "batch k"]:
    """∂/∂f of ½ ‖y - p‖² with p = σ(f): (p - y) p (1 - p)."""
    p = f.sigmoid()
    return (p - y) * p * (1 - p)


@checked
def delta_softmax(
    f: Float[Tensor, "batch k"], y: Int[Tensor, " batch"]
) -> Float[Tensor, "batch k"]:
    """∂/∂f of -log softmax(f)_y."""
    return f.softmax(1) - torch.nn.functional.one_hot(y, f.shape[1])


@checked
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
"""φ and φ' by name."""
