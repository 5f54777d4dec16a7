"""Pictures and tables of a search and of calibration show what they were given."""

import numpy as np
import pytest
from matplotlib.axes import Axes
from rich.console import Console

from chainrule.console.search import importance_table, trials_table, watch_search
from chainrule.errors import InputError
from chainrule.learning.metrics import format_metric
from chainrule.plots.calibration import Bins, reliability_diagram
from chainrule.plots.tuning import importance_bars, search_history, slices

VALUES = [0.30, 0.10, 0.20, 0.05, 0.07]
ENDED = [True, True, False, True, True]


def labeled(axes: Axes, name: str) -> np.ndarray:
    line = next(line for line in axes.get_lines() if line.get_label() == name)
    return np.column_stack(line.get_data())


def test_bars_are_ranked_and_written_out() -> None:
    (axes,) = importance_bars({"dropout": 0.25, "learning_rate": 0.7, "hidden": 0.05}).axes
    assert [text.get_text() for text in axes.get_yticklabels()] == [
        "hidden",
        "dropout",
        "learning rate",
    ]
    assert [bar.get_width() for bar in axes.patches] == [0.05, 0.25, 0.7]
    assert [text.get_text() for text in axes.texts] == ["5 %", "25 %", "70 %"]


def test_the_history_never_gets_worse_and_pruned_trials_do_not_count() -> None:
    (axes,) = search_history(VALUES, ENDED, "error").axes
    best = labeled(axes, "best so far")
    assert best[:, 1].tolist() == [0.30, 0.10, 0.10, 0.05, 0.05]
    assert labeled(axes, "pruned").tolist() == [[2, 0.20]]
    assert axes.get_title(loc="left") == "best 5.00 % of 5 trials"
    (axes,) = search_history([0.5, 0.9, 0.7], [True] * 3, "accuracy", "greater").axes
    assert labeled(axes, "best so far")[:, 1].tolist() == [0.5, 0.9, 0.9]


@pytest.mark.parametrize(("better", "words"), [("smaller", "above"), ("greater", "below")])
def test_bad_trials_are_clipped_and_good_ones_are_not(better: str, words: str) -> None:
    sign = 1 if better == "smaller" else -1
    values = [sign * value for value in (0.05, 0.10, 0.11, 0.12, 9.0)]
    (axes,) = search_history(values, [True] * 5, "r2", better).axes
    assert labeled(axes, "trial")[:, 1].tolist() == values[:4]
    (far,) = labeled(axes, f"far {words}")
    assert far == pytest.approx([4, sign * 0.35])
    (axes,) = slices(
        {"rate": [1, 2, 3, 4, 5]}, values, [0.0] * 5, [True] * 5, "r2", (), better
    ).axes
    assert labeled(axes, "trial")[:, 1].tolist() == values[:4]


def test_slices_have_axes_of_numbers_or_of_words() -> None:
    settings = {
        "learning_rate": [1e-3, 1e-2, 0.0, 1e-1, 1e-2],
        "hidden": ["8", "8 4", "8", "4", "4"],
    }
    rate, hidden = slices(settings, VALUES, [0.01] * 5, ENDED, "error", {"learning_rate"}).axes
    assert rate.get_xscale() == "log" and hidden.get_xscale() == "linear"
    assert labeled(rate, "pruned").tolist() == [[1e-4, 0.20]]  # 0 stands a decade further left
    assert "0" in [text.get_text() for text in rate.texts]
    assert [text.get_text() for text in hidden.get_xticklabels()] == ["4", "8", "8 4"]


def test_pictures_of_nothing_are_refused() -> None:
    with pytest.raises(InputError, match="at least one setting"):
        importance_bars({})
    with pytest.raises(InputError, match="finite values"):
        search_history([float("nan")], [True], "error")
    with pytest.raises(InputError, match="got none"):
        reliability_diagram({})


def test_a_reliability_diagram_leaves_empty_bins_out() -> None:
    nan = float("nan")
    bins = Bins([nan, 0.4, 0.9], [nan, 0.5, 0.8], [0, 10, 30], 0.12)
    above, below = reliability_diagram({"mean": bins}, "test").axes
    curve = labeled(above, "mean: calibration error 12.00 %")
    assert curve.tolist() == [[0.4, 0.5], [0.9, 0.8]]
    assert below.patches[0].get_data().values.tolist() == [0, 0.25, 0.75]


def row(trial: int, value: float, state: str = "complete") -> dict[str, object]:
    settings = {"hidden": [128, 128], "learning_rate": 0.00123, "weight_decay": 1.81e-05}
    settings |= {"label_smoothing": 0.0951, "dropout": [0.25, 0.25]}
    return {
        "trial": trial,
        "state": state,
        "value": value,
        "standard_error": 0.01,
        "settings": settings,
    }


def printed(renderable: object) -> list[str]:
    console = Console(width=80, file=None)
    with console.capture() as capture:
        console.print(renderable)
    return [line.rstrip() for line in capture.get().splitlines() if line.strip()]


def test_the_best_trials_come_first_within_80_columns() -> None:
    trials = [row(0, 0.3), row(1, 0.1), row(2, 0.01, "pruned"), row(3, 0.2)]
    result = {"metric": "error", "folds": 5, "better": "smaller", "trials": trials}
    lines = printed(trials_table(result, format_metric))
    assert not any("…" in line for line in lines) and max(map(len, lines)) <= 80
    assert [line.split()[0] for line in lines[-3:]] == ["1", "3", "0"]
    assert "10.00 ± 1.00 %" in lines[-3] and "128 128" in lines[-3] and "1.81e-05" in lines[-3]
    lines = printed(trials_table(result | {"better": "greater"}, format_metric))
    assert [line.split()[0] for line in lines[-3:]] == ["0", "3", "1"]
    assert printed(importance_table({"learning_rate": 0.625}))[-1].split() == [
        "learning",
        "rate",
        "62",
        "%",
    ]


def test_a_quiet_search_passes_its_steps_on() -> None:
    steps = iter([])
    assert watch_search(steps, "error", format_metric, quiet=True) is steps
