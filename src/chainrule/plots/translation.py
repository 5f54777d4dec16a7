"""Machine translation: alignments by attention, BLEU by sentence length."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from chainrule.errors import InputError
from chainrule.plots.checks import array
from chainrule.plots.style import SEQUENTIAL_MAP, canvas, color, legend_below, marker, styled


@styled
def alignments(sentences: Sequence[tuple[Sequence[str], Sequence[str], ArrayLike]]) -> Figure:
    """The attention from each output word to the source words, one panel per sentence.

    sentences: (source words, output words, weights) with weights (output, source).
    """
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
    figure.suptitle("attention of the decoder (row: output word, column: source word)", fontsize=15)
    return figure


def _alignment(
    axes: Axes, source: Sequence[str], written: Sequence[str], weights: ArrayLike
) -> None:
    a = array("weights", weights, len(written), len(source))
    axes.imshow(a, cmap=SEQUENTIAL_MAP, vmin=0, vmax=1, aspect="auto")
    axes.set_xticks(range(len(source)), source, rotation=50, ha="left", rotation_mode="anchor")
    axes.set_yticks(range(len(written)), written)
    axes.xaxis.tick_top()
    axes.grid(False)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


@styled
def bleu_by_length(
    models: Mapping[str, Sequence[tuple[float, float, int]]], title: str = ""
) -> Figure:
    """BLEU by sentence length, one line per model.

    models: (mean length, BLEU, number of sentences) of each group of sentences, by model.
    """
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
    axes.set(xlabel="words per source sentence (at the bottom: number of sentences)", ylabel="BLEU")
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_title(title or "BLEU by sentence length")
    if len(models) > 1:
        legend_below(figure)
    return figure
