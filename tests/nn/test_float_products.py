"""The library that multiplies float32 matrices, and attention beside it."""

from threading import Thread

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from chainrule.nn.kernels import float_products as module
from chainrule.nn.kernels.float_products import MKL, ONEDNN, float_products, present, worth_onednn
from chainrule.nn.kernels.fused_attention import MKLAttention, fused_attention, product_attention


@pytest.fixture
def faster(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a processor where oneDNN is the faster one."""
    monkeypatch.setattr(module, "onednn_is_faster", lambda: True)


@pytest.mark.usefixtures("faster")
def test_the_switch_is_set_inside_and_taken_back_even_after_an_error() -> None:
    with float_products(ONEDNN):
        assert present() == ONEDNN
        with float_products(MKL):
            assert present() == MKL
        assert present() == ONEDNN
    with pytest.raises(KeyError), float_products(ONEDNN):
        raise KeyError
    assert present() == MKL


@pytest.mark.usefixtures("faster")
def test_a_precision_that_the_user_has_chosen_stays() -> None:
    torch.set_float32_matmul_precision("high")
    try:
        with float_products(ONEDNN):
            assert present() == "high"
    finally:
        torch.set_float32_matmul_precision(MKL)


def test_nothing_is_switched_where_mkl_is_as_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "onednn_is_faster", lambda: False)
    with float_products(ONEDNN):
        assert present() == MKL


def test_an_intel_processor_or_one_that_rounds_is_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "AVX512")
    monkeypatch.setattr(module, "maker", lambda: "")
    assert not module.onednn_is_faster.__wrapped__()
    monkeypatch.setattr(module, "maker", lambda: module.AMD)
    monkeypatch.setattr(module, "exact", lambda: False)
    assert not module.onednn_is_faster.__wrapped__()


def test_products_stay_in_float32_where_the_switch_is_used() -> None:
    if not module.onednn_is_faster():
        pytest.skip("MKL is kept on this machine")
    a, b = torch.randn(200, 300), torch.randn(300, 100)
    with float_products(ONEDNN):
        found = a @ b
    exact = a.double() @ b.double()
    assert (found - exact).abs().max() < 1e-4  # bfloat16 would be 0.1 off


def test_only_large_products_are_worth_it() -> None:
    assert worth_onednn(nn.Linear(784, 256), 128)
    assert not worth_onednn(nn.Linear(64, 128), 32)
    assert not worth_onednn(nn.Conv2d(3, 64, 3), 10**6)


def attention_inputs(
    dtype: torch.dtype, steps: int = 8, d: int = 4
) -> tuple[Tensor, Tensor, Tensor]:
    torch.manual_seed(0)
    q, k, v = (torch.randn(2, 3, steps, d).to(dtype).requires_grad_() for _ in range(3))
    return q, k, v


PADDING = torch.ones(2, 1, 1, 8, dtype=torch.bool)
PADDING[0, ..., 5:] = False


@pytest.mark.parametrize(("mask", "causal"), [(None, False), (None, True), (PADDING, False)])
@pytest.mark.parametrize("ours", [product_attention, MKLAttention.apply])
def test_attention_and_its_gradients_are_those_of_the_kernel(
    ours: object, mask: Tensor | None, causal: bool
) -> None:
    q, k, v = attention_inputs(torch.float32)
    expected = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal)
    found = ours(q, k, v, mask, causal)  # type: ignore[operator]
    torch.testing.assert_close(found, expected)
    direction = torch.randn_like(expected)
    for ours_, theirs in zip(
        torch.autograd.grad(found, (q, k, v), direction),
        torch.autograd.grad(expected, (q, k, v), direction),
        strict=True,
    ):
        torch.testing.assert_close(ours_, theirs)


def test_a_query_that_may_attend_to_nothing_gets_zeros_and_zero_gradients() -> None:
    q, k, v = attention_inputs(torch.bfloat16)
    nothing = torch.zeros(2, 1, 8, 8, dtype=torch.bool)
    found = fused_attention(q, k, v, nothing, causal=False)
    found.sum().backward()
    assert not found.any()
    assert all(not t.grad.any() for t in (q, k, v) if t.grad is not None)


@pytest.mark.usefixtures("faster")
def test_the_kernel_multiplies_by_mkl_forward_and_backward() -> None:
    q, k, v = attention_inputs(torch.float32, steps=64, d=32)  # oneDNN would take these products
    direction = torch.randn(2, 3, 64, 32)
    plain = torch.autograd.grad(fused_attention(q, k, v, None, True), (q, k, v), direction)
    with float_products(ONEDNN):
        output = fused_attention(q, k, v, None, True)
        switched = torch.autograd.grad(output, (q, k, v), direction)
        assert present() == ONEDNN
    assert all(map(torch.equal, plain, switched))


def first_and_other_path(q: Tensor, output: Tensor) -> Tensor:
    """The gradient of something that depends on q by attention and by itself."""
    loss = output.sin().sum() + q.pow(3).sum()
    return torch.autograd.grad(loss, q, create_graph=True)[0]


@pytest.mark.usefixtures("faster")
@pytest.mark.parametrize("frozen", [False, True])
def test_second_derivatives_are_those_of_the_plain_products(frozen: bool) -> None:
    q, k, v = attention_inputs(torch.float32)
    k.requires_grad_(not frozen)
    with float_products(ONEDNN):
        output = fused_attention(q, k, v, PADDING, False)
        (found,) = torch.autograd.grad(first_and_other_path(q, output).square().sum(), q)
    plain = product_attention(q, k, v, PADDING, False)
    (expected,) = torch.autograd.grad(first_and_other_path(q, plain).square().sum(), q)
    torch.testing.assert_close(found, expected)


@pytest.mark.usefixtures("faster")
def test_a_graph_that_is_kept_gives_its_gradient_again() -> None:
    q, k, v = attention_inputs(torch.float32)
    with float_products(ONEDNN):
        loss = fused_attention(q, k, v, None, True).square().sum()
        once = torch.autograd.grad(loss, (q, k, v), retain_graph=True)
        again = torch.autograd.grad(loss, (q, k, v))
    assert all(map(torch.equal, once, again))


@pytest.mark.usefixtures("faster")
def test_gradients_of_functions_are_left_to_the_kernel() -> None:
    q, k, v = attention_inputs(torch.float32)

    def loss(q: Tensor) -> Tensor:
        return fused_attention(q, k.detach(), v.detach(), None, True).square().sum()

    (expected,) = torch.autograd.grad(loss(q), q)
    with float_products(ONEDNN):
        torch.testing.assert_close(torch.func.grad(loss)(q.detach()), expected)


@pytest.mark.usefixtures("faster")
def test_another_thread_does_not_switch_back_what_training_has_switched() -> None:
    seen: list[str] = []

    def other() -> None:
        q, k, v = attention_inputs(torch.float32)
        seen.append(type(fused_attention(q, k, v, None, True).grad_fn).__name__)

    with float_products(ONEDNN):
        thread = Thread(target=other)
        thread.start()
        thread.join()
    assert seen == ["ScaledDotProductFlashAttentionForCpuBackward0"]


@pytest.mark.usefixtures("faster")
def test_attention_may_be_computed_again_in_the_backward_pass() -> None:
    q, k, v = attention_inputs(torch.float32)
    with float_products(ONEDNN):
        plain = torch.autograd.grad(fused_attention(q, k, v, None, True).sum(), q)
        again = checkpoint(fused_attention, q, k, v, None, True, use_reentrant=False)
        assert all(map(torch.equal, plain, torch.autograd.grad(again.sum(), q)))
