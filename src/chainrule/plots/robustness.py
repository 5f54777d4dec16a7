"""Robustness: metrics when points are missing, or when sets are larger than in training."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from chainrule.errors import InputError
from chainrule.plots.checks import same_lengths
from chainrule.plots.palette import BLUE, FAINT, QUIET
from chainrule.plots.style import canvas, color, in_percent, legend_below, marker, styled


@styled
def accuracy_by_missing(
    missing: Sequence[float], accuracies: Mapping[str, Sequence[float]], chance: float
) -> Figure:
    """Accuracy against the fraction of missing points, one line per way of dropping them.

    missing: the fractions.
    accuracies: the accuracy at each fraction, by name.
    chance: the accuracy of guessing, drawn dotted.
    """
    if not accuracies:
        raise InputError("expected at least one line of accuracies")
    figure = canvas()
    axes = figure.add_subplot()
    for number, (name, values) in enumerate(accuracies.items()):
        same_lengths(missing=missing, accuracies=values)
        axes.plot(missing, values, color=color(number), marker=marker(number), label=name)
    axes.axhline(chance, color=QUIET, linestyle=":", linewidth=1.5)
    axes.text(0, chance + 0.012, "chance", color=QUIET)
    axes.set(xlabel="missing points", ylabel="accuracy", ylim=(0, 1.03))
    in_percent(axes.xaxis)
    in_percent(axes.yaxis)
    axes.set_title("test accuracy with missing points")
    if len(accuracies) > 1:
        legend_below(figure)
    return figure


@styled
def error_by_size(
    sizes: Sequence[int], errors: Sequence[float], largest: int, title: str
) -> Figure:
    """Mean absolute error against the size of the input set.

    sizes, errors: one error per size.
    largest: the size of the largest set in training; larger sizes are shaded.
    """
    same_lengths(sizes=sizes, errors=errors)
    end = 1.03 * max(sizes)
    figure = canvas()
    axes = figure.add_subplot()
    axes.axvspan(largest, end, color=FAINT, alpha=0.6, linewidth=0)
    axes.plot(sizes, errors, color=BLUE, marker="o")
    axes.set(xlabel="set size", ylabel="mean absolute error", ylim=(0, None))
    axes.set_xlim(0, end)
    axes.text(largest, axes.get_ylim()[1] * 0.97, "  larger than any in training", va="top")
    axes.set_title(title)
    return figure
