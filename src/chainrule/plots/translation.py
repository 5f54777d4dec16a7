"""Pictures of translation: which word looked at which, and how long sentences fare."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from chainrule.errors import InputError
from chainrule.plots.checks import array
from chainrule.plots.style import PALETTE, canvas, color, drawn, legend_below, marker

BLUES = LinearSegmentedColormap.from_list("weights", ["white", PALETTE[3], PALETTE[0]])


@drawn
def alignments(sentences: Sequence[tuple[Sequence[str], Sequence[str], ArrayLike]]) -> Figure:
    """A panel for each (source words, written words, weights): how much a word looked at which."""
    if not sentences:
        raise InputError("expected at least one sentence with its alignment")
    rows = (len(sentences) + 1) // 2
    columns = min(2, len(sentences))
    figure = canvas(7.0 * columns, 6.0 * rows)
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes in grid[len(sentences) :]:
        axes.remove()
    for axes, (source, written, weights) in zip(grid, sentences, strict=False):
        _alignment(axes, source, written, weights)
    figure.suptitle("where the decoder looks: a row for each word it writes", fontsize=15)
    return figure


def _alignment(
    axes: Axes, source: Sequence[str], written: Sequence[str], weights: ArrayLike
) -> None:
    a = array("weights", weights, len(written), len(source))
    axes.imshow(a, cmap=BLUES, vmin=0, vmax=1, aspect="auto")
    axes.set_xticks(range(len(source)), source, rotation=50, ha="left", rotation_mode="anchor")
    axes.set_yticks(range(len(written)), written)
    axes.xaxis.tick_top()
    axes.grid(False)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


@drawn
def bleu_by_length(
    models: Mapping[str, Sequence[tuple[float, float, int]]], title: str = ""
) -> Figure:
    """A line for each model through (mean length, BLEU, number of sentences) of its groups."""
    if not models or not all(models.values()):
        raise InputError("expected the BLEU of at least one group of sentences")
    figure = canvas(8.0, 5.5)
    axes = figure.add_subplot()
    for index, (name, groups) in enumerate(models.items()):
        length, score, _ = zip(*groups, strict=True)
        axes.plot(length, score, marker(index) + "-", color=color(index), ms=7, label=name)
    for length_of_group, _, number in next(iter(models.values())):
        axes.annotate(
            f"{number}",
            xy=(length_of_group, 0.01),
            xycoords=("data", "axes fraction"),
            ha="center",
            fontsize=11,
        )
    axes.set(xlabel="words of the German sentence (beneath: how many sentences)", ylabel="BLEU")
    axes.set_ylim(bottom=0)
    axes.set_title(title or "BLEU by the length of the sentence")
    if len(models) > 1:
        legend_below(figure)
    return figure
