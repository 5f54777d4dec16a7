"""Metrics of an ensemble: mean and spread of its members, and its calibration."""

import math
from collections.abc import Callable, Sequence
from statistics import fmean, pstdev
from typing import TYPE_CHECKING

import torch

from chainrule.learning.calibration import calibration_error, reliability
from chainrule.models.feedforward.ensemble import Ensemble
from chainrule.runs.predictions import SPLITS, Metrics, Predictions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CALIBRATION = "calibration error"


def one_class_each(predictions: Predictions) -> bool:
    """Whether every example has one class, so that calibration is defined."""
    data = predictions.data
    return bool(data.classes) and data.test.y.ndim == 1


def with_calibration(predictions: Predictions, metrics: Metrics) -> Metrics:
    """The metrics with the calibration error of the mean probabilities."""
    if not one_class_each(predictions):
        return metrics
    return {
        split: found | {CALIBRATION: calibration_of(predictions, split)}
        for split, found in metrics.items()
    }


def calibration_of(predictions: Predictions, split: str) -> float:
    """Calibration error on a split."""
    y = getattr(predictions.data, split).y
    return calibration_error(predictions.outputs(split).softmax(1), y)


def member_statistics(predictions: Predictions) -> dict[str, Metrics]:
    """Mean and standard deviation over the members of every metric."""
    assert isinstance(predictions.model, Ensemble)
    members = [predictions.member(k) for k in range(len(predictions.model.members))]
    alone = [with_calibration(member, member.recipe.evaluate(member)) for member in members]

    def over_members(summary: Callable[[list[float]], float]) -> Metrics:
        return {
            split: {name: summary([m[split][name] for m in alone]) for name in alone[0][split]}
            for split in SPLITS
        }

    return {
        "mean of its members": over_members(fmean),
        "standard deviation of its members": over_members(spread),
    }


def spread(values: Sequence[float]) -> float:
    """Standard deviation of the members; NaN where a metric is not defined, as AUC of one class."""
    return pstdev(values) if all(map(math.isfinite, values)) else math.nan


def reliability_pictures(predictions: Predictions) -> "dict[str, Figure]":
    """Reliability diagrams of the ensemble and of all its members on the test split."""
    if not one_class_each(predictions):
        return {}
    from chainrule.plots.calibration import Bins, reliability_diagram

    y = predictions.data.test.y
    each = [f.softmax(1) for f in predictions.member_outputs("test")]
    mean, errors = predictions.outputs("test").softmax(1), [calibration_error(p, y) for p in each]
    both = {
        "ensemble": (mean, y, calibration_error(mean, y)),
        "its members": (torch.cat(each), y.repeat(len(each)), fmean(errors)),
    }
    series = {}
    for name, (p, labels, error) in both.items():
        confidence, accuracy, number = (t.numpy() for t in reliability(p, labels))
        series[name] = Bins(confidence, accuracy, number, error)
    return {"calibration": reliability_diagram(series, f"test: {len(each)} members and their mean")}
