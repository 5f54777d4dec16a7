"""A picture under a kernel of the page's own."""

from dataclasses import dataclass
from typing import Annotated, Literal

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from chainrule.data.datasets import digits
from chainrule.errors import InputError
from chainrule.studio.activity import Activity, Json, Range, View, raster, read, rounded
from chainrule.studio.pixels import PHOTOGRAPHS, photograph, pixels

WIDTH = 192  # of a photograph
OUTLIERS = 0.99  # share of a signed output within its colors; padding makes strong borders
Weight = Annotated[float, Range(-100, 100)]


@dataclass(frozen=True)
class Settings:
    """Picture, kernel, and how the kernel moves.

    Args:
        image: a photograph, a digit, or the page's own picture.
        pixels: of the own picture, as base64.
        height: of the own picture.
        width: of the own picture.
        kernel: 9 or 25 weights, row by row.
        stride: pixels from one place of the kernel to the next.
        padding: zeros around the picture.
        dilation: pixels between neighboring weights, plus one.
        row: of the output whose products are shown.
        column: of the same.
    """

    image: Literal["china", "flower", "digit", "own"] = "china"
    pixels: Annotated[str, Range(0, 60_000)] = ""
    height: Annotated[int, Range(1, 200)] = 1
    width: Annotated[int, Range(1, 200)] = 1
    kernel: Annotated[tuple[Weight, ...], Range(9, 25)] = (
        0.0,
        0.0,
        0.0,
        0.0,
        1.0,
        0.0,
        0.0,
        0.0,
        0.0,
    )
    stride: Annotated[int, Range(1, 4)] = 1
    padding: Annotated[int, Range(0, 8)] = 0
    dilation: Annotated[int, Range(1, 4)] = 1
    row: Annotated[int, Range(0, 400)] = 0
    column: Annotated[int, Range(0, 400)] = 0


def run(settings: Json) -> Activity:
    """Every message is a change of some settings."""
    known = dict(settings)
    while True:
        chosen = read(Settings, known)
        shown = convolved(chosen)
        message = yield View(lambda shown=shown: shown, waiting=True)  # type: ignore[misc]
        known |= message or {}


def convolved(chosen: Settings) -> Json:
    """The picture, the output on its own scale, and the products of one output pixel."""
    x, w = picture(chosen), kernel(chosen.kernel)
    reach = chosen.dilation * (len(w) - 1) + 1
    if min(x.shape) + 2 * chosen.padding < reach:
        raise InputError(
            f"a kernel that reaches over {reach} pixels does not fit into a picture of "
            f"{x.shape[0]} × {x.shape[1]} with a `padding` of {chosen.padding}"
        )
    y = F.conv2d(x[None, None], w[None, None], None, chosen.stride, chosen.padding, chosen.dilation)
    y = y[0, 0]
    low, high = y.min().item(), y.max().item()
    signed = low < -0.05
    bound = y.abs().quantile(OUTLIERS).item() or 1.0
    shown = raster(y, -bound, bound) if signed else raster(y, 0.0, max(1.0, high))
    return {
        "input": raster(x, 0.0, 1.0),
        "output": shown,
        "signed": signed,
        "range": rounded([low, high], 3),
        "pixel": products(x, w, y, chosen),
    }


def products(x: Tensor, w: Tensor, y: Tensor, chosen: Settings) -> Json:
    """What is under the kernel at one output pixel, its products with the weights, their sum."""
    row, column = min(chosen.row, y.shape[0] - 1), min(chosen.column, y.shape[1] - 1)
    padded = F.pad(x, [chosen.padding] * 4)
    reach = torch.arange(len(w)) * chosen.dilation
    rows, columns = chosen.stride * row + reach, chosen.stride * column + reach
    under = padded[rows[:, None], columns]
    return {
        "row": row,
        "column": column,
        "top": int(rows[0]) - chosen.padding,
        "left": int(columns[0]) - chosen.padding,
        "under": rounded(under, 3),
        "products": rounded(under * w, 3),
        "sum": rounded(y[row, column], 4),
    }


def picture(chosen: Settings) -> Float[Tensor, "height width"]:
    """In [0, 1]."""
    if chosen.image in PHOTOGRAPHS:
        return torch.from_numpy(photograph(chosen.image, WIDTH)) / 255
    if chosen.image == "own":
        return torch.from_numpy(pixels(chosen.pixels, chosen.height, chosen.width).copy()) / 255
    return digits.load().test.x[0, 0]


def kernel(weights: tuple[float, ...]) -> Float[Tensor, "side side"]:
    side = round(len(weights) ** 0.5)
    if side**2 != len(weights) or side % 2 == 0:
        raise InputError(f"`kernel` must have 9 or 25 weights, got {len(weights)}")
    return torch.tensor(weights, dtype=torch.float32).view(side, side)
