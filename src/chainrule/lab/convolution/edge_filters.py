"""Claim: on quadratic images Sobel's filter is the derivative, on cubic ones Laplace's (A 2.1).

    1/8 (1, 2, 1)ᵀ (-1, 0, 1) ⋆ p  =  ∂p/∂x        for polynomials p(x, y) of degree ≤ 2
    p(x ± e₁) + p(x ± e₂) - 4 p(x)  =  Δp           for polynomials of degree ≤ 3

The first cells of vision see edges, and these are the classic filters that do. The cubics x³ and
x y² are the first that Sobel gets wrong, by 1 and ½ everywhere, and x⁴ the first for Δ, by 2.
Measured: the largest difference over random polynomials with integer coefficients, away from the
border of the image.
Bound: exactly 0; products and sums of integers and eighths, which double precision adds without
rounding.
Sobel and Feldman (1968); Marr and Hildreth (1980), Proc. R. Soc. B 207.
"""

from functools import partial

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.nn.filters import filtered, laplacian, sobel

HALF = 6  # pixels from the middle of the image to its border
SOBEL_DEGREE, LAPLACIAN_DEGREE = 2, 3


def check(images: int = 20, seed: int = 0) -> Verdict:
    """Quadratics and cubics.

    Args:
        images: Random polynomials for each filter.
    """
    return verdict(images, seed)


def broken() -> Verdict:
    """Polynomials of one degree more."""
    return verdict(10, 0, more=1)


def near() -> Near:
    """Filters with one wrong weight, and the third power with a small coefficient."""
    return {
        **ten_percent("one weight", lambda factor: verdict(5, 0, weight=factor)),
        "0.001 of a degree more": partial(verdict, 5, 0, more=1, share=1e-3),
        "1e-9 of a degree more": partial(verdict, 5, 0, more=1, share=1e-9),
    }


def verdict(
    images: int, seed: int, more: int = 0, share: float = 1.0, weight: float = 1.0
) -> Verdict:
    """Filtered polynomials against their derivatives; `share` scales terms above the degree."""
    generator = torch.Generator().manual_seed(seed)
    steep, curved = sobel(), laplacian()[None]
    steep[:, 0, 0] *= weight
    curved[0, 0, 1] *= weight
    wrong = {
        "Sobel": [
            worst(polynomial(SOBEL_DEGREE, more, share, generator), steep) for _ in range(images)
        ],
        "Laplacian": [
            worst(polynomial(LAPLACIAN_DEGREE, more, share, generator), curved)
            for _ in range(images)
        ],
    }
    return Verdict(
        quantity="largest |filtered image - derivative|",
        measured=max(map(max, wrong.values())),
        relation="=",
        bound=0.0,
        picture=picture(steep),
        details={f"{name}, largest": max(values) for name, values in wrong.items()},
    )


def picture(steep: Tensor) -> Picture:
    """Sobel's slope of a quadratic and of a cubic along a line of the image."""
    x = grid()[1][0, 3:-3]
    quadratic, cubic = torch.zeros(2, 5, 5, dtype=torch.float64)
    quadratic[0, 2], cubic[0, 3] = 3.0, 1.0
    return Picture(
        title="Sobel's filter: exact on quadratic images, too steep by 1 on x³",
        x_label="x",
        y_label="∂p/∂x",
        curves={
            name: (x.tolist(), value(c, (0, 1))[HALF, 3:-3].tolist())
            for name, c in (("3x²", quadratic), ("x³", cubic))
        },
        points={
            name: (x.tolist(), inner(c, steep)[1, HALF - 1, 2:-2].tolist())
            for name, c in (("3x²", quadratic), ("x³", cubic))
        },
    )


def polynomial(degree: int, more: int, share: float, generator: torch.Generator) -> Tensor:
    """c[i, j] of Σ c[i, j] yⁱ xʲ: integers up to the degree, `share` of that for `more` degrees."""
    c = torch.randint(1, 10, (5, 5), generator=generator).double()
    power = torch.arange(5)[:, None] + torch.arange(5)
    return c * (power <= degree) + share * c * ((degree < power) & (power <= degree + more))


def worst(c: Tensor, kernels: Tensor) -> float:
    """Largest difference between filters and derivatives: ∂y and ∂x, or their squares' sum."""
    truth = [value(c, order) for order in ((1, 0), (0, 1))]
    if len(kernels) == 1:
        truth = [value(c, (2, 0)) + value(c, (0, 2))]
    exact = torch.stack(truth)[:, 1:-1, 1:-1]
    return (inner(c, kernels) - exact).abs().max().item()


def inner(c: Tensor, kernels: Tensor) -> Tensor:
    """The filtered image without its border."""
    return filtered(value(c, (0, 0))[None, None], kernels)[0, :, 1:-1, 1:-1]


def value(c: Tensor, order: tuple[int, int]) -> Tensor:
    """The polynomial, differentiated so many times by y and by x, at every pixel."""
    y, x = grid()
    for axis, times in enumerate(order):
        for _ in range(times):
            powers = torch.arange(5).double()
            c = (c * (powers[:, None] if axis == 0 else powers)).roll(-1, axis)
    return sum(c[i, j] * y**i * x**j for i in range(5) for j in range(5))  # type: ignore[return-value]


def grid() -> tuple[Tensor, Tensor]:
    """y and x of every pixel."""
    side = torch.arange(-HALF, HALF + 1).double()
    y, x = torch.meshgrid(side, side, indexing="ij")
    return y, x
