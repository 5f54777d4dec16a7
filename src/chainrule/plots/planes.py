"""Functions of the plane side by side, such as random networks. Notes: A 1.2.2.

Random networks by activation, width and depth, `docs/pictures/random-networks.png`:

>>> import torch
>>> from chainrule.models.feedforward.mlp import MLP
>>> def network(activation, width, depth):
...     model = torch.manual_seed(0) and MLP(2, [width] * depth, 1, activation)
...     return lambda x: model(torch.as_tensor(x).float())[:, 0].detach().numpy()
>>> rows = {
...     f"{name}, width {width}": [network(name, width, depth) for depth in (1, 3, 10)]
...     for name in ("relu", "tanh") for width in (8, 64)
... }
>>> figure = function_grid(rows, ["1 layer", "3 layers", "10 layers"])
>>> figure.savefig("random-networks.png")
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from chainrule.errors import InputError
from chainrule.plots.checks import array
from chainrule.plots.style import DIVERGING_MAP, canvas, styled

Function = Callable[[Float[np.ndarray, "points 2"]], ArrayLike]
SIDE = 120  # points along each side


@styled
def function_grid(
    rows: Mapping[str, Sequence[Function]],
    columns: Sequence[str],
    radius: float = 3.0,
    title: str = "",
) -> Figure:
    """Functions on the square [-radius, radius]², each on its own scale.

    A function is blue where it is low, white at its middle value, orange where it is high.

    rows: by name, the functions of a row, one per column; each maps points (N, 2) to values (N,).
    columns: what the columns are.
    """
    if not rows or not columns or any(len(row) != len(columns) for row in rows.values()):
        raise InputError(f"expected {len(columns)} functions in every row, one per column")
    if not radius > 0:
        raise InputError(f"`radius` must be above 0, got {radius}")
    side = np.linspace(-radius, radius, SIDE)
    points = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    figure = canvas(1.9 * len(columns) + 1.2, 1.9 * len(rows) + 0.9)
    grid = figure.subplots(len(rows), len(columns), squeeze=False)
    for axes_of_row, (name, functions) in zip(grid, rows.items(), strict=True):
        for axes, function in zip(axes_of_row, functions, strict=True):
            values = array(name, function(points), SIDE**2).astype(float)
            values = values - np.median(values)
            largest = np.quantile(np.abs(values), 0.98) or 1.0
            image = values.reshape(SIDE, SIDE)
            axes.imshow(image, DIVERGING_MAP, vmin=-largest, vmax=largest, origin="lower")
            axes.set(xticks=[], yticks=[])
            axes.grid(False)
        axes_of_row[0].set_ylabel(name)
    for axes, name in zip(grid[0], columns, strict=True):
        axes.set_title(name, fontsize=13, loc="center")
    figure.suptitle(title, fontsize=15)
    return figure
