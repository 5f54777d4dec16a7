"""Claim: the δ-recursion written out gives autograd's gradients (J 3.1, L exercise 10.3).

    δ_L = ∂ℓ/∂f,   δ_l = φ'(z_l) ⊙ W_{l+1}ᵀ δ_{l+1},   ∂ℓ/∂W_l = δ_l h_{l-1}ᵀ,   ∂ℓ/∂b_l = δ_l

Measured: the largest difference over random networks of 1 to 10 layers, all activations and the
squared, sigmoid and softmax outputs, relative to the largest entry of each gradient.
Bound: 1e-12. Both sides add the same few hundred products in double precision in different orders;
each product has a relative error of 1.1e-16, and cancellation costs at most three digits.
"""

from collections.abc import Callable
from itertools import pairwise, product

import torch
from torch import Tensor

from chainrule.autodiff.backpropagation import (
    ACTIVATIONS,
    Layer,
    delta_sigmoid,
    delta_softmax,
    delta_squared,
    forward,
    gradients,
)
from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.learning import losses

BOUND = 1e-12
DEPTHS = range(1, 11)
OUTPUTS = ("squared", "sigmoid", "softmax")


def check(width: int = 16, batch: int = 32, seed: int = 0) -> Verdict:
    """Every depth, activation and output once.

    Args:
        width: Units of the hidden layers.
        batch: Examples.
    """
    return verdict(gradients, width, batch, seed)


def broken() -> Verdict:
    """The recursion without φ', which is right for linear networks only."""

    def without_derivative(
        layers: list[Layer], x: Tensor, delta: Tensor, activation: str
    ) -> list[Layer]:
        _, h = forward(layers, x, activation)
        found = []
        for layer, h_l in zip(reversed(layers), reversed(h), strict=True):
            found.append(Layer(delta.T @ h_l, delta.sum(0)))
            delta = delta @ layer.W
        return found[::-1]

    return verdict(without_derivative, 8, 8, 0)


def near() -> Near:
    """The error of the output, or every bias gradient, off by 10 %."""

    def biased(factor: float) -> Callable[..., list[Layer]]:
        return lambda *given: [Layer(W, factor * b) for W, b in gradients(*given)]

    def scaled(factor: float) -> Callable[..., list[Layer]]:
        return lambda layers, x, delta, name: gradients(layers, x, factor * delta, name)

    return {
        **ten_percent("δ_L", lambda factor: verdict(scaled(factor), 8, 8, 0)),
        **ten_percent("∂ℓ/∂b", lambda factor: verdict(biased(factor), 8, 8, 0)),
    }


def verdict(recursion: Callable[..., list[Layer]], width: int, batch: int, seed: int) -> Verdict:
    """The recursion against autograd."""
    torch_state = torch.Generator().manual_seed(seed)
    worst = [
        max(
            difference(recursion, depth, width, batch, activation, output, torch_state)
            for activation, output in product(ACTIVATIONS, OUTPUTS)
        )
        for depth in DEPTHS
    ]
    depths = list(map(float, DEPTHS))
    return Verdict(
        quantity="largest relative difference from autograd",
        measured=max(worst),
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="Backpropagation by hand equals autograd",
            x_label="layers",
            y_label="largest relative difference",
            points={"measured": (depths, [max(w, 1e-17) for w in worst])},
            bounds={"bound": (depths, [BOUND] * len(depths))},
            log="y",
        ),
    )


def difference(
    recursion: Callable[..., list[Layer]],
    depth: int,
    width: int,
    batch: int,
    activation: str,
    output: str,
    generator: torch.Generator,
) -> float:
    """Largest entry of (by hand - autograd), relative to the gradient's largest entry."""
    outputs = 1 if output == "sigmoid" else 5
    sizes = [7, *[width] * (depth - 1), outputs]
    layers = [random_layer(n, m, generator) for n, m in pairwise(sizes)]
    x = torch.randn(batch, sizes[0], dtype=torch.float64, generator=generator)
    f = forward(layers, x, activation)[0][-1]
    loss, delta = loss_and_delta(f, output, generator)
    tensors = [t for layer in layers for t in layer]
    automatic = torch.autograd.grad(loss.sum(), tensors)
    with torch.no_grad():
        by_hand = [t for layer in recursion(layers, x, delta, activation) for t in layer]
    return max(
        ((a - b).abs().max() / b.abs().max().clamp_min(1e-300)).item()
        for a, b in zip(by_hand, automatic, strict=True)
    )


def random_layer(n: int, m: int, generator: torch.Generator) -> Layer:
    """Weights of variance 1/n that require gradients."""
    W = torch.randn(m, n, dtype=torch.float64, generator=generator) / n**0.5
    b = torch.randn(m, dtype=torch.float64, generator=generator)
    return Layer(W.requires_grad_(), b.requires_grad_())


def loss_and_delta(f: Tensor, output: str, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Losses of random targets, and ∂ℓ/∂f by its formula."""
    if output == "squared":
        y = torch.randn(f.shape, dtype=f.dtype, generator=generator)
        return losses.squared(f, y), delta_squared(f, y)
    classes = torch.randint(0, max(2, f.shape[1]), (len(f),), generator=generator)
    if output == "sigmoid":
        return losses.logistic(f[:, 0], classes), delta_sigmoid(f, classes)
    return losses.cross_entropy(f, classes), delta_softmax(f, classes)
