"""Integral operators against integrals known by hand."""

import math

import pytest
import torch

from chainrule.errors import InputError
from chainrule.nn.integral_operator import (
    continuous_convolution,
    fourier_transform,
    integral_operator,
)

t = torch.linspace(0, 1, 1001, dtype=torch.float64)


def test_the_operator_integrates_its_kernel_times_f() -> None:
    u = torch.tensor([0.0, 1.0, 2.0], dtype=torch.float64)
    found = integral_operator(lambda u, t: u + t, lambda t: t, u, t)  # ∫ (u + t) t dt = u/2 + 1/3
    torch.testing.assert_close(found, u / 2 + 1 / 3, rtol=0, atol=1e-6)


def test_the_transform_of_a_box_is_a_sinc() -> None:
    u = torch.tensor([0.5, 1.5], dtype=torch.float64)
    found = fourier_transform(torch.ones_like, u, t)
    expected = torch.exp(-1j * math.pi * u) * torch.sinc(u)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)


def test_a_convolution_flips_its_kernel() -> None:
    """∫₀¹ (u - t) t dt = u/2 - 1/3."""
    u = torch.tensor([0.0, 3.0], dtype=torch.float64)
    found = continuous_convolution(lambda t: t, lambda s: s, u, t)
    torch.testing.assert_close(found, u / 2 - 1 / 3, rtol=0, atol=1e-6)


def test_one_point_is_no_range() -> None:
    with pytest.raises(InputError, match="`t` must have at least 2 points, got 1"):
        fourier_transform(torch.ones_like, t, t[:1])
