"""Claim: a max pool passes gradients to its largest pixels, an average pool to all (J 4.2).

    y_ij = max_{ab} x_{is+a, js+b}       ⇒   ∂ℓ/∂x_k = Σ_{ij: k largest in its window} ∂ℓ/∂y_ij
    y_ij = mean_{ab} x_{is+a, js+b}      ⇒   ∂ℓ/∂x_k = Σ_{ij: k in its window} ∂ℓ/∂y_ij / r²

The notes leave the gradients open. Each pool conserves them: Σ_k ∂ℓ/∂x_k = Σ_ij ∂ℓ/∂y_ij, if every
window lies inside the image.
Measured: the largest difference from autograd, over random images, windows of 2 and 3 pixels,
strides 1 to 3, with and without padding, relative to the largest entry of each gradient.
Bound: 1e-14. A pixel adds up to nine gradients in double precision, each with a relative error of
1.1e-16, in another order. J's own pool has stride 1 and does not make the image smaller.
LeCun et al. (1998).
"""

from collections.abc import Callable
from itertools import product
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.nn.windows import average_pool_gradient, max_pool_gradient

BOUND = 1e-14
SIDE = 12
SIZES, STRIDES, PADDINGS = (2, 3), (1, 2, 3), (0, 1)
SHOWN = 40  # pixels in the picture
Gradient = Callable[..., Tensor]
Kind = tuple[Callable[..., Tensor], Gradient]


def check(images: int = 8, seed: int = 0) -> Verdict:
    """Gradients by hand.

    Args:
        images: Random images for each window, stride and padding.
    """
    return verdict(images, seed, max_pool_gradient, average_pool_gradient)


def broken() -> Verdict:
    """The gradient of the average for both."""
    return verdict(2, 0, average_pool_gradient, average_pool_gradient)


def near() -> Near:
    """The averages' share off by 10 %, and only one of the windows of a pixel."""

    def scaled(factor: float) -> Verdict:
        def average(*given: Any) -> Tensor:
            return factor * average_pool_gradient(*given)

        return verdict(2, 0, max_pool_gradient, average)

    def last_window(x: Tensor, g: Tensor, size: int, stride: int, padding: int) -> Tensor:
        largest = max_pool_gradient(x, torch.ones_like(g), size, stride, padding).clamp_min(1)
        return max_pool_gradient(x, g, size, stride, padding) / largest

    return ten_percent("1 / r²", scaled) | {
        "the mean over windows, not the sum": lambda: verdict(
            2, 0, last_window, average_pool_gradient
        )
    }


def verdict(images: int, seed: int, of_max: Gradient, of_average: Gradient) -> Verdict:
    """By hand and by autograd."""
    generator = torch.Generator().manual_seed(seed)
    kinds: list[Kind] = [(F.max_pool2d, of_max), (F.avg_pool2d, of_average)]
    cases = list(product(kinds, SIZES, STRIDES, PADDINGS))
    gaps = [
        gap(pool, gradient, (size, stride, padding), images, generator)
        for (pool, gradient), size, stride, padding in cases
    ]
    x = torch.randn(1, 1, 3, SHOWN, dtype=torch.float64, generator=generator)
    by_hand = [found(gradient, pool, x) for pool, gradient in kinds]
    places = [float(k) for k in range(SHOWN)]
    names = ("max pool", "average pool")
    return Verdict(
        quantity="largest relative difference from autograd",
        measured=max(gaps),
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="A max pool passes gradients to few pixels, an average pool to all",
            x_label="pixel of a row",
            y_label="∂ℓ/∂x for ℓ = Σ y, windows of 3×3, stride 1",
            curves={n: (places, a.tolist()) for n, (_, a) in zip(names, by_hand, strict=True)},
            points={n: (places, h.tolist()) for n, (h, _) in zip(names, by_hand, strict=True)},
        ),
        details={"pools": float(len(cases))},
    )


def gap(
    pool: Callable[..., Tensor],
    gradient: Gradient,
    settings: tuple[int, int, int],
    images: int,
    generator: torch.Generator,
) -> float:
    """Largest difference, relative to the largest entry."""
    x = torch.randn(images, 2, SIDE, SIDE, dtype=torch.float64, generator=generator)
    y = pool(x.requires_grad_(), *settings)
    g = torch.randn(y.shape, dtype=torch.float64, generator=generator)
    (automatic,) = torch.autograd.grad(y, x, g)
    by_hand = gradient(x.detach(), g, *settings)
    return ((by_hand - automatic).abs().max() / automatic.abs().max()).item()


def found(gradient: Gradient, pool: Callable[..., Tensor], x: Tensor) -> tuple[Tensor, Tensor]:
    """(by hand, by autograd) of the middle row, for ℓ = Σ y."""
    y = pool(x.clone().requires_grad_(), 3, 1, 0)
    leaf = x.clone().requires_grad_()
    (automatic,) = torch.autograd.grad(pool(leaf, 3, 1, 0).sum(), leaf)
    return gradient(x, torch.ones_like(y), 3, 1, 0)[0, 0, 1], automatic[0, 0, 1]
