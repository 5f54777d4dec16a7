"""What one sees of a run and of a claim."""

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from chainrule.errors import InputError
from chainrule.plots.claims import claim_figure
from chainrule.plots.curves import learning_curves


def history(epochs: int) -> list[dict[str, float]]:
    return [
        {
            "epoch": e,
            "train_loss": 1 / e,
            "validation_loss": 1 / e + 0.1,
            "validation_error": 0.02 + 0.001 * abs(e - 2),
            "seconds": 1.5,
        }
        for e in range(1, epochs + 1)
    ]


def line(axes: Axes, label: str) -> Line2D:
    return next(line for line in axes.get_lines() if line.get_label() == label)


def texts(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


@pytest.mark.parametrize("epochs", [1, 3, 500])
def test_losses_stand_left_and_the_metric_right(epochs: int) -> None:
    left, right = learning_curves(history(epochs)).axes
    assert [line.get_label() for line in left.get_lines()] == ["training", "validation", "best"]
    assert [line.get_label() for line in right.get_lines()] == ["validation", "best"]
    assert len(line(left, "training").get_xdata()) == epochs
    assert texts(left) == ["training,\nrunning mean", "validation"]
    assert texts(right) == ["validation"]


def test_the_ring_lies_on_the_best_epoch_which_the_title_names() -> None:
    _, right = learning_curves(history(5)).axes
    assert line(right, "best").get_xdata() == [2]
    assert line(right, "best").get_ydata() == [0.02]
    assert right.get_title(loc="left") == "error: best 0.02 (epoch 2)"


@pytest.mark.parametrize(
    ("value", "title"),
    [(1152.4, "loss: kept 1,152 (epoch 1)"), (999.4, "loss: kept 999 (epoch 1)")],
)
def test_a_large_number_is_written_out(value: float, title: str) -> None:
    rows = [{"epoch": k, "train_loss": value, "validation_loss": value} for k in (1, 2)]
    assert learning_curves(rows, kept=1).axes[0].get_title(loc="left") == title


def test_the_ring_lies_on_the_kept_epoch_if_one_is_named() -> None:
    left, right = learning_curves(history(5), kept=4).axes
    assert line(right, "kept").get_xdata() == [4]
    assert right.get_title(loc="left") == "error: kept 0.022 (epoch 4)"
    assert left.get_title(loc="left") == "loss: kept 0.35 (epoch 4)"
    assert "best" not in [line.get_label() for line in right.get_lines()]
    with pytest.raises(InputError, match="kept must be an epoch from 1 to 5, got 6"):
        learning_curves(history(5), kept=6)


def test_a_kept_epoch_without_a_value_gets_no_ring() -> None:
    rows = [{"validation_loss": 1.0}, {"validation_loss": float("nan")}]
    (axes,) = learning_curves(rows, kept=2).axes
    assert [line.get_label() for line in axes.get_lines()] == ["validation"]


@pytest.mark.parametrize(
    ("epochs", "ticks"),
    [
        (1, [1]),
        (2, [1, 2]),
        (7, [1, 2, 3, 4, 5, 6, 7]),
        (40, [1, 10, 20, 30, 40]),
        (57, [1, 10, 20, 30, 40, 50, 57]),
        (62, [1, 20, 40, 62]),
    ],
)
def test_ticks_run_from_the_first_epoch_to_the_last(epochs: int, ticks: list[int]) -> None:
    for axes in learning_curves(history(epochs)).axes:
        assert list(axes.get_xticks()) == ticks


@pytest.mark.parametrize(("metrics", "grid"), [(1, (1, 2)), (2, (1, 3)), (3, (2, 2)), (5, (2, 3))])
def test_panels_leave_no_place_empty(metrics: int, grid: tuple[int, int]) -> None:
    names = ["train_loss", *(f"validation_m{i}" for i in range(metrics))]
    axes = learning_curves([dict.fromkeys(names, 1.0)]).axes
    assert len(axes) == metrics + 1
    assert axes[0].get_gridspec().get_geometry() == grid


@pytest.mark.parametrize("metric", ["mean_iou", "accuracy", "a new metric"])
def test_the_caller_says_for_which_metrics_the_highest_is_best(metric: str) -> None:
    rows = [{"validation_loss": v, f"validation_{metric}": v} for v in (0.5, 0.9, 0.7, 0.4)]
    loss, panel = learning_curves(rows, higher_is_better={metric}).axes
    assert line(panel, "best").get_xdata() == [2] and line(loss, "best").get_xdata() == [4]
    _, panel = learning_curves(rows).axes
    assert line(panel, "best").get_xdata() == [4]


def test_the_caller_says_how_a_metric_is_written() -> None:
    def percent(name: str, value: float) -> str:
        return f"{100 * value:.1f} %" if name == "error" else f"{value:.2f}"

    left, right = learning_curves(history(3), ("LeCun 1998", 0.016), format_value=percent).axes
    assert right.get_title(loc="left") == "error: best 2.0 % (epoch 2)"
    assert left.get_title(loc="left") == "loss: best 0.43 (epoch 3)"
    assert "LeCun 1998: 1.6 %" in texts(right)
    assert right.yaxis.get_major_formatter()(0.025) == "2.5 %"


def test_without_validation_there_is_one_panel_and_no_ring() -> None:
    (axes,) = learning_curves([{"train_loss": 1.0}, {"train_loss": 0.5}]).axes
    assert [line.get_label() for line in axes.get_lines()] == ["training"]
    assert axes.get_title(loc="left") == "loss"


def test_the_published_figure_is_a_labeled_dashed_line_beside_the_metric() -> None:
    left, right = learning_curves(history(3), ("LeCun 1998", 0.016)).axes
    assert "published" not in [line.get_label() for line in left.get_lines()]
    assert list(line(right, "published").get_ydata()) == [0.016, 0.016]
    assert "LeCun 1998: 0.016" in texts(right)
    assert right.get_ylim()[0] < 0.016


def test_a_published_loss_goes_to_the_loss() -> None:
    left, _ = learning_curves(history(3), ("published loss", 0.3)).axes
    assert "published loss: 0.3" in texts(left)


def test_epochs_without_a_value_are_passed_over() -> None:
    rows = [{"train_loss": float("nan")}, {"train_loss": 2.0}, {"train_loss": 1.0}]
    rows[2]["validation_loss"] = float("inf")
    rows[1]["validation_loss"] = 3.0
    (axes,) = learning_curves(rows).axes
    assert list(line(axes, "training").get_xdata()) == [2, 3]
    assert line(axes, "best").get_xdata() == [2]


def test_a_loss_that_falls_far_gets_a_logarithmic_axis() -> None:
    (axes,) = learning_curves([{"train_loss": 5.0}, {"train_loss": 0.01}]).axes
    assert axes.get_yscale() == "log"
    assert axes.yaxis.get_major_formatter()(0.1) == "0.1"


@pytest.mark.parametrize("rows", [[], [{"epoch": 1}], [{"train_loss": float("nan")}]])
def test_a_history_with_nothing_to_draw_is_refused(rows: list[dict[str, float]]) -> None:
    with pytest.raises(InputError, match="expected a history with finite values"):
        learning_curves(rows)


def test_a_claim_shows_every_curve_point_bound_and_mark() -> None:
    x = np.linspace(1, 2, 5)
    figure = claim_figure(
        "recall breaks down",
        "load",
        "recalled",
        curves={"n = 8": (x, x**2)},
        points={"n = 8": (x, x**2 + 0.1), "n = 4": (x, x)},
        marks={"transition": 1.5},
        bounds={"bound": (x, x**3)},
        log="x",
    )
    (axes,) = figure.axes
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == ["n = 8, predicted", "n = 8, measured", "n = 4", "bound"]
    assert line(axes, "bound").is_dashed()
    assert line(axes, "n = 8, predicted").get_color() == line(axes, "n = 8, measured").get_color()
    assert texts(axes) == ["transition"]
    assert axes.get_lines()[-1].get_xdata()[0] == 1.5
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "linear")
    assert axes.get_xlabel() == "load"


def test_a_measured_zero_stays_visible_on_a_logarithmic_axis() -> None:
    (axes,) = claim_figure("t", "x", "y", points={"m": ([1, 2, 3], [0, 1, 10])}, log="y").axes
    shown, edge = axes.get_lines()
    assert list(shown.get_xdata()) == [2, 3]
    assert (list(edge.get_xdata()), list(edge.get_ydata())) == ([1], [0])


def test_a_mark_at_a_pair_is_a_text_beside_that_place() -> None:
    marks = {"(0,1) and (1,0)": (0.0, 0.0), "(1,1)": (1.0, 1.0), "middle": 0.5}
    (axes,) = claim_figure("t", "x", "y", points={"p": ([0, 1], [0, 1])}, marks=marks).axes
    assert texts(axes) == ["middle", "(0,1) and (1,0)", "(1,1)"]
    assert [text.xy for text in axes.texts[1:]] == [(0, 0), (1, 1)]
    assert [text.get_ha() for text in axes.texts[1:]] == ["left", "right"]
    assert len(axes.get_lines()) == 2  # the points and the one upright line


def test_claims_that_cannot_be_drawn_are_refused() -> None:
    with pytest.raises(InputError, match='expected log to be "", "x", "y" or "xy", got \'z\''):
        claim_figure("t", "x", "y", {"c": ([1], [1])}, log="z")
    with pytest.raises(InputError, match="equal lengths, got x 2, y 1"):
        claim_figure("t", "x", "y", {"c": ([1, 2], [1])})
    with pytest.raises(InputError, match=r"c: y of shape \(N,\), got \(1, 1\)"):
        claim_figure("t", "x", "y", {"c": ([1], [[1]])})
    with pytest.raises(InputError, match="c: expected a pair"):
        claim_figure("t", "x", "y", {"c": ([1],)})
    with pytest.raises(InputError, match="m: expected a mark at a number or a pair"):
        claim_figure("t", "x", "y", {"c": ([1], [1])}, marks={"m": (1, 2, 3)})
    with pytest.raises(InputError, match="a curve or measured points"):
        claim_figure("t", "x", "y")
