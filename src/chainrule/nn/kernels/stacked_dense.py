"""K networks of affine maps at once: forward and backward written out, without autograd.

    h_l = φ(W_l h_{l-1} + b_l)            W: (K, outputs, inputs), h: (K, units, batch)
    δ_{l-1} = φ'(z_{l-1}) ⊙ W_lᵀ δ_l,     ∂W_l = δ_l h_{l-1}ᵀ,   ∂b_l = Σ δ_l

Small networks take less time than autograd's bookkeeping and the mapping of `torch.func`. The
operations are those to which both lead, in their order, so the bits are theirs, which the tests
compare.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from chainrule.nn.kernels.dense_stack import DERIVATIVES, dense_layers


class StackedLayer(NamedTuple):
    """One affine map of all networks, and what follows it."""

    W: Tensor
    b: Tensor
    activation: Callable[[Tensor], Tensor] | None


class StackedDense:
    """Networks (K, batch, inputs) → (K, batch, outputs) whose weights have a leading axis."""

    def __init__(self, layers: list[StackedLayer]):
        self.layers = layers
        self.gradients: list[tuple[Tensor, Tensor]] = []

    @torch.no_grad()
    def __call__(self, x: Float[Tensor, "K batch n"]) -> Float[Tensor, "K batch m"]:
        """The outputs."""
        return self.states(x)[-1].mT

    @torch.no_grad()
    def states(self, x: Float[Tensor, "K batch n"]) -> list[Tensor]:
        """The inputs and what every layer makes of them, with the batch last."""
        states = [x.mT]
        for W, b, activation in self.layers:
            z = torch.baddbmm(b[:, :, None], W, states[-1])
            states.append(z if activation is None else activation(z))
        return states

    @torch.no_grad()
    def backward(self, states: list[Tensor], delta: Float[Tensor, "K batch m"]) -> None:
        """Every weight's gradient, from ∂ℓ/∂f down."""
        if not self.gradients:
            self.gradients = [
                (torch.empty_like(W), torch.empty_like(b)[:, :, None]) for W, b, _ in self.layers
            ]
        delta = delta.mT
        for place in reversed(range(len(self.layers))):
            (W, b, activation), (dW, db) = self.layers[place], self.gradients[place]
            if activation is not None:
                delta = DERIVATIVES[activation](delta, states[place + 1])
            W.grad = torch.bmm(delta, states[place].mT, out=dW)
            b.grad = torch.sum(delta, 2, keepdim=True, out=db)[:, :, 0]
            if place:
                delta = torch.bmm(W.mT, delta)


def stacked_dense(model: nn.Module, stacked: Sequence[Tensor]) -> StackedDense | None:
    """The written-out form of networks like this one, if it is nothing but affine maps.

    Args:
        model: One of the networks.
        stacked: The weights of all of them, in the order of its parameters.
    """
    layers = dense_layers(model)
    plain = layers and all(
        linear.bias is not None and not rate and (activation is None or activation in DERIVATIVES)
        for linear, activation, rate in layers
    )
    if not layers or not plain or any(t.device.type != "cpu" for t in stacked):
        return None
    of: dict[Tensor, Tensor] = dict(zip(model.parameters(), stacked, strict=True))
    return StackedDense([StackedLayer(of[m.weight], of[m.bias], a) for m, a, _ in layers])
