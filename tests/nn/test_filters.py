"""Hand-made filters: against SciPy, and by their sums."""

import pytest
import torch
from scipy import ndimage

from chainrule.errors import InputError
from chainrule.nn.filters import (
    center_surround,
    filtered,
    gaussian,
    laplacian,
    laplacian_of_gaussian,
    row_of_cells,
    sharpening,
    sobel,
)

IMAGE = torch.rand(9, 11, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def applied(kernel: torch.Tensor) -> torch.Tensor:
    return filtered(IMAGE[None, None], kernel[None])[0, 0]


def near(found: torch.Tensor, expected: object) -> None:
    torch.testing.assert_close(found, torch.as_tensor(expected, dtype=found.dtype))


def test_they_agree_with_scipy() -> None:
    f = IMAGE.numpy()
    for axis, kernel in enumerate(sobel()):
        near(8 * applied(kernel), ndimage.sobel(f, axis, mode="nearest"))
    near(applied(laplacian()), ndimage.laplace(f, mode="nearest"))
    near(applied(gaussian(7, 1.2)), ndimage.gaussian_filter(f, 1.2, mode="nearest", radius=3))


def test_only_blur_and_sharpening_see_constants() -> None:
    for kernel in (*sobel(), laplacian(), laplacian_of_gaussian(9, 1.5), center_surround(9, 1.0)):
        assert kernel.sum().abs() < 1e-15
    for kernel in (gaussian(9, 1.5), sharpening(9, 1.5, 2.0)):
        near(kernel.sum(), 1.0)


def test_sharpening_undoes_a_little_blur() -> None:
    blurred = applied(gaussian(5, 0.5))
    sharper = filtered(blurred[None, None], sharpening(5, 0.5)[None])[0, 0]
    assert (sharper - IMAGE).norm() < 0.5 * (blurred - IMAGE).norm()


def test_a_row_of_cells_sees_lines_along_it() -> None:
    row = row_of_cells(center_surround(9, 1.0), 7)
    assert row.shape == (9, 15)
    along, across = torch.zeros(2, *row.shape, dtype=torch.float64)
    along[4], across[:, 7] = 1, 1
    assert (row * along).sum() > 3 * (row * across).sum() > 0


def test_a_kernel_needs_a_middle_and_a_wider_surround() -> None:
    with pytest.raises(InputError, match="`size` must be odd"):
        gaussian(4, 1.0)
    with pytest.raises(InputError, match="`ratio` must be above 1"):
        center_surround(5, 1.0, 0.5)
    with pytest.raises(InputError, match="sigma"):
        gaussian(5, 0.0)
