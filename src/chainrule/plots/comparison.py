"""Learning curves of several runs on the same axes."""

from collections.abc import Mapping, Sequence
from typing import SupportsFloat

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from chainrule.errors import InputError
from chainrule.plots.style import canvas, color, legend_below, shortened, styled

PANELS = 3  # metrics that are styled
LONGEST = 40  # letters of a run's name in the legend

History = Sequence[Mapping[str, SupportsFloat]]


@styled
def compared_curves(histories: Mapping[str, History]) -> Figure:
    """The training loss, the validation loss, and the first metric, a line for each run."""
    columns = panels(histories)
    if not columns:
        raise InputError("expected runs with epochs to draw, got none")
    figure = canvas(5.5 * len(columns) + 1, 5.2)
    names = shortened(list(histories), LONGEST)
    grid = figure.subplots(1, len(columns), squeeze=False).ravel()
    for axes, column in zip(grid, columns, strict=True):
        for index, history in enumerate(histories.values()):
            points = [(float(r["epoch"]), float(r[column])) for r in history if column in r]
            epochs, values = np.array(points).reshape(-1, 2).T
            dot = "o" if len(points) == 1 else ""
            label = names[index] if axes is grid[0] else None
            axes.plot(epochs, values, f"{dot}-", color=color(index), label=label)
        axes.set(title=column.replace("train_", "training ").replace("_", " "), xlabel="epoch")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    legend_below(figure)
    return figure


def panels(histories: Mapping[str, History]) -> list[str]:
    """Columns that are styled: both losses and the first metric of the validation split."""
    known = list(dict.fromkeys(key for h in histories.values() for row in h for key in row))
    first = [key for key in ("train_loss", "validation_loss") if key in known]
    rest = [key for key in known if key.startswith(("validation_", "train_")) and key not in first]
    rest.sort(key=lambda key: key.startswith("train_"))
    return [*first, *rest][:PANELS]
