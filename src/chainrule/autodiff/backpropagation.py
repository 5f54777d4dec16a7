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
    """Weight and bias of one layer, or their gradients, or a direction in which they move.

    Args:
        W: Weight.
        b: Bias.

    >>> import torch
    >>> Layer(torch.zeros(3, 2), torch.zeros(3)).W.shape
    torch.Size([3, 2])
    """

    W: Float[Tensor, "m n"]
    b: Float[Tensor, " m"]


@checked
def forward(
    layers: Sequence[Layer], x: Float[Tensor, "batch n"], activation: str
) -> tuple[list[Tensor], list[Tensor]]:
    """Pre-activations z_1 … z_L and activations h_0 … h_{L-1} of a batch; f = z_L.

    Args:
        layers: W_1, b_1 up to W_L, b_L.
        x: Inputs h_0, one per row.
        activation: Name of φ, such as relu; the last layer has none.

    >>> import torch
    >>> layers = [Layer(torch.eye(2), torch.zeros(2)), Layer(torch.ones(1, 2), torch.zeros(1))]
    >>> z, h = forward(layers, torch.tensor([[1.0, -2.0]]), "relu")
    >>> z[-1]
    tensor([[1.]])
    """
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
    """The δ-recursion: gradients of Σ ℓ_i over the batch, given δ_L = ∂ℓ/∂f.

    Args:
        layers: W_1, b_1 up to W_L, b_L.
        x: Inputs, one per row.
        delta: δ_L, such as `delta_softmax` gives it.
        activation: Name of φ.

    >>> import torch
    >>> layers = [Layer(torch.eye(2), torch.zeros(2)), Layer(torch.ones(1, 2), torch.zeros(1))]
    >>> x, y = torch.tensor([[1.0, -2.0]]), torch.tensor([[3.0]])
    >>> delta = delta_squared(forward(layers, x, "relu")[0][-1], y)
    >>> gradients(layers, x, delta, "relu")[1].W
    tensor([[-2.,  0.]])
    """
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
    """∂/∂f of ½ ‖y - f‖².

    Args:
        f: Outputs.
        y: Targets.

    >>> import torch
    >>> delta_squared(torch.tensor([[1.0]]), torch.tensor([[3.0]]))
    tensor([[-2.]])
    """
    return f - y


@checked
def delta_squared_sigmoid(
    f: Float[Tensor, "batch k"], y: Float[Tensor, "batch k"]
) -> Float[Tensor, "batch k"]:
    """∂/∂f of ½ ‖y - p‖² with p = σ(f): (p - y) p (1 - p).

    Args:
        f: Outputs before the sigmoid.
        y: Targets.

    >>> import torch
    >>> delta_squared_sigmoid(torch.tensor([[0.0]]), torch.tensor([[1.0]]))
    tensor([[-0.1250]])
    """
    p = f.sigmoid()
    return (p - y) * p * (1 - p)


@checked
def delta_softmax(
    f: Float[Tensor, "batch k"], y: Int[Tensor, " batch"]
) -> Float[Tensor, "batch k"]:
    """∂/∂f of -log softmax(f)_y.

    Args:
        f: Logits, one column for each class.
        y: Classes.

    >>> import torch
    >>> delta_softmax(torch.zeros(1, 2), torch.tensor([0]))
    tensor([[-0.5000,  0.5000]])
    """
    return f.softmax(1) - torch.nn.functional.one_hot(y, f.shape[1])


@checked
def delta_sigmoid(
    f: Float[Tensor, "batch 1"], y: Int[Tensor, " batch"]
) -> Float[Tensor, "batch 1"]:
    """∂/∂f of -log σ((2y - 1) f).

    Args:
        f: Logits.
        y: Classes, 0 or 1.

    >>> import torch
    >>> delta_sigmoid(torch.zeros(2, 1), torch.tensor([1, 0]))
    tensor([[-0.5000],
            [ 0.5000]])
    """
    return f.sigmoid() - y[:, None]


ACTIVATIONS = {
    "identity": (lambda z: z, torch.ones_like),
    "sigmoid": (torch.sigmoid, lambda z: z.sigmoid() * (1 - z.sigmoid())),
    "tanh": (torch.tanh, lambda z: 1 - z.tanh() ** 2),
    "relu": (torch.relu, lambda z: (z > 0).to(z.dtype)),
}
"""φ and φ' by name."""
