"""Cells and linear regions of a deep ReLU network on a box of ℝⁿ, enumerated exactly.

    cell of κ        {x in the box | the hidden units of all layers are on or off as in κ}
    linear region    cells joined across the facets at which the network stays the same affine map

There are at most as many regions as cells: a unit that switches need not change the network. It
changes nothing where no later unit listens, as on two neighboring cells on which the last hidden
layer is off. Linear programs find the cells and their facets, in double precision; what is thinner
than 10⁻⁹ counts as empty.

Montúfar et al. (2014), NeurIPS, count linear regions. Notes: J 2.5, which counts cells.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from numpy import ndarray
from torch import Tensor, nn

from chainrule.arguments import checked
from chainrule.errors import InputError
from chainrule.nn.regions import THIN, double, interior_point

SAME = 8  # decimals in which the affine maps of two cells must agree


@dataclass(frozen=True)
class BoxCells:
    """The cells of a network: pattern, a point inside, and the affine maps that hold there.

    On cell r the network is x ↦ weights[r] x + biases[r], and the inputs of its hidden units are
    units[r] (x, 1). `box` holds the sides of the box, as half-spaces a (x, 1) ≥ 0.
    """

    patterns: Bool[Tensor, "cells units"]
    points: Float[Tensor, "cells n"]
    weights: Float[Tensor, "cells outputs n"]
    biases: Float[Tensor, "cells outputs"]
    units: Float[Tensor, "cells units n+1"]
    box: Float[Tensor, "sides n+1"]

    def __len__(self) -> int:
        return len(self.patterns)


@checked
def box_cells(
    layers: Sequence[nn.Linear], low: Float[Tensor, " n"], high: Float[Tensor, " n"]
) -> BoxCells:
    """All cells of a ReLU network on the box from `low` to `high`.

    `layers` are its linear maps in order, with a ReLU between every two (`MLP.layers`).
    """
    n = len(low)
    if layers[0].in_features != n or not (low < high).all():
        raise InputError(
            f"the box must have {layers[0].in_features} sides, as the network has inputs, each "
            f"with low < high; got {low.tolist()} to {high.tolist()}"
        )
    box = np.block([[np.eye(n), -double(low)[:, None]], [-np.eye(n), double(high)[:, None]]])
    # Each cell: its point, the signs of its units, their maps so far, and the layer's inputs.
    cells = [(double(low + high) / 2, np.zeros(0), np.zeros((0, n + 1)), np.eye(n + 1)[:n])]
    for layer in layers[:-1]:
        grown = []
        for point, signs, units, h in cells:
            z = _affine(layer, h)
            for more, at in _split(z, point, np.vstack([box, signs[:, None] * units])):
                grown.append(
                    (at, np.append(signs, more), np.vstack([units, z]), (more > 0)[:, None] * z)
                )
        cells = grown
    points, signs, units, h = (np.stack(part) for part in zip(*cells, strict=True))
    f = np.stack([_affine(layers[-1], part) for part in h])
    parts = (signs > 0, points, f[..., :n].copy(), f[..., n].copy(), units, box)
    return BoxCells(*map(torch.from_numpy, parts))


def _affine(layer: nn.Linear, h: ndarray) -> ndarray:
    """W h + b, for maps h of (x, 1)."""
    z = double(layer.weight) @ h
    if layer.bias is not None:
        z[:, -1] += double(layer.bias)
    return z


def _split(z: ndarray, point: ndarray, sides: ndarray) -> list[tuple[ndarray, ndarray]]:
    """Signs of the units z of a layer, and a point, for each part into which they cut a cell."""
    parts = [(np.zeros(0), point)]
    for i, row in enumerate(z):
        if np.linalg.norm(row[:-1]) <= THIN:  # on or off throughout
            parts = [(np.append(signs, 1.0 if row[-1] > 0 else -1.0), at) for signs, at in parts]
            continue
        cut = []
        for signs, at in parts:
            value = (row[:-1] @ at + row[-1]) / np.linalg.norm(row[:-1])
            for sign in (-1.0, 1.0):
                longer = np.append(signs, sign)
                bounds = np.vstack([sides, longer[:, None] * z[: i + 1]])
                found = at if sign * value > THIN else _point(bounds)
                if found is not None:
                    cut.append((longer, found))
        parts = cut
    return parts


def _point(bounds: ndarray, equal: ndarray | None = None) -> ndarray | None:
    """A point of the polytope bounds (x, 1) ≥ 0 away from its sides, on the plane `equal`."""
    length = np.linalg.norm(bounds[:, :-1], axis=1)
    rows = bounds[length > THIN] / length[length > THIN, None]
    return interior_point(np.ones(len(rows)), rows[:, :-1], rows[:, -1], equal)


@checked
def linear_regions(cells: BoxCells) -> Int[Tensor, " cells"]:
    """The linear region of each cell, numbered from 0."""
    maps = torch.cat([cells.weights, cells.biases[:, :, None]], 2).flatten(1).numpy()
    scale = max(abs(maps).max(), 1.0)
    groups = defaultdict(list)
    for r, key in enumerate(np.round(maps / scale, SAME) + 0.0):  # no -0.0
        groups[key.tobytes()].append(r)
    region = np.arange(len(cells))
    for group in groups.values():
        for r, s in combinations(group, 2):
            if region[r] != region[s] and _share_facet(cells, r, s):
                region[region == region[s]] = region[r]
    return torch.from_numpy(np.unique(region, return_inverse=True)[1])


def _share_facet(cells: BoxCells, r: int, s: int) -> bool:
    """Whether two cells meet in a facet.

    The inputs of all units are continuous, so the only units that differ are those that are zero on
    the facet; the other units bound the facet as they bound the cell.
    """
    on, units = cells.patterns.numpy(), cells.units.numpy()
    differ = on[r] != on[s]
    rows = np.concatenate([units[r, differ], units[s, differ]])
    length = np.linalg.norm(rows[:, :-1], axis=1)
    if not (length > THIN).any():
        return False
    plane = rows[length.argmax()] / length.max()
    if not _on(plane, rows).all():
        return False
    signs = np.where(on[r], 1.0, -1.0)[:, None]
    bounds = np.vstack([cells.box.numpy(), signs * units[r]])
    return _point(bounds[~_on(plane, bounds)], plane) is not None


def _on(plane: ndarray, rows: ndarray) -> ndarray:
    """Which rows a (x, 1) are zero on the plane: multiples of it, or zero."""
    return np.abs(rows - (rows[:, :-1] @ plane[:-1])[:, None] * plane).max(1) <= THIN
