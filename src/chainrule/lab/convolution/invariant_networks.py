"""Claim: equivariant layers followed by an invariant one make an invariant network (J 4.2).

    g_j(Sx) = S g_j(x),  f(Sx) = f(x)   ⇒   (f ∘ g_J ∘ … ∘ g_1)(Sx) = (f ∘ g_J ∘ … ∘ g_1)(x)

Measured: a digit on a torus of 12×12 pixels is moved to all 144 positions; the largest change of
the output of 1 … `num_layers` circular correlations with random kernels, each followed by an
activation, and the mean over all pixels, relative to the layer's largest pixel.
Bound: 1e-12; the same sums in double precision are taken in different orders.
L "Translation invariance and pooling operations". Fukushima (1980).
"""

import torch
from torch import Tensor

from chainrule.data.datasets.digits import load
from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.nn.activations import leaky_relu, tanh
from chainrule.nn.convolution import correlation

BOUND = 1e-12
SIDE = 12
KERNEL = 3


def check(num_layers: int = 3, seed: int = 0) -> Verdict:
    """Circular layers.

    Args:
        num_layers: Layers of the deepest network.
    """
    return verdict(num_layers, seed, mode="circular")


def broken() -> Verdict:
    """Zero-padded layers, which are not equivariant."""
    return verdict(3, 0, mode="same")


def near() -> Near:
    """A mean over almost all pixels."""
    return {"one row left out of the mean": lambda: verdict(2, 0, mode="circular", left_out=1)}


def verdict(depth: int, seed: int, mode: str, left_out: int = 0) -> Verdict:
    """One digit at all positions."""
    generator = torch.Generator().manual_seed(seed)
    images = load().train.x[:, 0].double()
    digit = images[int(torch.randint(len(images), (), generator=generator))]
    canvas = torch.zeros(SIDE, SIDE, dtype=torch.float64)
    canvas[:8, :8] = digit
    kernels = torch.randn(depth, KERNEL, KERNEL, dtype=torch.float64, generator=generator) / KERNEL
    shifts = [(i, j) for i in range(SIDE) for j in range(SIDE)]
    features = torch.stack([layers(canvas.roll(s, (0, 1)), kernels, mode) for s in shifts])
    means = features[:, :, left_out:].mean((2, 3))
    sizes = features.abs().amax((0, 2, 3))
    worst = ((means - means[0]).abs().amax(0) / sizes).max().item()
    along = [float(j) for j in range(SIDE)]
    one_pixel = features[:SIDE, -1, SIDE // 2, SIDE // 2]
    return Verdict(
        quantity="largest relative change of the mean feature",
        measured=worst,
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="When a digit moves, a single feature pixel changes, the mean does not",
            x_label="shift of the digit, in pixels",
            y_label="output of the last layer",
            curves={"invariant": ([0.0, SIDE - 1.0], [means[0, -1].item()] * 2)},
            points={
                "mean over all pixels": (along, means[:SIDE, -1].tolist()),
                "the center pixel": (along, one_pixel.tolist()),
            },
        ),
    )


def layers(x: Tensor, kernels: Tensor, mode: str) -> Tensor:
    """(depth, side, side): the features of every layer."""
    features = []
    for number, w in enumerate(kernels):
        x = (leaky_relu, tanh)[number % 2](correlation(x, w, mode))
        features.append(x)
    return torch.stack(features)
