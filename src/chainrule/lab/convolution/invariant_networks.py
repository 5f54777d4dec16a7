"""Claim: equivariant layers followed by an invariant one make an invariant network (J 4.2).

    g_j(Sx) = S g_j(x),  f(Sx) = f(x)   ⇒   (f ∘ g_J ∘ … ∘ g_1)(Sx) = (f ∘ g_J ∘ … ∘ g_1)(x)

Measured: a digit on a torus of 12×12 pixels is moved to all 144 positions; the largest change of
the mean and of the maximum over all pixels of 1 … `num_layers` circular correlations with random
kernels, each followed by an activation, relative to the layer's largest pixel.
Bound: 1e-12; the same sums in double precision are taken in different orders. A single pixel must
change by more than a tenth of the largest, so that there is something to be invariant to.
L "Translation invariance and pooling operations". Fukushima (1980).
"""

import torch
from torch import Tensor

from chainrule.data.datasets.digits import load
from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.nn.activations import leaky_relu, tanh
from chainrule.nn.convolution import correlation

BOUND, SOMETHING = 1e-12, 0.1
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
    """A mean over almost all pixels, and layers that are almost equivariant."""
    return {
        "one row left out of the mean": lambda: verdict(2, 0, mode="circular", left_out=1),
        "a bias that grows by 1 % across": lambda: verdict(2, 0, mode="circular", tilt=0.01),
        "only every second pixel (stride 2)": lambda: verdict(2, 0, mode="circular", stride=2),
    }


def verdict(
    depth: int, seed: int, mode: str, left_out: int = 0, tilt: float = 0.0, stride: int = 1
) -> Verdict:
    """One digit at all positions."""
    generator = torch.Generator().manual_seed(seed)
    images = load().train.x[:, 0].double()
    digit = images[int(torch.randint(len(images), (), generator=generator))]
    canvas = torch.zeros(SIDE, SIDE, dtype=torch.float64)
    canvas[:8, :8] = digit
    kernels = torch.randn(depth, KERNEL, KERNEL, dtype=torch.float64, generator=generator) / KERNEL
    shifts = [(i, j) for i in range(SIDE) for j in range(SIDE)]
    features = torch.stack([layers(canvas.roll(s, (0, 1)), kernels, mode, tilt) for s in shifts])
    seen = features[:, :, left_out::stride, ::stride]
    means, sizes = seen.mean((2, 3)), features.abs().amax((0, 2, 3))
    pooled = torch.stack([means, seen.amax((2, 3))])
    worst = ((pooled - pooled[:, :1]).abs().amax((0, 1)) / sizes).max().item()
    along = [float(j) for j in range(SIDE)]
    one_pixel = features[:SIDE, -1, SIDE // 2, SIDE // 2]
    moved = features[:, :, 0, 0]
    change = ((moved.amax(0) - moved.amin(0)) / sizes).min().item()
    return Verdict(
        quantity="largest relative change of mean and maximum",
        measured=worst,
        relation="≤",
        bound=BOUND,
        conditions={"a single pixel changes": change > SOMETHING},
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
        details={"smallest change of a single pixel": change},
    )


def layers(x: Tensor, kernels: Tensor, mode: str, tilt: float) -> Tensor:
    """(depth, side, side): the features of every layer, with a bias of up to `tilt` if any."""
    features, bias = [], torch.linspace(0, tilt, SIDE, dtype=x.dtype)
    for number, w in enumerate(kernels):
        x = (leaky_relu, tanh)[number % 2](correlation(x, w, mode) + bias)
        features.append(x)
    return torch.stack(features)
