"""How an answer suffers when data are taken away, or when there are more than ever before."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from chainrule.errors import InputError
from chainrule.plots.checks import same_lengths
from chainrule.plots.style import (
    FAINT,
    PALETTE,
    QUIET,
    canvas,
    color,
    drawn,
    in_per_cent,
    legend_below,
    marker,
)


@drawn
def accuracy_by_missing(
    missing: Sequence[float], accuracies: Mapping[str, Sequence[float]], chance: float
) -> Figure:
    """Accuracy against the share of points that are missing, one line for each way to lose them."""
    if not accuracies:
        raise InputError("expected at least one line of accuracies")
    figure = canvas()
    axes = figure.add_subplot()
    for number, (name, values) in enumerate(accuracies.items()):
        same_lengths(missing=missing, accuracies=values)
        axes.plot(missing, values, color=color(number), marker=marker(number), label=name)
    axes.axhline(chance, color=QUIET, linestyle=":", linewidth=1.5)
    axes.text(0, chance + 0.012, "guessing", color=QUIET)
    axes.set(xlabel="points missing", ylabel="accuracy", ylim=(0, 1.03))
    in_per_cent(axes.xaxis)
    in_per_cent(axes.yaxis)
    axes.set_title("accuracy when points are missing, test")
    if len(accuracies) > 1:
        legend_below(figure)
    return figure


@drawn
def error_by_size(sizes: Sequence[int], errors: Sequence[float], largest: int, what: str) -> Figure:
    """Mean absolute error of a number that is asked of a set, against the size of the set.

    largest: the size of the largest set in training; to its right everything is new.
    """
    same_lengths(sizes=sizes, errors=errors)
    end = 1.03 * max(sizes)
    figure = canvas()
    axes = figure.add_subplot()
    axes.axvspan(largest, end, color=FAINT, alpha=0.6, linewidth=0)
    axes.plot(sizes, errors, color=PALETTE[0], marker="o")
    axes.set(xlabel="elements of the set", ylabel="mean absolute error", ylim=(0, None))
    axes.set_xlim(0, end)
    axes.text(largest, axes.get_ylim()[1] * 0.97, "  larger than any in training", va="top")
    axes.set_title(what)
    return figure
