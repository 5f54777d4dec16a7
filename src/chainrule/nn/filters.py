"""Hand-made filters: blur, edges, sharpening, and the center-surround cells of the retina.

    Gaussian            g_σ(x) ∝ exp(-|x|² / 2σ²),  Σ g_σ = 1            blurs
    Sobel               1/8 (1, 2, 1)ᵀ (-1, 0, 1)                         ∂f/∂x, smoothed
    Laplacian           f(x ± e₁) + f(x ± e₂) - 4 f(x)                    Δf
    sharpening          δ + a (δ - g_σ)                                   unsharp masking
    center-surround     DoG = g_σ - g_{kσ} ≈ -(k - 1) σ² Δg_σ,  Σ DoG = 0 on-center cell
    row of cells        Σ_i DoG(x - i e₁)                                 sees lines along e₁

All are kernels of cross-correlation, in double precision, with an odd number of rows and columns
and the origin in the middle; `filtered` applies them to images.

Sobel and Feldman (1968); Marr and Hildreth (1980), Proc. R. Soc. B 207; Hubel and Wiesel (1962),
J. Physiology 160. Notes: A 2.1 (center-surround cells line up to edge detectors), L "Convolution
Filters in CNNs" (stripes).
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from chainrule.arguments import Count, Finite, Positive, checked
from chainrule.errors import InputError

Kernel = Float[Tensor, "rows columns"]


@checked
def filtered(
    images: Float[Tensor, "batch 1 height width"], kernels: Float[Tensor, "filters rows columns"]
) -> Float[Tensor, "batch filters height width"]:
    """(h ⋆ f)[u] = Σ_t h[t] f[u + t]; beyond its edge an image is continued by its last pixel."""
    rows, columns = kernels.shape[1:]
    around = (columns // 2, columns // 2, rows // 2, rows // 2)
    return F.conv2d(F.pad(images, around, mode="replicate"), kernels[:, None].to(images))


@checked
def gaussian(size: Count, sigma: Positive) -> Kernel:
    """g_σ(x) ∝ exp(-|x|² / 2σ²), scaled to the sum 1."""
    line = torch.exp(-offsets(size).square() / (2 * sigma**2))
    return torch.outer(line, line) / line.sum() ** 2


def sobel() -> Float[Tensor, "2 3 3"]:
    """∂f/∂row and ∂f/∂column: a central difference across the edge, (1, 2, 1)/4 along it."""
    across = torch.tensor([-1.0, 0.0, 1.0], dtype=torch.float64) / 2
    along = torch.tensor([1.0, 2.0, 1.0], dtype=torch.float64) / 4
    return torch.stack([torch.outer(across, along), torch.outer(along, across)])


def laplacian() -> Float[Tensor, "3 3"]:
    """Δf = f(x ± e₁) + f(x ± e₂) - 4 f(x)."""
    return torch.tensor([[0.0, 1.0, 0.0], [1.0, -4.0, 1.0], [0.0, 1.0, 0.0]], dtype=torch.float64)


@checked
def sharpening(size: Count, sigma: Positive, amount: Finite = 1.0) -> Kernel:
    """δ + a (δ - g_σ): the image plus `amount` times what blurring takes away."""
    return (1 + amount) * impulse(size) - amount * gaussian(size, sigma)


@checked
def laplacian_of_gaussian(size: Count, sigma: Positive) -> Kernel:
    """Δg_σ = (|x|²/σ² - 2) g_σ / σ², shifted by a constant to the sum 0."""
    square = offsets(size).square()
    r2 = (square[:, None] + square) / sigma**2
    kernel = (r2 - 2) * gaussian(size, sigma) / sigma**2
    return kernel - kernel.mean()


@checked
def center_surround(size: Count, sigma: Positive, ratio: Positive = 1.6) -> Kernel:
    """g_σ - g_{kσ}: an on-center cell with a surround that is `ratio` times as wide."""
    if not ratio > 1:
        raise InputError(f"`ratio` must be above 1, a surround wider than the center, got {ratio}")
    return gaussian(size, sigma) - gaussian(size, ratio * sigma)


@checked
def row_of_cells(cell: Kernel, number: Count) -> Float[Tensor, "rows wider"]:
    """Σ_i cell(x - i e₁) / number: cells side by side, which together see a horizontal line."""
    moved = [F.pad(cell, (i, number - 1 - i)) for i in range(number)]
    return torch.stack(moved).mean(0)


def impulse(size: int) -> Kernel:
    """δ: 1 in the middle."""
    middle = (offsets(size) == 0).double()
    return torch.outer(middle, middle)


def offsets(size: int) -> Float[Tensor, " size"]:
    """-(size - 1)/2, …, (size - 1)/2."""
    if size % 2 == 0:
        raise InputError(f"`size` must be odd, so that a kernel has a middle, got {size}")
    return torch.arange(size, dtype=torch.float64) - size // 2
