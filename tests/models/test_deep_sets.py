"""Deep Sets: what a permutation does, and what a mask hides."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.models.geometric.deep_sets import CHUNK_SIZE, DeepSets
from chainrule.models.geometric.equivariant_deep_sets import EquivariantDeepSets
from chainrule.nn.set_pooling import POOLS, max_pool, mean_pool, sum_pool

KINDS = [DeepSets, EquivariantDeepSets]
pools = pytest.mark.parametrize("pool", POOLS)
kinds = pytest.mark.parametrize("kind", KINDS)


def build(kind: type, pool: str, seed: int = 0, whole: bool = False) -> nn.Module:
    """Small networks; with whole weights, sums of whole numbers are exact in any order."""
    torch.manual_seed(seed)
    inputs = 6 if kind is DeepSets else 3 + 6
    phi = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 6))
    rho = nn.Sequential(nn.Linear(inputs, 8), nn.ReLU(), nn.Linear(8, 2))
    model = kind(phi, rho, pool)
    if whole:
        for p in model.parameters():
            p.data = torch.randint(-3, 4, p.shape).float()
    return model.double().eval()


def permuted(model: nn.Module, y: Tensor, order: Tensor) -> Tensor:
    """What the answer must become: itself for a set, in the new order for its elements."""
    return y if isinstance(model, DeepSets) else y[:, order]


@kinds
@pools
@given(seed=st.integers(0, 999), size=st.sampled_from([1, 2, 4, 8]))
def test_a_permutation_changes_nothing_but_the_order_exactly(kind, pool, seed, size) -> None:
    model = build(kind, pool, seed, whole=True)
    x = torch.randint(-9, 10, (3, size, 3)).double()
    order = torch.randperm(size)
    assert torch.equal(model(x[:, order]), permuted(model, model(x), order))


@kinds
@pools
def test_a_permutation_of_any_numbers_changes_no_more_than_rounding(kind, pool) -> None:
    model, x, order = build(kind, pool), torch.randn(4, 9, 3).double(), torch.randperm(9)
    torch.testing.assert_close(model(x[:, order]), permuted(model, model(x), order))


@kinds
@pools
@given(seed=st.integers(0, 999))
def test_what_lies_outside_the_mask_does_not_matter_not_even_a_nan(kind, pool, seed) -> None:
    model = build(kind, pool, seed)
    x, mask = torch.randn(5, 7, 3).double(), torch.rand(5, 7) < 0.6
    mask[:, 0] = True
    spoilt = torch.where(mask[..., None], x, torch.nan)
    found = model(spoilt, mask)
    for row in range(5):
        alone = model(x[row : row + 1, mask[row]])
        shown = found[row] if kind is DeepSets else found[row, mask[row]]
        torch.testing.assert_close(shown, alone[0])
    if kind is EquivariantDeepSets:
        assert not found[~mask].any()


@pools
def test_no_gradient_reaches_an_empty_place(pool) -> None:
    model, mask = build(DeepSets, pool), torch.tensor([[True, False, True]])
    x = torch.randn(1, 3, 3, dtype=torch.float64, requires_grad=True)
    model(x, mask).sum().backward()
    assert not x.grad[0, 1].any() and x.grad[0, 0].any()


def test_the_three_pools_by_hand() -> None:
    h = torch.tensor([[[1.0, -5.0], [3.0, -2.0], [100.0, 100.0]], [[7.0, 7.0]] * 3])
    mask = torch.tensor([[True, True, False], [False, False, False]])
    assert sum_pool(h, mask).tolist() == [[4, -7], [0, 0]]
    assert mean_pool(h, mask).tolist() == [[2, -3.5], [0, 0]]
    assert max_pool(h, mask).tolist() == [[3, -2], [0, 0]]
    for pool in POOLS.values():
        assert torch.equal(pool(h, None), pool(h, torch.ones(2, 3, dtype=torch.bool)))


def test_elements_that_come_twice_count_twice_in_a_sum_only() -> None:
    x = torch.randn(2, 4, 3).double()
    twice = torch.cat([x, x], 1)
    for pool in ("mean", "max"):
        model = build(DeepSets, pool)
        torch.testing.assert_close(model(twice), model(x))
    model = build(DeepSets, "sum")
    assert not torch.allclose(model(twice), model(x))


def test_a_linear_answer_to_a_sum_is_additive() -> None:
    model = DeepSets(nn.Linear(3, 4), nn.Linear(4, 1, bias=False))
    a, b = torch.randn(2, 3, 3), torch.randn(2, 5, 3)
    torch.testing.assert_close(model(torch.cat([a, b], 1)), model(a) + model(b))


def test_a_large_batch_is_evaluated_in_pieces_with_the_same_answers() -> None:
    model = build(DeepSets, "sum")
    x = torch.randn(CHUNK_SIZE // 4 + 7, 8, 3).double()
    mask = torch.rand(len(x), 8) < 0.8
    pieces = torch.cat([model(x[:50], mask[:50]), model(x[50:], mask[50:])])
    torch.testing.assert_close(model(x, mask), pieces)


def test_wrong_pools_and_masks_are_refused() -> None:
    with pytest.raises(InputError, match="did you mean mean"):
        DeepSets(nn.Identity(), nn.Identity(), "meen")
    with pytest.raises(InputError, match=r"mask of shape \(2, 4\)"):
        build(DeepSets, "sum")(torch.randn(2, 4, 3).double(), torch.ones(2, 3, dtype=torch.bool))
