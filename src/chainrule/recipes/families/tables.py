"""Shared by networks for tables: reports, importance and effects of the columns."""

from typing import TYPE_CHECKING

from chainrule.data.readers.tables.table_encoder import TableEncoder
from chainrule.recipes.families.class_reports import (
    calibration_figure,
    chosen_decision,
    class_report,
    with_class_metrics,
)
from chainrule.runs.column_effects import (
    MAX_CLASSES,
    SHOWN,
    Importance,
    effects,
    importance_text,
    importances,
)
from chainrule.runs.predictions import Metrics, Predictions

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def with_report(predictions: Predictions, found: Metrics, criterion: str) -> Metrics:
    """The metrics with precision, recall, F1, average precision and calibration, by threshold."""
    data = predictions.data
    if not data.classes:
        return found
    threshold = chosen_decision(predictions, criterion).get("threshold", 0.5)
    return with_class_metrics(predictions, found, threshold)


def column_importances(predictions: Predictions) -> list[Importance]:
    return predictions.once("importances", lambda: importances(predictions))


def rise(predictions: Predictions) -> str:
    """What rises when a column is shuffled."""
    return "rise of the test loss" if predictions.data.classes else "rise of the test rmse"


def table_texts(predictions: Predictions, criterion: str) -> dict[str, str]:
    """The importance of the columns, and for classes the report."""
    if not isinstance(predictions.data.encoder, TableEncoder):
        return {}
    found = {"importance": importance_text(column_importances(predictions), rise(predictions))}
    data = predictions.data
    if data.classes:
        threshold = chosen_decision(predictions, criterion).get("threshold", 0.5)
        found |= class_report(predictions, threshold)
    return found


def table_figures(predictions: Predictions) -> "dict[str, Figure]":
    """The importance of the columns, the effects of the most important, and the calibration."""
    from chainrule.plots.columns import column_effects, column_importance

    data, found = predictions.data, column_importances(predictions)
    names, mean, std = (list(part) for part in zip(*found, strict=True))
    drawn = {"importance": column_importance(names, mean, std, rise(predictions))}
    shown = effects(predictions, names[:SHOWN])
    if shown:
        drawn["effects"] = _effects_figure(predictions, shown, column_effects)
    if data.classes:
        drawn["calibration"] = calibration_figure(predictions)
    return drawn


def _effects_figure(predictions: Predictions, shown: list, draw) -> "Figure":  # type: ignore[no-untyped-def]
    data = predictions.data
    if not data.classes:
        return draw(shown, [data.encoder.target], f"mean predicted {data.encoder.target}")
    if len(data.classes) == 2:
        second = [(name, values, output[:, 1:]) for name, values, output in shown]
        return draw(second, data.classes[1:], f"mean probability of {data.classes[1]!r}", True)
    return draw(shown, data.classes[:MAX_CLASSES], "mean probability", True)
