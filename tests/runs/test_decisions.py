"""The threshold and the interval of a finished run."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, f1_score

from chainrule.errors import InputError
from chainrule.runs.decisions import best_threshold, decided, interval_radius


@pytest.mark.parametrize(
    ("criterion", "score"), [("f1", f1_score), ("balanced", balanced_accuracy_score)]
)
@given(
    st.lists(st.tuples(st.integers(0, 20), st.booleans()), min_size=4, max_size=30).filter(
        lambda pairs: len({label for _, label in pairs}) == 2
    )
)
def test_no_other_threshold_is_better(criterion, score, pairs):
    p = torch.tensor([k / 20 for k, _ in pairs], dtype=torch.float64)
    y = torch.tensor([int(label) for _, label in pairs])
    found = best_threshold(p, y, criterion)
    best = max(score(y, (p >= cut).long()) for cut in np.linspace(0, 1, 41))
    assert score(y, (p >= found).long()) == pytest.approx(best)


def test_of_equal_thresholds_the_nearest_to_a_half_is_taken():
    p, y = torch.tensor([0.1, 0.2, 0.7, 0.9]), torch.tensor([0, 0, 1, 1])
    assert best_threshold(p, y, "f1") == pytest.approx(0.45)


def test_the_interval_covers_as_often_as_it_says():
    generator = torch.Generator().manual_seed(0)
    residuals = torch.randn(4000, 40, generator=generator).abs()
    radii = torch.tensor([interval_radius(row[:39]) for row in residuals])
    covered = (residuals[:, 39] <= radii).double().mean().item()
    assert abs(covered - 0.9) < 5 * (0.09 / 4000) ** 0.5  # exactly 36 of 40 in expectation


def test_too_few_examples_give_no_interval():
    assert interval_radius(torch.ones(8)) is None
    assert interval_radius(torch.arange(9.0)) == 8


def test_a_decision_changes_the_answer():
    answer = {"prediction": "a", "probability": 0.6, "probabilities": {"a": 0.6, "b": 0.4}}
    (changed,) = decided([answer], {"threshold": 0.3}, ("a", "b"))
    assert changed["prediction"] == "b" and changed["probability"] == 0.4
    assert decided([answer], {}, ("a", "b")) == [answer]
    (number,) = decided([{"prediction": 5.0}], {"radius": 2.0}, ())
    assert number == {"prediction": 5.0, "lower": 3.0, "upper": 7.0}
    with pytest.raises(InputError, match=r"expected a number from 0.0 to below 1.0 as 'threshold'"):
        decided([answer], {"threshold": 3}, ("a", "b"))
