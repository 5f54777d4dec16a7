"""Co-states: reverse mode for a chain of any layers.

    x_{l+1} = g_l(x_l, W_l),    p_L = ∂ℓ/∂x_L
    p_l = [∂g_l/∂x_l]ᵀ p_{l+1},    ∇_{W_l} ℓ = [∂g_l/∂W_l]ᵀ p_{l+1}

p_l = ∂ℓ/∂x_l, where the δ_l of `backpropagation` is ∂ℓ/∂z_l. Each layer supplies its
vector-Jacobian product; `automatic` lets torch find it.

LeCun (1988), A theoretical framework for back-propagation.
Notes: J 3.1, L "Chain Rule and Backward Recursion".
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from chainrule.arguments import checked
from chainrule.autodiff.backpropagation import ACTIVATIONS, Layer


class Block(NamedTuple):
    """A layer x ↦ g(x, W) and its vector-Jacobian product.

    pull(x, W, p) = ([∂g/∂x]ᵀ p, [∂g/∂W]ᵀ p); W may be a tensor or a tuple of tensors.

    Args:
        g: The layer.
        pull: Its vector-Jacobian product.

    >>> import torch
    >>> block = automatic(lambda x, W: x @ W)
    >>> x, W = torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0], [4.0]])
    >>> block.pull(x, W, torch.ones(1, 1))[0]
    tensor([[3., 4.]])
    """

    g: Callable[[Tensor, Any], Tensor]
    pull: Callable[[Tensor, Any, Tensor], tuple[Tensor, Any]]


class Costates(NamedTuple):
    """p_0 … p_L and ∇_{W_0} ℓ … ∇_{W_{L-1}} ℓ of L layers."""

    p: list[Tensor]
    gradients: list[Any]


@checked
def states(blocks: Sequence[Block], weights: Sequence[Any], x: Tensor) -> list[Tensor]:
    """x_0 = x and x_{l+1} = g_l(x_l, W_l).

    Args:
        blocks: g_0 … g_{L-1}.
        weights: W_0 … W_{L-1}.
        x: x_0, batch first.

    >>> import torch
    >>> block = automatic(lambda x, W: x @ W)
    >>> x, W = torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0], [4.0]])
    >>> states([block], [W], x)[-1]
    tensor([[11.]])
    """
    found = [x]
    for block, W in zip(blocks, weights, strict=True):
        found.append(block.g(found[-1], W))
    return found


@checked
def costates(
    blocks: Sequence[Block], weights: Sequence[Any], states: Sequence[Tensor], top: Tensor
) -> Costates:
    """p_l = [∂g_l/∂x_l]ᵀ p_{l+1} from p_L = top = ∂ℓ/∂x_L down, and the gradients on the way.

    Args:
        blocks: g_0 … g_{L-1}.
        weights: W_0 … W_{L-1}.
        states: x_0 … x_L, as `states` returns them.
        top: ∂ℓ/∂x_L.

    >>> import torch
    >>> block = automatic(lambda x, W: x @ W)
    >>> x, W = torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0], [4.0]])
    >>> costates([block], [W], states([block], [W], x), torch.ones(1, 1)).gradients[0]
    tensor([[1.],
            [2.]])
    """
    p, gradients = [top], []
    for block, W, x in reversed(list(zip(blocks, weights, states[:-1], strict=True))):
        p_l, gradient = block.pull(x, W, p[-1])
        p.append(p_l)
        gradients.append(gradient)
    return Costates(p[::-1], gradients[::-1])


@checked
def dense(activation: str) -> Block:
    """g(x, (W, b)) = φ(W x + b), with [∂g/∂x]ᵀ p = Wᵀ δ and [∂g/∂W]ᵀ p = δ xᵀ, δ = φ'(z) ⊙ p.

    Args:
        activation: Name of φ, such as relu.

    >>> import torch
    >>> from chainrule.autodiff import Layer
    >>> layer = Layer(torch.eye(2), torch.zeros(2))
    >>> states([dense("relu")], [layer], torch.tensor([[1.0, -1.0]]))[-1]
    tensor([[1., 0.]])
    """
    phi, derivative = ACTIVATIONS[activation]

    def pull(x: Tensor, layer: Layer, p: Tensor) -> tuple[Tensor, Layer]:
        delta = derivative(x @ layer.W.T + layer.b) * p
        return delta @ layer.W, Layer(delta.T @ x, delta.sum(0))

    return Block(lambda x, layer: phi(x @ layer.W.T + layer.b), pull)


@checked
def automatic(g: Callable[[Tensor, Any], Tensor]) -> Block:
    """The block of any g(x, W), with torch's vector-Jacobian product.

    Args:
        g: A differentiable function of x and W.

    >>> import torch
    >>> block = automatic(lambda x, W: x @ W)
    >>> x, W = torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0], [4.0]])
    >>> block.pull(x, W, torch.ones(1, 1))[1]
    tensor([[1.],
            [2.]])
    """

    def pull(x: Tensor, W: Any, p: Tensor) -> tuple[Tensor, Any]:
        return torch.func.vjp(g, x, W)[1](p)

    return Block(g, pull)
