"""Claim: a center-surround cell sees no uniform light, and a row of them sees a line (A 2.1).

    DoG = g_σ - g_{kσ}         DoG ⋆ cos(ω·x) = T(ω) cos(ω·x)
    T(ω) = e^{-σ²|ω|²/2} - e^{-k²σ²|ω|²/2},  T(0) = 0,  largest at |ω|² = 4 ln k / (σ² (k² - 1))
    row of n cells             T(ω) sin(nω₁/2) / (n sin(ω₁/2)): stripes along the row, ω₁ ≈ 0
    ‖DoG + (k - 1) σ² Δg_σ‖ / ‖(k - 1) σ² Δg_σ‖ → √7/2 (k - 1)      for k → 1: the Laplacian of g

Measured: for random widths, ratios, odd lengths of the row and gratings of random direction, the
largest |response - prediction|, where the brightest grating has the response 1 at most.
Bound: 1e-10. The kernels are sampled: the aliases of a frequency below 1.3 per pixel are damped by
e^{-σ²(2π - 1.3)²/2} < 1e-12 for σ ≥ 1.5, and what 61 pixels cut off is smaller.
The √7/2 is measured at k = 1.001, within 1 %: the next order of the expansion is below that.
Rodieck (1965), Vision Research 5; Hubel and Wiesel (1962); Marr and Hildreth (1980).
"""

import math
from functools import partial

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.nn.filters import (
    center_surround,
    gaussian,
    laplacian_of_gaussian,
    row_of_cells,
)

ALIASES = 1e-10
SIZE, HIGHEST = 61, 1.3  # pixels, radians per pixel
CLOSE = 1.001  # k for the limit


def check(gratings: int = 100, seed: int = 0) -> Verdict:
    """Cells whose center and surround cancel.

    Args:
        gratings: Random cells and gratings.
    """
    return verdict(gratings, seed)


def broken() -> Verdict:
    """A center without a surround."""
    return verdict(20, 0, surround=0.0)


def near() -> Near:
    """Another width, ratio, length or limit, and a surround that does not quite cancel."""
    few = partial(verdict, 20, 0)
    return {
        **ten_percent("σ", lambda factor: few(sigma=factor)),
        **ten_percent("k", lambda factor: few(ratio=factor)),
        **ten_percent("√7/2", lambda factor: few(limit=factor)),
        "two cells more": partial(few, more=2),
        "surround × 0.999999": partial(few, surround=0.999999),
    }


def verdict(
    gratings: int,
    seed: int,
    *,
    sigma: float = 1.0,
    ratio: float = 1.0,
    limit: float = 1.0,
    more: int = 0,
    surround: float = 1.0,
) -> Verdict:
    """Responses of rows of cells; the factors change the prediction, `surround` the cell."""
    generator = torch.Generator().manual_seed(seed)
    draw = torch.rand(gratings, 5, generator=generator, dtype=torch.float64).tolist()
    wrong = []
    for width, wide, long, speed, angle in draw:
        s, k, n = 1.5 + width / 2, 1.2 + 0.8 * wide, 1 + 2 * int(5 * long)
        turn = torch.tensor(2 * math.pi * angle, dtype=torch.float64)
        w = HIGHEST * speed * torch.stack([turn.sin(), turn.cos()])
        kernel = row_of_cells(cell(s, k, surround), n)
        predicted = transfer(sigma * s, ratio * k, w.norm().item()) * dirichlet(
            w[1].item(), n + more
        )
        wrong.append(abs(response(kernel, w) - predicted))
    slope = distance_from_laplacian(2.0, CLOSE) / (CLOSE - 1)
    return Verdict(
        quantity="largest |response - prediction|",
        measured=max(wrong),
        relation="≤",
        bound=ALIASES,
        conditions={
            "DoG → LoG at the rate √7/2": abs(slope / (limit * math.sqrt(7) / 2) - 1) < 0.01
        },
        picture=picture(surround),
        details={"distance from the Laplacian / (k - 1)": slope, "√7/2": math.sqrt(7) / 2},
    )


def picture(surround: float) -> Picture:
    """Tuning curves of three cells."""
    ratios, sigma = (1.2, 1.6, 3.0), 1.5
    fine = torch.linspace(0, HIGHEST, 100).tolist()
    some = torch.linspace(0, HIGHEST, 14, dtype=torch.float64).tolist()
    across = torch.tensor([1.0, 0.0], dtype=torch.float64)
    return Picture(
        title="Center-surround cells answer to stripes of their own width, never to uniform light",
        x_label="spatial frequency |ω|, radians per pixel",
        y_label="response of the cell to a grating",
        curves={f"k = {k}": (fine, [transfer(sigma, k, w) for w in fine]) for k in ratios},
        points={
            f"k = {k}": (some, [response(cell(sigma, k, surround), w * across) for w in some])
            for k in ratios
        },
    )


def cell(sigma: float, ratio: float, surround: float) -> Tensor:
    """g_σ - surround · g_{kσ}."""
    return center_surround(SIZE, sigma, ratio) + (1 - surround) * gaussian(SIZE, ratio * sigma)


def response(kernel: Tensor, w: Tensor) -> float:
    """The kernel on the grating cos(ω·x), where the grating is brightest."""
    rows, columns = kernel.shape
    y = torch.arange(rows, dtype=torch.float64)[:, None] - rows // 2
    x = torch.arange(columns, dtype=torch.float64) - columns // 2
    return float((kernel * torch.cos(w[0] * y + w[1] * x)).sum())


def transfer(sigma: float, ratio: float, w: float) -> float:
    """T(ω) = e^{-σ²ω²/2} - e^{-k²σ²ω²/2}."""
    u = sigma**2 * w**2 / 2
    return math.exp(-u) - math.exp(-(ratio**2) * u)


def dirichlet(w: float, n: int) -> float:
    """sin(nω/2) / (n sin(ω/2)), 1 at ω = 0."""
    below = n * math.sin(w / 2)
    return math.sin(n * w / 2) / below if abs(below) > 1e-12 else 1.0


def distance_from_laplacian(sigma: float, ratio: float) -> float:
    """‖DoG + (k - 1) σ² Δg_σ‖ / ‖(k - 1) σ² Δg_σ‖."""
    log = (ratio - 1) * sigma**2 * laplacian_of_gaussian(SIZE, sigma)
    return ((center_surround(SIZE, sigma, ratio) + log).norm() / log.norm()).item()
