"""The scan: exactly the loop, forwards and backwards, for every length and every size of a."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from chainrule.errors import InputError
from chainrule.nn.scan import MAX_BLOCK, MIN_STEPS, loop, scan

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
@given(T=st.integers(1, 200), seed=st.integers(0, 99))
@settings(max_examples=12, deadline=None)
def test_states_and_gradients_are_those_of_the_loop(dtype, T, seed):
    torch.manual_seed(seed)
    tensors, weights = drawn(T, dtype), torch.randn(2, T, 3, dtype=dtype)
    torch.testing.assert_close(scan(*tensors), loop(*tensors), rtol=1e-12, atol=1e-13)
    for ours, theirs in zip(
        gradients(scan, tensors, weights), gradients(loop, tensors, weights), strict=True
    ):
        torch.testing.assert_close(ours, theirs, rtol=1e-11, atol=1e-12)


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
    for function in (scan, loop):
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
    torch.testing.assert_close(scan(a, b), loop(a, b, torch.zeros(2, 3, 4)))


@pytest.mark.parametrize(
    "a, b, words",
    [
        (torch.rand(2, 5, 3), torch.randn(2, 0, 3), "one step or more"),
        (torch.rand(2, 4, 3), torch.randn(2, 5, 3), "expands to b"),
        (torch.rand(2, 5, 3), torch.randn(2, 5, 3, dtype=COMPLEX), "complex128 and float32"),
        (torch.ones(2, 5, 3).long(), torch.ones(2, 5, 3).long(), "real or complex"),
    ],
)
def test_what_does_not_fit_is_refused(a, b, words):
    with pytest.raises(InputError, match=words):
        scan(a, b)
