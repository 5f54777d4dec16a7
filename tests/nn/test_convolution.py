"""Convolution by sums, matrices and Fourier, against each other, scipy, autograd and the laws."""

from collections.abc import Callable

import numpy as np
import pytest
import scipy.linalg
import scipy.signal
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from chainrule.errors import InputError
from chainrule.nn.convolution import (
    MODES,
    by_fourier,
    circulant,
    convolution,
    convolution_gradients,
    correlation,
    correlation_gradients,
    doubly_blocked,
    toeplitz,
)

modes = st.sampled_from(MODES)
LIMITED = ("full", "valid", "same")


@st.composite
def signals(draw: st.DrawFn, axes: int | None = None) -> tuple[Tensor, Tensor]:
    """A signal and a kernel that fits into it, with one axis or two."""
    axes = axes or draw(st.integers(1, 2))
    n = draw(st.lists(st.integers(1, 7), min_size=axes, max_size=axes))
    m = [draw(st.integers(1, n_i)) for n_i in n]
    g = torch.Generator().manual_seed(draw(st.integers(0, 10**6)))
    return tuple(torch.randn(shape, generator=g, dtype=torch.float64) for shape in (n, m))  # type: ignore[return-value]


def by_the_definition(f: Tensor, h: Tensor, sign: int, u: tuple[int, ...], wrap: bool) -> float:
    """Σ_t h[t] f[u - t] or Σ_t h[t] f[u + t], entry by entry."""
    total = 0.0
    for t in np.ndindex(*h.shape):
        place = [u_i + sign * t_i for u_i, t_i in zip(u, t, strict=True)]
        if wrap:
            place = [p % n for p, n in zip(place, f.shape, strict=True)]
        if all(0 <= p < n for p, n in zip(place, f.shape, strict=True)):
            total += float(h[t] * f[tuple(place)])
    return total


FIRST: dict[str, dict[str, Callable[[int], int]]] = {
    "convolution": {
        "full": lambda m: 0,
        "valid": lambda m: m - 1,
        "same": lambda m: (m - 1) // 2,
        "circular": lambda m: 0,
    },
    "correlation": {
        "full": lambda m: 1 - m,
        "valid": lambda m: 0,
        "same": lambda m: -(m // 2),
        "circular": lambda m: 0,
    },
}


@settings(max_examples=40, deadline=None)
@given(signals(), modes, st.sampled_from([convolution, correlation]))
def test_the_definition_entry_by_entry(
    pair: tuple[Tensor, Tensor], mode: str, operation: Callable[..., Tensor]
) -> None:
    f, h = pair
    result = operation(f, h, mode)
    sign = -1 if operation is convolution else 1
    first = [FIRST[operation.__name__][mode](m) for m in h.shape]
    for place in np.ndindex(*result.shape):
        u = tuple(p + start for p, start in zip(place, first, strict=True))
        expected = by_the_definition(f, h, sign, u, mode == "circular")
        assert float(result[place]) == pytest.approx(expected, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(signals(), st.sampled_from(LIMITED))
def test_scipy_agrees(pair: tuple[Tensor, Tensor], mode: str) -> None:
    f, h = pair
    for ours, theirs in (
        (convolution, scipy.signal.convolve),
        (correlation, scipy.signal.correlate),
    ):
        expected = theirs(f.numpy(), h.numpy(), mode, method="direct")
        np.testing.assert_allclose(ours(f, h, mode), expected, atol=1e-12)


@settings(max_examples=25, deadline=None)
@given(signals(axes=2))
def test_scipy_agrees_on_images_that_wrap(pair: tuple[Tensor, Tensor]) -> None:
    f, h = (array.numpy() for array in pair)
    expected = scipy.signal.convolve2d(f, h, "same", boundary="wrap")
    middle = tuple(-((m - 1) // 2) for m in h.shape)
    ours = convolution(*pair, "circular").roll(middle, (0, 1))
    np.testing.assert_allclose(ours, expected, atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(signals(), modes)
def test_fourier_agrees(pair: tuple[Tensor, Tensor], mode: str) -> None:
    torch.testing.assert_close(by_fourier(*pair, mode), convolution(*pair, mode))


@settings(max_examples=40, deadline=None)
@given(signals(axes=1), modes)
def test_the_toeplitz_matrix_agrees(pair: tuple[Tensor, Tensor], mode: str) -> None:
    f, h = pair
    torch.testing.assert_close(toeplitz(h, len(f), mode) @ f, convolution(f, h, mode))


@settings(max_examples=40, deadline=None)
@given(signals(axes=2), modes)
def test_the_doubly_blocked_matrix_agrees(pair: tuple[Tensor, Tensor], mode: str) -> None:
    f, h = pair
    H = doubly_blocked(h, (f.shape[0], f.shape[1]), mode)
    torch.testing.assert_close(H @ f.flatten(), convolution(f, h, mode).flatten())


def test_the_matrix_of_the_notes() -> None:
    h = torch.tensor([1.0, 2.0, 3.0])
    expected = [[1, 0, 0, 0], [2, 1, 0, 0], [3, 2, 1, 0], [0, 3, 2, 1], [0, 0, 3, 2], [0, 0, 0, 3]]
    assert toeplitz(h, 4).tolist() == expected


def test_the_circular_example_of_the_notes() -> None:
    """L writes cross-correlation as a matrix: the transpose of the convolution's."""
    w, x = torch.tensor([1.0, 2.0, 3.0]), torch.randn(5)
    H = [[1, 2, 3, 0, 0], [0, 1, 2, 3, 0], [0, 0, 1, 2, 3], [3, 0, 0, 1, 2], [2, 3, 0, 0, 1]]
    assert toeplitz(w, 5, "circular").T.tolist() == H
    torch.testing.assert_close(correlation(x, w, "circular"), torch.tensor(H).float() @ x)


@settings(max_examples=20, deadline=None)
@given(signals(axes=1))
def test_waves_are_the_eigenvectors_of_a_circulant(pair: tuple[Tensor, Tensor]) -> None:
    h, n = pair[0], len(pair[0])
    np.testing.assert_array_equal(circulant(h), scipy.linalg.circulant(h.numpy()))
    waves = torch.exp(2j * torch.pi * torch.outer(torch.arange(n), torch.arange(n)).double() / n)
    H = circulant(h).to(waves.dtype)
    torch.testing.assert_close(H @ waves, waves * torch.fft.fft(h))


@settings(max_examples=40, deadline=None)
@given(signals(), modes)
def test_the_written_out_gradients_are_autograds(pair: tuple[Tensor, Tensor], mode: str) -> None:
    f, h = (array.requires_grad_() for array in pair)
    for forward, gradients in (
        (convolution, convolution_gradients),
        (correlation, correlation_gradients),
    ):
        y = forward(f, h, mode)
        g = torch.randn_like(y)
        for ours, theirs in zip(
            gradients(f.detach(), h.detach(), g, mode),
            torch.autograd.grad(y, (f, h), g),
            strict=True,
        ):
            torch.testing.assert_close(ours, theirs)


@settings(max_examples=20, deadline=None)
@given(signals())
def test_convolution_commutes_and_correlation_turns_round(pair: tuple[Tensor, Tensor]) -> None:
    f, h = pair
    torch.testing.assert_close(convolution(f, h), convolution(h, f))
    every = tuple(range(f.ndim))
    torch.testing.assert_close(correlation(f, h), correlation(h, f).flip(every))


@settings(max_examples=20, deadline=None)
@given(signals(), st.integers(0, 10))
def test_convolution_commutes_with_shifts(pair: tuple[Tensor, Tensor], shift: int) -> None:
    f, h = pair
    moved = f.roll(shift, 0)
    torch.testing.assert_close(
        convolution(moved, h, "circular"), convolution(f, h, "circular").roll(shift, 0)
    )


def test_a_kernel_longer_than_the_signal_has_full_and_same() -> None:
    f, h = torch.randn(2).double(), torch.randn(5).double()
    assert convolution(f, h).shape == (6,)
    torch.testing.assert_close(toeplitz(h, 2, "same") @ f, convolution(f, h, "same"))
    np.testing.assert_allclose(
        convolution(f, h, "same"), scipy.signal.convolve(f, h, "full", "direct")[2:4]
    )


@pytest.mark.parametrize("operation", [convolution, correlation, by_fourier])
def test_what_does_not_fit_is_refused(operation: Callable[..., Tensor]) -> None:
    with pytest.raises(InputError, match="mode must be one of full, valid"):
        operation(torch.ones(3), torch.ones(2), "half")
    with pytest.raises(InputError, match=r"equally many axes, .* got shapes \(3,\) and \(1, 2\)"):
        operation(torch.ones(3), torch.ones(1, 2))
    with pytest.raises(InputError, match="a valid convolution needs a kernel no larger"):
        operation(torch.ones(3), torch.ones(4), "valid")
    with pytest.raises(InputError, match="none of them empty"):
        operation(torch.ones(0), torch.ones(1))
