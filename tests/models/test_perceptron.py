"""The perceptron against its algorithm written out, its theorem, and the linear program."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from sklearn.svm import SVC
from torch import Tensor

from chainrule.errors import InputError
from chainrule.models.connectionism.perceptron import (
    Perceptron,
    in_version_space,
    margin,
    maximal_margin,
    perceptron_algorithm,
    separating_hyperplane,
    signed_distance,
)
from chainrule.nn.separation import is_separated, simplex

XOR = torch.tensor([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
XOR_LABELS = torch.tensor([1.0, 1.0, -1.0, -1.0])
seeds = st.integers(0, 10**6)


def data(seed: int, s: int = 30, n: int = 3, gap: float = 0.1) -> tuple[Tensor, Tensor, Tensor]:
    """Points that a unit vector separates with a margin of at least `gap`."""
    g = torch.Generator().manual_seed(seed)
    w = torch.randn(n, generator=g, dtype=torch.float64)
    w /= w.norm()
    x = torch.randn(s, n, generator=g, dtype=torch.float64)
    y = torch.where(x @ w > 0, 1.0, -1.0).double()
    return x + gap * y[:, None] * w, y, w


def written_out(x: Tensor, y: Tensor, bias: bool, passes: int) -> tuple[Tensor, Tensor, int, int]:
    """Algorithm 1, one example at a time."""
    w, b, mistakes = torch.zeros_like(x[0]), torch.zeros((), dtype=x.dtype), 0
    mistake, number = True, 0
    while mistake and number < passes:
        mistake, number = False, number + 1
        for x_i, y_i in zip(x, y, strict=True):
            if y_i * (w @ x_i + b) <= 0:
                w, b, mistakes, mistake = w + y_i * x_i, b + y_i * bias, mistakes + 1, True
    return w, b, mistakes, number


@settings(max_examples=15, deadline=None)
@given(seeds, st.booleans(), st.integers(1, 100))
def test_it_is_the_sequential_algorithm(seed: int, bias: bool, s: int) -> None:
    x, y, _ = data(seed, s=s)
    x = (8 * x).round()  # whole numbers: both ways of adding are exact
    result = perceptron_algorithm(x, y, passes=6, bias=bias, patience=None)
    w, b, mistakes, passes = written_out(x, y, bias, passes=6)
    assert torch.equal(result.w, w) and torch.equal(result.b, b)
    assert (result.mistakes, result.passes) == (mistakes, passes)


@pytest.mark.parametrize("place", [1, 64, 65, 191, 193, 499])
def test_a_lonely_mistake_is_found_wherever_it_is(place: int) -> None:
    x = torch.tensor([[1.0, 0.0]]).repeat(500, 1)
    x[place] = torch.tensor([-1.0, 5.0])
    result = perceptron_algorithm(x, torch.ones(500), bias=False)
    # Mistakes: the first example, the lonely one, and the next one, which may be in the next pass.
    assert result.w.tolist() == [1, 5]
    assert (result.mistakes, result.passes) == (3, 3 if place == 499 else 2)


@settings(max_examples=15, deadline=None)
@given(seeds)
def test_the_number_of_mistakes_keeps_novikoffs_bound(seed: int) -> None:
    x, y, _ = data(seed)
    best = maximal_margin(x, y)
    assert best is not None
    result = perceptron_algorithm(x, y, bias=False, passes=10**6)
    assert result.converged and in_version_space(result.w, result.b, x, y)
    assert result.mistakes <= math.floor((x.norm(dim=1).max().item() / best[1]) ** 2)


@settings(max_examples=10, deadline=None)
@given(seeds)
def test_the_two_lemmas_hold_along_the_run(seed: int) -> None:
    x, y, w = data(seed)
    result = perceptron_algorithm(x, y, bias=False, history=True)
    assert result.history is not None and len(result.history) == result.mistakes + 1
    t = torch.arange(len(result.history), dtype=torch.float64)
    gamma = margin(w, torch.zeros((), dtype=torch.float64), x, y)
    assert (result.history @ w >= t * gamma - 1e-9).all()
    assert (result.history.norm(dim=1) <= x.norm(dim=1).max() * t.sqrt() + 1e-9).all()


def test_distances_and_margin_by_hand() -> None:
    w, b = torch.tensor([3.0, 4.0]), torch.tensor(-5.0)
    x, y = torch.tensor([[3.0, 4.0], [0.0, 0.0]]), torch.tensor([1.0, 1.0])
    assert signed_distance(w, b, x, y).tolist() == [4, -1]
    assert margin(w, b, x, y).item() == -1
    assert not in_version_space(w, b, x, y)
    assert in_version_space(w, b, x, torch.tensor([1.0, -1.0]))


def test_xor_is_recognized_as_not_separable() -> None:
    assert separating_hyperplane(XOR, XOR_LABELS) is None
    result = perceptron_algorithm(XOR, XOR_LABELS)
    assert not result.converged and result.separable is False
    assert result.passes == 10 and "no hyperplane" in result.reason


def test_every_point_of_a_contradiction_counts() -> None:
    x, y, _ = data(0)
    assert separating_hyperplane(torch.cat([x, x[:1]]), torch.cat([y, -y[:1]])) is None


@settings(max_examples=15, deadline=None)
@given(seeds, st.booleans())
def test_the_linear_program_returns_a_member_of_the_version_space(seed: int, bias: bool) -> None:
    x, y, _ = data(seed, gap=1e-3)
    # Features of very different sizes and a far origin must not matter.
    x = x * torch.tensor([1e4, 1.0, 1e-4]) + (100.0 if bias else 0.0)
    found = separating_hyperplane(x, y, bias)
    assert found is not None and in_version_space(*found, x, y)
    if not bias:
        assert found[1].item() == 0


def close(gap: float, below: float, seed: int = 0) -> Tensor:
    """Four vectors around 0 and one more, at heights `gap` and `below` over a tilted plane."""
    plane = [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0], [0.1, 0.1]]
    heights = torch.tensor([gap] * 4 + [below], dtype=torch.float64)
    z = torch.cat([torch.tensor(plane, dtype=torch.float64), heights[:, None]], 1)
    tilted = torch.randn(3, 3, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return z @ torch.linalg.qr(tilted).Q


@settings(max_examples=10, deadline=None)
@given(seeds)
def test_a_gap_far_below_the_tolerance_of_the_linear_program_is_decided(seed: int) -> None:
    apart, together = close(1e-12, 1e-12, seed), close(1e-12, -1e-12, seed)
    found = separating_hyperplane(apart, torch.ones(5), bias=False)
    assert found is not None
    assert in_version_space(*found, apart, torch.ones(5).double())
    assert separating_hyperplane(together, torch.ones(5), bias=False) is None


def test_many_inputs_are_decided_up_to_a_tolerance_that_is_named() -> None:
    x, y, w = data(0, s=60, n=20, gap=0.0)
    flat = x - (x @ w)[:, None] * w
    result = perceptron_algorithm(flat + 1e-12 * y[:, None] * w, y, passes=20, bias=False)
    assert result.separable is False
    assert result.reason == "no hyperplane separates the data by more than 2e-09 of their size"


@settings(max_examples=25, deadline=None)
@given(seeds, st.integers(1, 4), st.integers(1, 9))
def test_the_exact_method_proves_what_it_says(seed: int, n: int, s: int) -> None:
    g = torch.Generator().manual_seed(seed)
    z = torch.randint(-2, 3, (s, n), generator=g).double().numpy()
    v = simplex(z)
    if v is not None:
        assert is_separated(z, v)
    else:  # 0 is a convex combination
        rows = np.vstack([z.T, np.ones(s)])
        assert linprog(np.zeros(s), A_eq=rows, b_eq=np.append(np.zeros(n), 1.0)).status == 0


def test_the_bias_can_be_what_separates() -> None:
    x, y = torch.tensor([[1.0], [2.0]]), torch.tensor([-1.0, 1.0])
    assert separating_hyperplane(x, y) is not None
    assert separating_hyperplane(x, y, bias=False) is None
    assert separating_hyperplane(torch.zeros(1, 2), torch.ones(1), bias=False) is None


def test_the_limit_of_passes_is_kept_and_explained() -> None:
    x, y, _ = data(1, gap=1e-3)
    result = perceptron_algorithm(x, y, passes=2)
    assert result.passes == 2 and not result.converged and result.separable
    assert "limit of 2 passes" in result.reason and "allow more" in result.reason
    undecided = perceptron_algorithm(x, y, passes=2, patience=None)
    assert undecided.separable is None and undecided.reason == "reached the limit of 2 passes"


@settings(max_examples=8, deadline=None)
@given(seeds)
def test_the_maximal_margin_is_no_smaller_than_any_other(seed: int) -> None:
    x, y, w = data(seed)
    found = maximal_margin(x, y)
    assert found is not None
    zero = torch.zeros((), dtype=torch.float64)
    assert found[1] >= margin(w, zero, x, y).item() - 1e-12
    assert margin(found[0], zero, x, y).item() == pytest.approx(found[1])


def test_the_maximal_margin_is_the_support_vector_machines() -> None:
    x, y, _ = data(5, n=2, gap=0.5)
    # A machine with bias on data mirrored at the origin has b = 0.
    mirrored, labels = torch.cat([x, -x]).numpy(), torch.cat([y, -y]).numpy()
    machine = SVC(kernel="linear", C=1e8, tol=1e-8).fit(mirrored, labels)
    found = maximal_margin(x, y)
    assert found is not None
    assert found[1] == pytest.approx(1 / float((machine.coef_**2).sum()) ** 0.5, rel=1e-5)


def test_data_without_margin_have_no_maximal_margin() -> None:
    assert maximal_margin(XOR - 0.5, XOR_LABELS) is None


def test_the_model_keeps_what_it_learned() -> None:
    x, y, _ = data(2)
    model = Perceptron(3)
    assert model(x.float()).eq(0).all()  # sgn(0) = 0: before learning everything is a mistake
    assert model.fit(x, y).converged
    assert torch.equal(model(x), y)


def test_values_that_are_not_finite_are_refused() -> None:
    with pytest.raises(InputError, match="must be finite"):
        perceptron_algorithm(XOR / 0, XOR_LABELS)


def test_labels_other_than_signs_are_refused() -> None:
    with pytest.raises(InputError, match="-1 and \\+1"):
        perceptron_algorithm(XOR, torch.tensor([0.0, 1.0, 1.0, 0.0]))
