"""Hopfield networks: energies, recall, and the ties between their versions."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from chainrule.errors import InputError
from chainrule.models.connectionism import (
    ContinuousHopfield,
    DenseHopfield,
    ExponentialHopfield,
    Hopfield,
)
from chainrule.models.connectionism import hopfield as binary

seeds = st.integers(0, 10**6)


def signs(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).sign()


def memory(patterns: Tensor) -> Hopfield:
    model = Hopfield(patterns.shape[1])
    model.store(patterns)
    return model


def test_energy_and_hebbs_rule_by_hand() -> None:
    model = memory(torch.tensor([[1.0, -1.0, 1.0]]))
    expected = torch.tensor([[0.0, -1.0, 1.0], [-1.0, 0.0, -1.0], [1.0, -1.0, 0.0]]) / 3
    torch.testing.assert_close(model.W, expected)
    x = torch.tensor([[1.0, -1.0, 1.0], [1.0, 1.0, 1.0]])
    b = torch.tensor([1.0, 0.0, 0.0])
    torch.testing.assert_close(binary.energy(model.W, b, x), torch.tensor([0.0, 1 / 3 + 1]))


@settings(max_examples=20, deadline=None)
@given(seeds)
def test_no_flip_raises_the_energy(seed: int) -> None:
    g = torch.Generator().manual_seed(seed)
    # Whole numbers: energies are exact, and fields of zero occur.
    W = torch.randint(-2, 3, (10, 10), generator=g).float().triu(1)
    W, b = W + W.T, torch.randint(-2, 3, (10,), generator=g).float()
    x = torch.randn(8, 10, generator=g).sign()
    for i in torch.randperm(10, generator=g):
        order = torch.full((10,), int(i))  # the same unit again and again is one update
        after = binary.sweep(W, b, x, order)
        fell = binary.energy(W, b, after) - binary.energy(W, b, x)
        changed = (after != x).any(1)
        assert (fell[changed] < 0).all() and (fell[~changed] == 0).all()
        x = after
    assert x.abs().eq(1).all()


@settings(max_examples=10, deadline=None)
@given(seeds)
def test_recall_comes_to_rest_in_any_order(seed: int) -> None:
    model = memory(signs(6, 16, seed=seed))
    x = signs(5, 16, seed=seed + 1)
    for generator in (None, torch.Generator().manual_seed(seed)):
        end = model.recall(x, generator=generator)
        assert binary.stable(model.W, model.b, end).all()
        assert torch.equal(model(end), end)


def test_a_sweep_uses_what_earlier_units_became() -> None:
    W = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    x, b = torch.tensor([[1.0, -1.0]]), torch.zeros(2)
    assert binary.sweep(W, b, x, torch.tensor([0, 1])).tolist() == [[-1, -1]]
    assert binary.sweep(W, b, x, torch.tensor([1, 0])).tolist() == [[1, 1]]


@settings(max_examples=10, deadline=None)
@given(seeds)
def test_recall_without_the_matrix_is_recall(seed: int) -> None:
    patterns, x = signs(5, 32, seed=seed), signs(6, 32, seed=seed + 1)
    expected = memory(patterns).recall_synchronous(x, 7)
    assert torch.equal(binary.recall_stored(patterns, x, 7), expected)


def test_all_units_at_once_may_cycle() -> None:
    model = Hopfield(2)
    model.W.copy_(torch.tensor([[0.0, 1.0], [1.0, 0.0]]))
    x = torch.tensor([[1.0, -1.0]])
    assert model.recall_synchronous(x, steps=1).tolist() == [[-1, 1]]
    assert model.recall_synchronous(x, steps=2).tolist() == [[1, -1]]


def test_a_field_of_zero_keeps_the_state() -> None:
    x = signs(4, 6)
    assert torch.equal(Hopfield(6)(x), x)
    assert torch.equal(Hopfield(6).recall_synchronous(x), x)


def test_thresholds_pull_units_down() -> None:
    model = Hopfield(3)
    model.b.fill_(1.0)
    assert model(torch.ones(1, 3)).tolist() == [[-1, -1, -1]]


def test_a_corrupted_pattern_is_restored() -> None:
    patterns = signs(4, 200)
    noisy = patterns.clone()
    noisy[:, :30] *= -1
    model = memory(patterns)
    assert torch.equal(model.recall(noisy), patterns)
    assert torch.equal(model.recall_synchronous(noisy), patterns)


@settings(max_examples=10, deadline=None)
@given(seeds)
def test_the_dense_memory_of_degree_two_is_the_hopfield_network(seed: int) -> None:
    patterns, x = signs(3, 16, seed=seed), signs(5, 16, seed=seed + 1)
    dense, plain = DenseHopfield(patterns, degree=2), memory(patterns)
    assert torch.equal(dense(x), plain(x))
    # E = -Σ (ξᵀx)² = -n xᵀWx - s n: twice n times H, and the diagonal Hebb's rule drops.
    expected = 2 * 16 * binary.energy(plain.W, plain.b, x).double() - 3 * 16
    torch.testing.assert_close(dense.energy(x), expected)


@settings(max_examples=10, deadline=None)
@given(seeds, st.sampled_from(["dense", "exponential"]))
def test_every_sweep_lowers_a_dense_energy_or_rests(seed: int, kind: str) -> None:
    patterns, x = signs(12, 10, seed=seed), signs(6, 10, seed=seed + 1)
    model = DenseHopfield(patterns, 4) if kind == "dense" else ExponentialHopfield(patterns)
    after = model(x)
    fell = model.energy(after) - model.energy(x)
    changed = (after != x).any(1)
    assert (fell[changed] < 0).all() and (fell[~changed] == 0).all()
    end = model.recall(x, generator=torch.Generator().manual_seed(seed))
    assert torch.equal(model(end), end)


def test_a_dense_update_is_the_better_of_the_two_energies() -> None:
    patterns, x = signs(5, 8), signs(1, 8, seed=1)
    for model in (DenseHopfield(patterns, 3), ExponentialHopfield(patterns)):
        up, down = x.clone(), x.clone()
        up[:, 4], down[:, 4] = 1, -1
        better = up if model.energy(up) < model.energy(down) else down
        assert torch.equal(model.sweep(x, torch.full((8,), 4)), better)


def test_the_exponential_energy_is_its_sum_and_does_not_overflow() -> None:
    patterns, x = signs(4, 10), signs(3, 10, seed=1)
    direct = -(x.double() @ patterns.double().T).exp().sum(1)
    torch.testing.assert_close(-(-ExponentialHopfield(patterns).energy(x)).exp(), direct)
    large = signs(3, 2000)
    model = ExponentialHopfield(large)
    assert model.energy(large).isfinite().all() and torch.equal(model(large), large)


def test_steeper_energies_store_more() -> None:
    patterns = signs(60, 40)  # three times as many as a binary network of 40 units can bear
    assert not torch.equal(memory(patterns)(patterns), patterns)
    assert not torch.equal(DenseHopfield(patterns, 2)(patterns), patterns)
    assert torch.equal(DenseHopfield(patterns, 6)(patterns), patterns)
    assert torch.equal(ExponentialHopfield(patterns)(patterns), patterns)


def test_the_continuous_update_is_attention() -> None:
    torch.manual_seed(0)
    X, x = torch.randn(6, 8), torch.randn(5, 8)
    model = ContinuousHopfield(X, beta=0.7)
    torch.testing.assert_close(model(x), F.scaled_dot_product_attention(x, X, X, scale=0.7))


@settings(max_examples=20, deadline=None)
@given(seeds, st.floats(0.1, 20))
def test_the_continuous_energy_falls_and_stays_positive(seed: int, beta: float) -> None:
    g = torch.Generator().manual_seed(seed)
    X = torch.randn(6, 8, generator=g, dtype=torch.float64)
    x = 3 * torch.randn(5, 8, generator=g, dtype=torch.float64)
    model = ContinuousHopfield(X, beta)
    assert (model.energy(model(x)) <= model.energy(x) + 1e-12).all()
    assert (model.energy(x) >= -1e-12).all()


def test_the_continuous_update_is_a_gradient_step_of_length_one() -> None:
    torch.manual_seed(0)
    x = torch.randn(5, 8, dtype=torch.float64, requires_grad=True)
    model = ContinuousHopfield(torch.randn(6, 8, dtype=torch.float64), beta=2.0)
    (gradient,) = torch.autograd.grad(model.energy(x).sum(), x)
    torch.testing.assert_close(model(x), x - gradient)


def test_the_continuous_memory_recalls_the_nearest_pattern() -> None:
    torch.manual_seed(0)
    X = F.normalize(torch.randn(20, 32))
    noisy = X + 0.05 * torch.randn(20, 32)
    torch.testing.assert_close(ContinuousHopfield(X, beta=100.0).recall(noisy), X)


def test_states_other_than_signs_are_refused() -> None:
    with pytest.raises(InputError, match="-1 and \\+1"):
        memory(torch.zeros(2, 4))
    with pytest.raises(InputError, match="2 x - 1"):
        DenseHopfield(torch.zeros(2, 4))
