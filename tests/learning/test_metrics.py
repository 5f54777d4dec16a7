"""A metric knows its better direction and how it is printed; nothing else does."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from chainrule.learning.metrics import (
    ACCURACY,
    ERROR,
    HIGHER_IS_BETTER,
    MEAN_IOU,
    METRICS,
    Metric,
    format_metric,
    metric_named,
)

HIGHER = {
    "accuracy", "auc", "r2", "mean_iou", "pixel_accuracy", "point_accuracy", "place_accuracy",
    "word_accuracy", "pair_accuracy", "bleu", "f1", "exact_match", "return", "value", "overlap",
    "margin", "average_precision", "coverage", "precision", "recall",
}  # fmt: skip


def test_every_metric_has_its_direction() -> None:
    assert {name for name, metric in METRICS.items() if metric.higher_is_better} == HIGHER
    assert HIGHER_IS_BETTER == HIGHER
    assert all(name == metric.name for name, metric in METRICS.items())


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.booleans())
def test_the_better_value_has_the_lower_cost(a: float, b: float, higher: bool) -> None:
    metric = Metric("own", max, higher_is_better=higher)
    better = a > b if higher else a < b
    assert (metric.cost(a) < metric.cost(b)) == better


@pytest.mark.parametrize("metric", [ERROR, ACCURACY])
def test_what_is_not_a_number_costs_more_than_anything(metric: Metric) -> None:
    assert metric.cost(math.nan) == math.inf


@pytest.mark.parametrize(
    ("name", "higher"),
    [
        ("validation_mean_iou", True),
        ("test accuracy", True),
        ("length 20: rmse", False),
        ("train_loss", False),
        ("seconds", False),
    ],
)
def test_the_direction_of_a_column_follows_from_its_metric(name: str, higher: bool) -> None:
    metric = metric_named(name)
    assert (metric is not None and metric.higher_is_better) == higher


def test_columns_find_their_metric() -> None:
    assert metric_named("validation_mean_iou") is MEAN_IOU
    assert metric_named("length 20: error") is ERROR
    assert metric_named("seconds") is None


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("validation_error", 0.0123, "1.23 %"),
        ("accuracy", 1.0, "100.00 %"),
        ("rmse", 3.14159, "3.142"),
        ("train_loss", 1e-9, "1e-09"),
        ("auc", None, "–"),
        ("auc", math.nan, "–"),
    ],
)
def test_a_metric_is_printed_as_people_write_it(name: str, value: float | None, shown: str) -> None:
    assert format_metric(name, value) == shown


def test_a_metric_may_be_computed_by_another_function() -> None:
    other = ACCURACY.computed_by(lambda output, y: 0.25)
    assert other(torch.zeros(2, 2), torch.zeros(2)) == 0.25
    assert (other.name, other.higher_is_better, other.percent) == ("accuracy", True, True)
