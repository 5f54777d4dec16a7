"""Convolutional layers and pooling written out: both act on windows of an image.

    x_{ij} = (x[c, i s + a, j s + b])_{c, a, b}      the window at (i, j), for stride s
    layer     y_{lij} = Σ_{cab} W_{lcab} x_{ij,cab} + b_l = W x_{ij} + b
    max       y_{cij} = max_{ab} x_{ij,cab}
    average   y_{cij} = mean_{ab} x_{ij,cab}
    global    y_c     = max or mean over the whole image

So a layer is one matrix product with all windows as rows ("im2col"), and its gradients are two
more. The windows of a pool are disjoint if the stride equals their size. Backward, g =
∂ℓ/∂y goes to the largest pixel of a window, or in equal parts to all; where windows overlap, their
shares are summed.

Written for reading and checking; models use torch's kernels. Notes: J 4.2 (which leaves the
gradients open, and whose pooling has stride 1 and so does not downsample), A 2.1.2, L "CNN core
concepts", L "Pooling" (whose window ends at (k+1)p - 1, not (k+1)p).
"""

import math
from itertools import product

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from chainrule.arguments import checked
from chainrule.errors import InputError

Images = Float[Tensor, "batch channels height width"]
Padded = Float[Tensor, "batch channels padded_height padded_width"]
Pooled = Float[Tensor, "batch channels rows columns"]
Windows = Float[Tensor, "batch channels rows columns kernel_height kernel_width"]


@checked
def windows(x: Images, kernel: tuple[int, int], stride: int = 1) -> Windows:
    """x[c, i s + a, j s + b] at [c, i, j, a, b], as a view."""
    if stride < 1 or min(kernel) < 1 or kernel[0] > x.shape[2] or kernel[1] > x.shape[3]:
        raise InputError(
            f"windows must fit into the image and stride be at least 1, got windows of "
            f"{kernel[0]}×{kernel[1]}, stride {stride} and images of {x.shape[2]}×{x.shape[3]}"
        )
    return x.unfold(2, kernel[0], stride).unfold(3, kernel[1], stride)


@checked
def pad(x: Images, padding: int, value: float = 0.0) -> Padded:
    """The image with `padding` pixels of a value on each side."""
    return F.pad(x, (padding,) * 4, value=value)


@checked
def conv2d(
    x: Float[Tensor, "batch channels height width"],
    W: Float[Tensor, "filters channels kernel_height kernel_width"],
    b: Float[Tensor, " filters"] | None = None,
    stride: int = 1,
    padding: int = 0,
) -> Float[Tensor, "batch filters rows columns"]:
    """y = W x_{ij} + b for every window."""
    views = windows(pad(x, padding), (W.shape[2], W.shape[3]), stride)
    rows = views.movedim(1, 3).flatten(3)  # batch, i, j, (c a b)
    y = rows @ W.flatten(1).T
    return (y if b is None else y + b).movedim(3, 1)


@checked
def conv2d_gradients(
    x: Float[Tensor, "batch channels height width"],
    W: Float[Tensor, "filters channels kernel_height kernel_width"],
    gradient: Float[Tensor, "batch filters rows columns"],
    stride: int = 1,
    padding: int = 0,
) -> tuple[
    Float[Tensor, "batch channels height width"],
    Float[Tensor, "filters channels kernel_height kernel_width"],
    Float[Tensor, " filters"],
]:
    """∂ℓ/∂x_{ij} += Wᵀ g_{ij},  ∂ℓ/∂W = Σ g_{ij} x_{ij}ᵀ,  ∂ℓ/∂b = Σ g_{ij}, given g = ∂ℓ/∂y.

    Windows overlap, so the gradients of all windows of a pixel are summed.
    """
    padded = pad(x, padding)
    height, width = W.shape[2:]
    by_filters = torch.einsum(
        "nlij,ncijab->lcab", gradient, windows(padded, (height, width), stride)
    )
    by_windows = torch.einsum("nlij,lcab->ncijab", gradient, W)
    by_padded = torch.zeros_like(padded)
    for a, b in product(range(height), range(width)):
        by_padded[windows_at(a, b, gradient, stride)] += by_windows[..., a, b]
    inner = slice(padding, padding + x.shape[2]), slice(padding, padding + x.shape[3])
    return by_padded[:, :, *inner], by_filters, gradient.sum((0, 2, 3))


@checked
def windows_at(a: int, b: int, outputs: Tensor, stride: int) -> tuple[slice, ...]:
    """The pixels (i s + a, j s + b) for all outputs (i, j)."""
    rows, columns = outputs.shape[2:]
    every = slice(None)
    return (
        every,
        every,
        slice(a, a + rows * stride, stride),
        slice(b, b + columns * stride, stride),
    )


@checked
def max_pool(x: Images, size: int, stride: int | None = None, padding: int = 0) -> Pooled:
    """max_{ab} x_{ij,cab}; the default stride is the size, and padding is -∞."""
    if 2 * padding > size:
        raise InputError(
            f"padding must be at most half the window, got {padding} for {size}; some windows "
            "would contain nothing else"
        )
    views = windows(pad(x, padding, -torch.inf), (size, size), size if stride is None else stride)
    return views.amax((4, 5))


@checked
def average_pool(x: Images, size: int, stride: int | None = None, padding: int = 0) -> Pooled:
    """mean_{ab} x_{ij,cab}; the default stride is the size, and padding is 0."""
    return windows(pad(x, padding), (size, size), size if stride is None else stride).mean((4, 5))


@checked
def max_pool_gradient(
    x: Images, gradient: Pooled, size: int, stride: int | None = None, padding: int = 0
) -> Images:
    """∂ℓ/∂x_{ij,cab} += g_{cij} [(a, b) = argmax x_{ij,c}], given g = ∂ℓ/∂y.

    Only the largest pixel of a window gets its gradient; of equal ones the first, as in torch.
    """
    stride = size if stride is None else stride
    padded = pad(x, padding, -torch.inf)
    views = windows(padded, (size, size), stride)
    largest = F.one_hot(views.flatten(4).argmax(-1), size**2).to(x.dtype)
    return by_pixels(gradient[..., None] * largest, padded, stride, padding)


@checked
def average_pool_gradient(
    x: Images, gradient: Pooled, size: int, stride: int | None = None, padding: int = 0
) -> Images:
    """∂ℓ/∂x_{ij,cab} += g_{cij} / r² for windows of r×r pixels, given g = ∂ℓ/∂y."""
    stride = size if stride is None else stride
    each = (gradient / size**2)[..., None].expand(*gradient.shape, size**2)
    return by_pixels(each, pad(x, padding), stride, padding)


def by_pixels(by_windows: Tensor, padded: Tensor, stride: int, padding: int) -> Tensor:
    """Gradients of r×r windows, (…, rows, columns, r²), summed over all windows of a pixel."""
    size, found = math.isqrt(by_windows.shape[-1]), torch.zeros_like(padded)
    for place, (a, b) in enumerate(product(range(size), repeat=2)):
        found[windows_at(a, b, by_windows[..., 0], stride)] += by_windows[..., place]
    height, width = (side - 2 * padding for side in padded.shape[2:])
    return found[:, :, padding : padding + height, padding : padding + width]


@checked
def global_max_pool(x: Images) -> Float[Tensor, "batch channels"]:
    """max_{ij} x_{cij}: invariant under shifts that keep the maximum inside."""
    return x.amax((2, 3))


@checked
def global_average_pool(x: Images) -> Float[Tensor, "batch channels"]:
    """mean_{ij} x_{cij}: invariant under circular shifts."""
    return x.mean((2, 3))
