"""What an ensemble is worth: its members' mean and spread, and how well it knows its own errors."""

from collections.abc import Callable, Sequence
from statistics import fmean, pstdev
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from chainrule.data.splits import Split, Splits
from chainrule.learning.calibration import calibration_error, reliability
from chainrule.models.feedforward.ensemble import Ensemble
from chainrule.runs.recipe import SPLITS, Figures
from chainrule.training import outputs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CALIBRATION = "calibration error"


def one_class_each(data: Splits) -> bool:
    """Whether every example has one class, so that calibration means something."""
    return bool(data.classes) and data.test.y.ndim == 1


def calibrated(model: Ensemble, data: Splits, figures: Figures) -> Figures:
    """The figures with the calibration error of the mean opinion."""
    if not one_class_each(data):
        return figures
    return {
        name: found | {CALIBRATION: calibration_error(opinion(model, getattr(data, name)), y)}
        for name, found in figures.items()
        for y in [getattr(data, name).y]
    }


def compared(model: Ensemble, data: Splits, alone: Sequence[Figures]) -> dict[str, Figures]:
    """Mean and standard deviation over the members of every figure."""
    if one_class_each(data):
        errors = [member_errors(model, getattr(data, name)) for name in SPLITS]
        alone = [
            {
                name: figures[name] | {CALIBRATION: split[k]}
                for name, split in zip(SPLITS, errors, strict=True)
            }
            for k, figures in enumerate(alone)
        ]

    def over_members(summary: Callable[[list[float]], float]) -> Figures:
        return {
            split: {name: summary([m[split][name] for m in alone]) for name in alone[0][split]}
            for split in alone[0]
        }

    return {
        "mean of its members": over_members(fmean),
        "standard deviation of its members": over_members(pstdev),
    }


def opinion(model: Ensemble, split: Split) -> Tensor:
    """(examples, classes): the mean probabilities."""
    return outputs(model, (split.x,)).float().softmax(1)


def member_opinions(model: Ensemble, split: Split) -> list[Tensor]:
    """Every member's probabilities."""
    return [outputs(member, (split.x,)).float().softmax(1) for member in model.members]


def member_errors(model: Ensemble, split: Split) -> list[float]:
    """Every member's calibration error."""
    return [calibration_error(p, split.y) for p in member_opinions(model, split)]


def reliability_picture(model: Ensemble, data: Splits) -> "Figure":
    """The mean opinion beside its members, all their answers taken together, on the test split."""
    from chainrule.plots.calibration import Bins, reliability_diagram

    y = data.test.y
    each = member_opinions(model, data.test)
    mean, errors = opinion(model, data.test), [calibration_error(p, y) for p in each]
    both = {
        "ensemble": (mean, y, calibration_error(mean, y)),
        "its members": (torch.cat(each), y.repeat(len(each)), fmean(errors)),
    }
    series = {}
    for name, (p, labels, error) in both.items():
        confidence, accuracy, number = (t.numpy() for t in reliability(p, labels))
        series[name] = Bins(confidence, accuracy, number, error)
    return reliability_diagram(series, f"test: {len(each)} members and their mean")
