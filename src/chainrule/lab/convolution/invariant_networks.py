"""Claim: equivariant layers and an invariant end make an invariant network (J 4.2).

    g_j(Sx) = S g_j(x),  f(Sx) = f(x)   ⇒   (f ∘ g_J ∘ … ∘ g_1)(Sx) = (f ∘ g_J ∘ … ∘ g_1)(x)

Measured: a digit on a torus of 12×12 pixels is moved to all 144 places; the largest change of the
answer of 1 … `depth` circular correlations with random kernels, each followed by an activation, and
the mean over all pixels, relative to the layer's largest pixel. Bound: 1e-12; the same sums of
double precision are taken in other orders. L "Translation invariance and pooling operations".
Fukushima (1980).
"""

import torch
from torch import Tensor

from chainrule.data.datasets.digits import load
from chainrule.lab.claim import Picture, Verdict
from chainrule.nn.activations import leaky_relu, tanh
from chainrule.nn.convolution import correlation

BOUND = 1e-12
SIDE = 12
KERNEL = 3


def check(depth: int = 3, seed: int = 0) -> Verdict:
    """Circular layers."""
    return verdict(depth, seed, mode="circular")


def broken() -> Verdict:
    """Layers that see a rim of zeros round the image: they are not equivariant."""
    return verdict(3, 0, mode="same")


def verdict(depth: int, seed: int, mode: str) -> Verdict:
    """One digit at all places."""
    generator = torch.Generator().manual_seed(seed)
    images = load().train.x[:, 0].double()
    digit = images[int(torch.randint(len(images), (), generator=generator))]
    canvas = torch.zeros(SIDE, SIDE, dtype=torch.float64)
    canvas[:8, :8] = digit
    kernels = torch.randn(depth, KERNEL, KERNEL, dtype=torch.float64, generator=generator) / KERNEL
    shifts = [(i, j) for i in range(SIDE) for j in range(SIDE)]
    features = torch.stack([layers(canvas.roll(s, (0, 1)), kernels, mode) for s in shifts])
    means = features.mean((2, 3))
    sizes = features.abs().amax((0, 2, 3))
    worst = ((means - means[0]).abs().amax(0) / sizes).max().item()
    along = [float(j) for j in range(SIDE)]
    one_pixel = features[:SIDE, -1, SIDE // 2, SIDE // 2]
    return Verdict(
        predicted=f"relative change ≤ {BOUND:g}",
        measured=worst,
        bound=BOUND,
        holds=worst <= BOUND,
        picture=Picture(
            title="A digit moves: one feature pixel sees it, their mean does not",
            x_label="shift of the digit, in pixels",
            y_label="answer of the last layer",
            curves={"invariant": ([0.0, SIDE - 1.0], [means[0, -1].item()] * 2)},
            points={
                "mean over all pixels": (along, means[:SIDE, -1].tolist()),
                "the pixel in the middle": (along, one_pixel.tolist()),
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
