"""The scan: exactly the loop, forwards and backwards, for every length and every size of a."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from chainrule.errors import InputError
from chainrule.lab.helpers.critical_path import critical_path
from chainrule.nn.kernels.scan import MAX_BLOCK, MIN_STEPS, associative_scan, loop, scan

REAL, COMPLEX = torch.float64, torch.complex128


def drawn(T: int, dtype: torch.dtype, low: float = 0.0, high: float = 1.0) -> list[Tensor]:
    """a with low ≤ |a| ≤ high, b and h."""
    size = low + (high - low) * torch.rand(2, T, 3, dtype=REAL)
    a = torch.polar(size, 7 * torch.rand(2, T, 3, dtype=REAL)) if dtype.is_complex else size
    tensors = [a, torch.randn(2, T, 3, dtype=dtype), torch.randn(2, 3, dtype=dtype)]
    return [t.requires_grad_() for t in tensors]


def gradients(function, tensors: list[Tensor], weights: Tensor) -> tuple[Tensor, ...]:
    return torch.autograd.grad((function(*tensors) * weights).sum().abs(), tensors)


@pytest.mark.parametrize("dtype", [REAL, COMPLEX])
@pytest.mark.parametrize("function", [scan, associative_scan])
@given(T=st.integers(1, 200), seed=st.integers(0, 99))
@settings(max_examples=8, deadline=None)
def test_states_and_gradients_are_those_of_the_loop(function, dtype, T, seed):
    torch.manual_seed(seed)
    tensors, weights = drawn(T, dtype), torch.randn(2, T, 3, dtype=dtype)
    torch.testing.assert_close(function(*tensors), loop(*tensors), rtol=1e-12, atol=1e-13)
    for ours, theirs in zip(
        gradients(function, tensors, weights), gradients(loop, tensors, weights), strict=True
    ):
        torch.testing.assert_close(ours, theirs, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("dtype", [REAL, COMPLEX])
@pytest.mark.parametrize("T", [1, 7, 40])
def test_second_derivatives_are_those_of_the_loop(dtype, T):
    torch.manual_seed(0)
    tensors, weights = drawn(T, dtype), torch.randn(2, T, 3, dtype=dtype)

    def second(function) -> tuple[Tensor, ...]:
        loss = (function(*tensors) * weights).sin().abs().sum() + tensors[0].abs().pow(3).sum()
        first = torch.autograd.grad(loss, tensors, create_graph=True)
        return torch.autograd.grad(sum(g.abs().square().sum() for g in first), tensors)

    torch.testing.assert_close(second(scan), second(loop), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("dtype", [REAL, COMPLEX])
@pytest.mark.parametrize("low, high", [(1 - 1e-9, 1.0), (0.0, 1e-300), (0.0, 0.0), (1.0, 1.0)])
def test_long_sequences_with_a_near_0_and_1_lose_nothing(dtype, low, high):
    torch.manual_seed(0)
    tensors = drawn(5_000, dtype, low, high)
    with torch.no_grad():
        ours, theirs = scan(*tensors), loop(*tensors)
    scale = theirs.abs().max()
    assert (ours - theirs).abs().max() <= 1e-12 * scale


def test_single_precision_is_as_close_to_the_truth_as_the_loop():
    torch.manual_seed(0)
    tensors = [t.detach() for t in drawn(5_000, REAL, 0.9, 1.0)]
    single = [t.float() for t in tensors]
    truth = loop(*(t.double() for t in single))
    ours, theirs = scan(*single), loop(*single)
    assert (ours - truth).abs().max() <= 2 * (theirs - truth).abs().max()


def test_its_own_gradient_agrees_with_central_differences():
    torch.manual_seed(0)
    for dtype in (REAL, COMPLEX):
        assert torch.autograd.gradcheck(scan, drawn(MIN_STEPS + 5, dtype), fast_mode=True)


def test_a_growing_recurrence_that_overflows_a_block_is_taken_step_by_step():
    a = torch.full((1, MAX_BLOCK**2, 1), 1e3)
    b = torch.zeros_like(a)
    b[:, -3:] = 1.0
    assert torch.equal(scan(a, b), loop(a, b, torch.zeros(1, 1)))
    assert scan(a, b)[0, -1, 0] == 1e6 + 1e3 + 1


def test_a_may_be_one_value_for_all_steps_and_its_gradient_is_summed():
    torch.manual_seed(0)
    _, b, h = drawn(50, COMPLEX)
    lam = torch.polar(torch.rand(3, dtype=REAL), torch.rand(3, dtype=REAL)).requires_grad_()
    for function in (scan, associative_scan, loop):
        torch.testing.assert_close(function(lam, b, h), loop(lam.expand_as(b), b, h))
    ours, theirs = (
        torch.autograd.grad(f(lam, b, h).real.square().sum(), lam)[0] for f in (scan, loop)
    )
    torch.testing.assert_close(ours, theirs)


def test_pieces_with_the_state_handed_on_give_the_whole():
    torch.manual_seed(0)
    a, b, h = (t.detach() for t in drawn(200, REAL))
    whole, state, pieces = scan(a, b, h), h, []
    for start, stop in ((0, 1), (1, 100), (100, 200)):
        pieces.append(scan(a[:, start:stop], b[:, start:stop], state))
        state = pieces[-1][:, -1]
    torch.testing.assert_close(torch.cat(pieces, 1), whole)


def test_states_of_any_shape_are_taken():
    a, b = torch.rand(2, 30, 3, 4), torch.randn(2, 30, 3, 4)
    for function in (scan, associative_scan):
        torch.testing.assert_close(function(a, b), loop(a, b, torch.zeros(2, 3, 4)))


@pytest.mark.parametrize(
    "a, b, words",
    [
        (torch.rand(2, 5, 3), torch.randn(2, 0, 3), "one step or more"),
        (torch.rand(2, 4, 3), torch.randn(2, 5, 3), "expands to b"),
        (torch.rand(2, 5, 3), torch.randn(2, 5, 3, dtype=COMPLEX), "complex128 and float32"),
        (torch.ones(2, 5, 3).long(), torch.ones(2, 5, 3).long(), "real or complex"),
    ],
)
@pytest.mark.parametrize("function", [scan, associative_scan])
def test_what_does_not_fit_is_refused(function, a, b, words):
    with pytest.raises(InputError, match=words):
        function(a, b)


@pytest.mark.parametrize("T", [1, 2, 3, 5, 7, 37, 100])
def test_the_tree_is_at_most_two_logarithms_deep(T):
    cost = critical_path(associative_scan, torch.ones(1, T, 1), torch.ones(1, T, 1))
    assert math.ceil(math.log2(T)) <= cost.depth <= 2 * math.ceil(math.log2(T)) + 1
    assert cost.products <= 3 * T


def test_the_critical_path_follows_numbers_through_views_and_results_in_place():
    def function(x: Tensor) -> Tensor:
        y = torch.empty_like(x)
        y[:2] = x[1:] * x[1:]  # depth 1
        torch.mul(y[:1], y[1:2], out=y[2:])  # depth 2
        return torch.cat([y + x, x[:0]])[2:] * y[:1]  # depth 3

    assert critical_path(function, torch.ones(3)) == (3, 2 + 1 + 1)
