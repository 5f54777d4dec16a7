"""Every metric of a model on its data, and how a notebook shows them."""

from html import escape
from typing import Any

from torch import nn

from chainrule.learning.metrics import format_metric
from chainrule.models.feedforward.ensemble import Ensemble
from chainrule.runs.configuration import Configuration
from chainrule.runs.predictions import Metrics, Predictions


def evaluate_run(configuration: Configuration, model: nn.Module, data: Any) -> Metrics:
    """Every metric of a model on its data."""
    return measure(Predictions(configuration.recipe, model, data))


def measure(predictions: Predictions) -> Metrics:
    """The recipe's metrics; for an ensemble also how well it is calibrated."""
    found = predictions.recipe.evaluate(predictions)
    if isinstance(predictions.model, Ensemble):
        from chainrule.runs.ensembles import with_calibration

        return with_calibration(predictions, found)
    return found


def as_html(title: str, splits: Metrics) -> str:
    """A table with a column for each split; the title alone where nothing was measured."""
    if not splits:
        return escape(title)
    names = list(dict.fromkeys(name for metrics in splits.values() for name in metrics))
    rows = "".join(
        f"<tr><th>{escape(name)}</th>"
        + "".join(f"<td>{format_metric(name, found.get(name))}</td>" for found in splits.values())
        + "</tr>"
        for name in names
    )
    head = "".join(f"<th>{escape(split)}</th>" for split in splits)
    return f"<b>{escape(title)}</b><table><tr><th></th>{head}</tr>{rows}</table>"
