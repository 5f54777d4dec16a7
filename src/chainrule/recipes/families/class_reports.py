"""Shared by classifiers of a user's own data: precision, recall, F1 and calibration."""

from typing import TYPE_CHECKING

from chainrule.errors import InputError
from chainrule.learning import reports
from chainrule.runs.decisions import decision
from chainrule.runs.predictions import SPLITS, Metrics, Predictions

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def check_threshold(criterion: str, classes: tuple[str, ...]) -> None:
    """Refuse a threshold where it would decide nothing."""
    if criterion != "half" and len(classes) != 2:
        found = f"are {len(classes)}" if classes else "is a number to be predicted"
        raise InputError(
            f"`threshold` {criterion} decides between two classes, and here {found}; leave it out"
        )


def chosen_decision(predictions: Predictions, criterion: str) -> dict[str, float]:
    """The threshold or the radius of the interval, computed once."""
    return predictions.once(("decision", criterion), lambda: decision(predictions, criterion))


def threshold_of(predictions: Predictions, criterion: str) -> float:
    """From which probability on the second of two classes is predicted."""
    return chosen_decision(predictions, criterion).get("threshold", 0.5)


def with_class_metrics(predictions: Predictions, found: Metrics, threshold: float = 0.5) -> Metrics:
    """The metrics with precision, recall, F1, average precision and calibration error."""
    for split in SPLITS:
        p, y = reports.probabilities(predictions.outputs(split)), getattr(predictions.data, split).y
        right = (reports.chosen_classes(p, threshold) == y).double().mean().item()
        own = {"error": 1 - right, "accuracy": right} if threshold != 0.5 else {}
        found[split] |= own | reports.classification_metrics(p, y, threshold)
    return found


def class_report(predictions: Predictions, threshold: float = 0.5) -> dict[str, str]:
    """report.txt: a line for each class of the test split."""
    data = predictions.data
    p = reports.probabilities(predictions.outputs("test"))
    return {"report": reports.report(p, data.test.y, data.classes, threshold)}


def calibration_figure(predictions: Predictions) -> "Figure":
    """How often the test predictions of each confidence are right."""
    from chainrule.learning.calibration import calibration_error, reliability
    from chainrule.plots.calibration import Bins, reliability_diagram

    y = predictions.data.test.y
    p = reports.probabilities(predictions.outputs("test"))
    confidence, accuracy, number = (t.numpy() for t in reliability(p, y))
    bins = Bins(confidence, accuracy, number, calibration_error(p, y))
    return reliability_diagram({"test": bins})
