"""Hessian-vector products, power iteration and 1/L on quadratics whose spectrum is known."""

from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from chainrule.autodiff.curvature import (
    flattened,
    gradient_descent,
    hessian_vector,
    largest_curvature,
)
from chainrule.autodiff.forward_mode import directional_derivative
from chainrule.errors import InputError
from chainrule.learning import losses

spectra = st.lists(st.floats(-10, 10), min_size=1, max_size=6)


def matrix(spectrum: list[float], seed: int = 0) -> Tensor:
    """A symmetric matrix with these eigenvalues in random directions."""
    torch.manual_seed(seed)
    Q, _ = torch.linalg.qr(torch.randn(len(spectrum), len(spectrum), dtype=torch.float64))
    return Q @ torch.diag(torch.tensor(spectrum, dtype=torch.float64)) @ Q.T


def quadratic(spectrum: list[float]) -> tuple[object, Tensor]:
    H = matrix(spectrum)
    return lambda theta: 0.5 * theta @ H @ theta, torch.ones(len(spectrum), dtype=torch.float64)


@given(spectra, st.integers(0, 9))
def test_a_hessian_vector_product_is_that(spectrum: list[float], seed: int) -> None:
    H = matrix(spectrum, seed)
    theta, v = torch.randn(2, len(spectrum), dtype=torch.float64)
    found = hessian_vector(lambda t: 0.5 * t @ H @ t + t.sum(), theta, v)
    torch.testing.assert_close(found, H @ v)


@given(spectra)
def test_power_iteration_finds_the_largest_size(spectrum: list[float]) -> None:
    found = largest_curvature(*quadratic(spectrum))
    largest = max(map(abs, spectrum))
    assert found.converged
    assert found.largest == pytest.approx(largest, rel=5e-3, abs=1e-9)
    assert found.largest <= largest * (1 + 1e-12) + 1e-300


def test_it_sees_negative_and_paired_eigenvalues() -> None:
    assert largest_curvature(*quadratic([1.0, -4.0])).largest == pytest.approx(4, rel=1e-5)
    paired = largest_curvature(*quadratic([3.0, -3.0, 1.0]))
    assert paired.converged
    assert paired.largest == pytest.approx(3, rel=1e-5)


def test_the_direction_is_an_eigenvector() -> None:
    h, theta = quadratic([5.0, 2.0, 1.0])
    found = largest_curvature(h, theta, tolerance=1e-6)
    Hv = hessian_vector(h, theta, found.direction)
    torch.testing.assert_close(Hv, 5 * found.direction, atol=1e-4, rtol=0)


def test_it_says_when_it_has_not_converged_and_repeats_under_its_seed() -> None:
    h, theta = quadratic([1.0, 0.99, 0.5])
    short = largest_curvature(h, theta, max_steps=2)
    assert (short.converged, short.steps) == (False, 2)
    again = largest_curvature(h, theta, max_steps=2)
    assert torch.equal(short.direction, again.direction)


@given(st.lists(st.floats(0.1, 10), min_size=1, max_size=5))
def test_a_step_of_one_over_l_decreases_sufficiently(spectrum: list[float]) -> None:
    h, start = quadratic(spectrum)
    H = matrix(spectrum)
    path = gradient_descent(h, start, 10)
    L = max(spectrum)
    for a, b in pairwise(path):
        # L is estimated from below by up to 0.1 %, and the bound is flat there.
        assert h(b) <= h(a) - (H @ a).square().sum() / (2 * L) * (1 - 1e-3) + 1e-12


def test_descent_converges_below_two_over_l_and_diverges_above() -> None:
    h, start = quadratic([4.0, 1.0])
    assert gradient_descent(h, start, 200, rate=1.9 / 4)[-1].norm() < 1e-4
    assert gradient_descent(h, start, 200, rate=2.1 / 4)[-1].norm() > 1e3


def test_the_path_starts_at_the_start_and_keeps_its_shape() -> None:
    start = torch.ones(2, 3)
    path = gradient_descent(lambda t: t.square().sum(), start, 4, rate=0.25)
    assert path.shape == (5, 2, 3)
    assert torch.equal(path, torch.stack([start * 0.5**t for t in range(5)]))


def test_a_loss_without_curvature_has_no_safe_rate() -> None:
    with pytest.raises(InputError, match="pass a rate"):
        gradient_descent(lambda t: t.sum(), torch.ones(3), 5)


def test_the_directional_derivative_is_a_central_difference() -> None:
    torch.manual_seed(0)
    x, v = torch.randn(2, 4, dtype=torch.float64)
    value, derivative = directional_derivative(torch.tanh, x, v)
    e = 1e-6
    assert torch.equal(value, x.tanh())
    torch.testing.assert_close(derivative, ((x + e * v).tanh() - (x - e * v).tanh()) / (2 * e))


def test_a_models_loss_becomes_a_function_of_one_vector() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).double()
    x, y = torch.randn(6, 3).double(), torch.randint(0, 2, (6,))
    h, theta = flattened(model, lambda f: losses.cross_entropy(f(x), y).mean())
    assert h(theta).item() == pytest.approx(losses.cross_entropy(model(x), y).mean().item())
    H = torch.autograd.functional.hessian(h, theta)
    expected = torch.linalg.eigvalsh(H).abs().max().item()
    assert largest_curvature(h, theta).largest == pytest.approx(expected, rel=1e-3)
    assert all(p.grad is None for p in model.parameters())
