"""Attention: convex rows, masks, symmetry, and the fused kernel against the equation."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.nn.attention import (
    CrossAttention,
    SelfAttention,
    attention,
    attention_maps,
    attention_weights,
)
from chainrule.nn.attention_masks import causal_mask, combined_mask, padding_mask


def draws(seed: int, queries: int, keys: int, d: int = 4) -> tuple[Tensor, Tensor, Tensor]:
    torch.manual_seed(seed)
    q, k, v = (torch.randn(2, 3, n, d, dtype=torch.float64) for n in (queries, keys, keys))
    return q, k, v


lengths = st.integers(1, 7)


@given(st.integers(0, 99), lengths, lengths, st.booleans())
def test_rows_are_convex_combinations_and_the_fused_kernel_agrees(
    seed: int, queries: int, extra: int, causal: bool
) -> None:
    q, k, v = draws(seed, queries, queries + extra - 1)
    mask = torch.rand(2, 1, queries, k.shape[2]) < 0.7
    A = attention_weights(q, k, mask, causal)
    assert (A >= 0).all()
    allowed = mask & causal_mask(queries, k.shape[2]) if causal else mask
    assert not A.masked_select(~allowed).any()
    sums = allowed.any(-1).expand(A.shape[:3]).double()
    torch.testing.assert_close(A.sum(-1), sums)
    torch.testing.assert_close(attention(q, k, v, mask, causal), A @ v)
    assert not A.sum(-1)[~allowed.any(-1).expand(A.shape[:3])].any()


def test_attention_is_the_weighted_sum_of_values() -> None:
    q, k, v = draws(0, 3, 5)
    for i in range(3):
        scores = torch.tensor([float(q[1, 2, i] @ k[1, 2, t]) / math.sqrt(4) for t in range(5)])
        weights = scores.exp() / scores.exp().sum()
        xi = sum(float(weights[t]) * v[1, 2, t] for t in range(5))
        torch.testing.assert_close(attention(q, k, v)[1, 2, i], xi, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("explicit", [True, False])
def test_a_query_without_allowed_keys_gives_zeros_and_finite_gradients(explicit: bool) -> None:
    tensors = [t.requires_grad_() for t in draws(1, 3, 5)]
    q, k, v = tensors
    mask = torch.ones(2, 1, 3, 5, dtype=torch.bool)
    mask[0, 0, 1] = False
    mask[1] = False
    found = attention_weights(q, k, mask) @ v if explicit else attention(q, k, v, mask)
    assert not found[0, :, 1].any() and not found[1].any()
    assert found[0, :, [0, 2]].all()
    found.square().sum().backward()
    for t in tensors:
        assert t.grad is not None and t.grad.isfinite().all()
    assert q.grad is not None and not q.grad[1].any() and not q.grad[0, :, 1].any()


@given(st.integers(0, 99), lengths)
def test_self_attention_without_positions_is_equivariant(seed: int, steps: int) -> None:
    torch.manual_seed(seed)
    layer, x = SelfAttention(6, 2).double(), torch.randn(2, steps, 6, dtype=torch.float64)
    order = torch.randperm(steps)
    torch.testing.assert_close(layer(x[:, order]), layer(x)[:, order])


def test_causal_outputs_do_not_depend_on_the_future() -> None:
    torch.manual_seed(0)
    layer, x = SelfAttention(6, 2).double(), torch.randn(2, 5, 6, dtype=torch.float64)
    other = torch.cat([x[:, :3], torch.randn(2, 2, 6, dtype=torch.float64)], 1)
    torch.testing.assert_close(layer(x, causal=True)[:, :3], layer(other, causal=True)[:, :3])
    assert not torch.allclose(layer(x)[:, :3], layer(other)[:, :3])


@pytest.mark.parametrize("lengths", [(5,), (1, 1, 1, 1, 1), (2, 3), (1, 4)])
def test_decoding_chunk_by_chunk_gives_the_outputs_of_one_pass(lengths: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    layer, x = SelfAttention(6, 2).double(), torch.randn(2, 5, 6, dtype=torch.float64)
    outputs, kv_cache = [], None
    for chunk in x.split(lengths, 1):
        y, kv_cache = layer.decode_step(chunk, kv_cache)
        outputs.append(y)
        assert kv_cache.length == sum(len(t[0]) for t in outputs)
    torch.testing.assert_close(torch.cat(outputs, 1), layer(x, causal=True))


def test_padding_changes_nothing() -> None:
    torch.manual_seed(0)
    layer, x = SelfAttention(6, 2).double(), torch.randn(2, 5, 6, dtype=torch.float64)
    valid = torch.tensor([[True] * 5, [True, True, True, False, False]])
    found = layer(x, padding_mask(valid))
    torch.testing.assert_close(found[1:, :3], layer(x[1:, :3]))


def test_multi_head_attention_is_torchs() -> None:
    torch.manual_seed(0)
    own, torchs = SelfAttention(8, 2), nn.MultiheadAttention(8, 2, batch_first=True)
    with torch.no_grad():
        torchs.in_proj_weight.copy_(own.projection.weight)
        torchs.in_proj_bias.copy_(own.projection.bias.normal_())
        torchs.out_proj.weight.copy_(own.output.weight)
        torchs.out_proj.bias.copy_(own.output.bias.normal_())
    x = torch.randn(3, 5, 8)
    expected, weights = torchs(x, x, x, average_attn_weights=False)
    torch.testing.assert_close(own(x), expected)
    torch.testing.assert_close(attention_maps(own, x)[""], weights)


def test_cross_attention_attends_to_vectors_of_another_size() -> None:
    torch.manual_seed(0)
    layer = CrossAttention(6, 2, source_size=4).double()
    x, source = torch.randn(2, 3, 6).double(), torch.randn(2, 5, 4).double()
    found = layer(x, layer.project_source(source))
    order = torch.randperm(5)
    torch.testing.assert_close(layer(x, layer.project_source(source[:, order])), found)
    q = layer.query(x).view(2, 3, 2, 3).transpose(1, 2)
    k, v = (t.view(2, 5, 2, 3).transpose(1, 2) for t in layer.source(source).chunk(2, -1))
    heads = ((q @ k.mT / math.sqrt(3)).softmax(-1) @ v).transpose(1, 2).flatten(2)
    torch.testing.assert_close(found, layer.output(heads))


def test_maps_are_returned_by_name_and_leave_nothing_behind() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(SelfAttention(4, 2), nn.ReLU(), SelfAttention(4, 1)).train()
    x = torch.randn(2, 3, 4)
    maps = attention_maps(model, x)
    assert {name: tuple(A.shape) for name, A in maps.items()} == {
        "0": (2, 2, 3, 3),
        "2": (2, 1, 3, 3),
    }
    assert model.training and not any(A.requires_grad for A in maps.values())
    torch.testing.assert_close(maps["0"].sum(-1), torch.ones(2, 2, 3))
    assert not any(part._forward_hooks for part in model.modules())


@pytest.mark.parametrize("mask", [torch.ones(2, 1, 3, 5), torch.ones(3, 5).bool()])
def test_a_mask_of_another_type_or_shape_is_rejected(mask: Tensor) -> None:
    """torch's kernel would add a float mask to the scores, and broadcast one of two axes."""
    q, k, _ = draws(0, 3, 5)
    with pytest.raises(InputError, match="expected a boolean mask of"):
        combined_mask(mask, False, q, k)


def test_the_hidden_size_must_be_a_multiple_of_the_heads() -> None:
    with pytest.raises(InputError, match="hidden_size 6 and num_heads 4"):
        SelfAttention(6, 4)


@pytest.mark.parametrize(("key_size", "value_size"), [(3, 5), (7, 1), (1, 9)])
def test_keys_and_values_may_have_any_size(key_size: int, value_size: int) -> None:
    """[A_1 X W_1, …, A_h X W_h] W head by head, with W of h d_v columns."""
    torch.manual_seed(0)
    heads, d = 3, 4
    layer = SelfAttention(d, heads, key_size, value_size).double()
    x = torch.randn(2, 6, d, dtype=torch.float64)
    W, b = layer.projection.weight, layer.projection.bias
    rows = torch.arange(len(W)).split([heads * key_size] * 2 + [heads * value_size])
    Q, K, V = ((x @ W[own].T + b[own]).chunk(heads, 2) for own in rows)
    xi = [(q @ k.mT / math.sqrt(key_size)).softmax(2) @ v for q, k, v in zip(Q, K, V, strict=True)]
    expected = torch.cat(xi, 2) @ layer.output.weight.T + layer.output.bias
    torch.testing.assert_close(layer(x), expected)
    cross = CrossAttention(d, heads, 5, key_size, value_size).double()
    source = cross.project_source(torch.randn(2, 8, 5, dtype=torch.float64))
    assert source.keys.shape[3] == key_size and source.values.shape[3] == value_size
    assert cross(x, source).shape == x.shape
