"""Layers and pools from windows, against torch's kernels, autograd and by hand."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from chainrule.errors import InputError
from chainrule.nn.convolution import correlation
from chainrule.nn.windows import (
    average_pool,
    average_pool_gradient,
    conv2d,
    conv2d_gradients,
    global_average_pool,
    global_max_pool,
    max_pool,
    max_pool_gradient,
    windows,
)

strides = st.integers(1, 3)
paddings = st.integers(0, 2)


@st.composite
def layers(draw: st.DrawFn) -> tuple[Tensor, Tensor, Tensor]:
    """Images, filters that fit into them, and biases."""
    channels, filters = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    kernel = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    size = draw(st.integers(3, 7)), draw(st.integers(3, 7))
    torch.manual_seed(draw(st.integers(0, 10**6)))
    x, W = torch.randn(2, channels, *size), torch.randn(filters, channels, *kernel)
    return x.double(), W.double(), torch.randn(filters).double()


@settings(max_examples=40, deadline=None)
@given(layers(), strides, paddings)
def test_a_layer_is_torchs(case: tuple[Tensor, Tensor, Tensor], stride: int, padding: int) -> None:
    x, W, b = case
    torch.testing.assert_close(conv2d(x, W, b, stride, padding), F.conv2d(x, W, b, stride, padding))
    torch.testing.assert_close(conv2d(x, W, None, stride), F.conv2d(x, W, None, stride))


@settings(max_examples=40, deadline=None)
@given(layers(), strides, paddings)
def test_the_written_out_gradients_are_autograds(
    case: tuple[Tensor, Tensor, Tensor], stride: int, padding: int
) -> None:
    x, W, b = (t.requires_grad_() for t in case)
    y = F.conv2d(x, W, b, stride, padding)
    g = torch.randn_like(y)
    ours = conv2d_gradients(x.detach(), W.detach(), g, stride, padding)
    for mine, theirs in zip(ours, torch.autograd.grad(y, (x, W, b), g), strict=True):
        torch.testing.assert_close(mine, theirs)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 3), strides, st.integers(0, 1), st.integers(0, 10**6))
def test_the_written_out_gradients_of_pools_are_autograds(
    size: int, stride: int, padding: int, seed: int
) -> None:
    """Whole numbers, so that many windows have several largest pixels."""
    torch.manual_seed(seed)
    x, padding = (
        torch.randint(0, 3, (2, 2, 6, 7)).double().requires_grad_(),
        min(padding, size // 2),
    )
    pairs = ((F.max_pool2d, max_pool_gradient), (F.avg_pool2d, average_pool_gradient))
    for pool, gradient in pairs:
        y = pool(x, size, stride, padding)
        g = torch.randn_like(y)
        (expected,) = torch.autograd.grad(y, x, g)
        torch.testing.assert_close(gradient(x.detach(), g, size, stride, padding), expected)


def test_a_layer_of_one_channel_is_a_cross_correlation() -> None:
    x, W = torch.randn(5, 6).double(), torch.randn(3, 2).double()
    y = conv2d(x[None, None], W[None, None])
    torch.testing.assert_close(y[0, 0], correlation(x, W, "valid"))


def test_the_convolved_image_of_the_notes() -> None:
    """L's 4×3 image and 2×2 filter, letters for numbers: the image has the first twelve primes."""
    a, b, c, d, e, f, g, h, i, j, k, l = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37]  # noqa: E741
    p, q, r, s = 1, 10, 100, 1000
    image = torch.tensor([[a, b, c], [d, e, f], [g, h, i], [j, k, l]]).float()
    expected = [
        [a * p + b * q + d * r + e * s, b * p + c * q + e * r + f * s],
        [d * p + e * q + g * r + h * s, e * p + f * q + h * r + i * s],
        [g * p + h * q + j * r + k * s, h * p + i * q + k * r + l * s],
    ]
    W = torch.tensor([[p, q], [r, s]]).float()
    assert conv2d(image[None, None], W[None, None])[0, 0].tolist() == expected


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 3), st.none() | strides, st.integers(0, 1), st.integers(0, 10**6))
def test_pools_are_torchs(size: int, stride: int | None, padding: int, seed: int) -> None:
    torch.manual_seed(seed)
    x, padding = torch.randn(2, 3, 7, 6), min(padding, size // 2)
    torch.testing.assert_close(
        max_pool(x, size, stride, padding), F.max_pool2d(x, size, stride, padding)
    )
    torch.testing.assert_close(
        average_pool(x, size, stride, padding), F.avg_pool2d(x, size, stride, padding)
    )


def test_a_pool_of_stride_one_does_not_downsample() -> None:
    """J 4.2 writes one; only a larger stride divides the size."""
    x = torch.randn(1, 1, 12, 12)
    assert max_pool(x, 3, stride=1).shape == (1, 1, 10, 10)
    assert max_pool(x, 3, stride=3).shape == (1, 1, 4, 4)


def test_strided_windows_are_disjoint_and_unstrided_ones_overlap() -> None:
    x = torch.arange(16.0).reshape(1, 1, 4, 4)
    assert max_pool(x, 2).flatten().tolist() == [5, 7, 13, 15]
    assert average_pool(x, 2).flatten().tolist() == [2.5, 4.5, 10.5, 12.5]
    assert max_pool(x, 2, stride=1).flatten().tolist() == [5, 6, 7, 9, 10, 11, 13, 14, 15]
    assert windows(x, (2, 2), 2)[0, 0, 1, 0].tolist() == [[8, 9], [12, 13]]


def test_global_pools_do_not_see_circular_shifts() -> None:
    x = torch.randn(2, 3, 5, 4).double()
    moved = x.roll((2, 3), (2, 3))
    assert torch.equal(global_max_pool(x), global_max_pool(moved))
    torch.testing.assert_close(global_average_pool(x), global_average_pool(moved))
    torch.testing.assert_close(global_average_pool(x), F.adaptive_avg_pool2d(x, 1)[..., 0, 0])
    assert torch.equal(global_max_pool(x), F.adaptive_max_pool2d(x, 1)[..., 0, 0])


@pytest.mark.parametrize(("kernel", "stride"), [((5, 1), 1), ((0, 1), 1), ((2, 2), 0)])
def test_windows_that_do_not_fit_are_refused(kernel: tuple[int, int], stride: int) -> None:
    with pytest.raises(InputError, match=r"windows must fit into the image .* images of 4×4"):
        windows(torch.zeros(1, 1, 4, 4), kernel, stride)


def test_windows_that_would_see_the_frame_only_are_refused() -> None:
    with pytest.raises(InputError, match="at most half the window, got 2 for 3"):
        max_pool(torch.zeros(1, 1, 4, 4), 3, padding=2)
