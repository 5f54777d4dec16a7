"""The activation regions of ReLU networks, enumerated exactly.

    pattern of x      κ = 1{W x + b > 0} ∈ {0, 1}ᵐ
    region of κ       {x | 1{W x + b > 0} = κ}                        an open convex polytope
    Zaslavsky         R(m) ≤ Σ_{i=0}^{min(n, m)} (m choose i)         equality in general position
    Montúfar          R(m, L) ≥ R(m) ⌊m/n⌋^{n(L-1)}                   for the best weights

`layer_regions` covers all of ℝⁿ for one layer; `plane_regions` cuts a square of a plane into the
convex polygons on which a deep network is affine. Both work in double precision; a region thinner
than 10⁻⁹ (of the distance to the hyperplanes, or of the square) counts as empty. Neighbors on which
the network is the same affine map are one linear region: `box_regions` joins them.

Zaslavsky (1975), Memoirs of the AMS 154; Montúfar et al. (2014), NeurIPS. Notes: J 2.5.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

import numpy as np
import torch
from jaxtyping import Bool, Float
from numpy import ndarray
from scipy.optimize import linprog
from torch import Tensor, nn

from chainrule.errors import InputError

THIN = 1e-9


@dataclass(frozen=True)
class LayerRegions:
    """The pattern of every region of one layer, and a point inside it."""

    patterns: Bool[Tensor, "regions m"]
    points: Float[Tensor, "regions n"]

    def __len__(self) -> int:
        return len(self.patterns)


@dataclass(frozen=True)
class PlaneRegions:
    """The regions of a deep network on a square, in coordinates u of the plane.

    On polygon r (its corners in order) the hidden units of all layers have `patterns[r]`,
    and the network is u ↦ weights[r] u + biases[r].
    """

    polygons: tuple[Float[Tensor, "_ 2"], ...]
    patterns: Bool[Tensor, "regions units"]
    weights: Float[Tensor, "regions outputs 2"]
    biases: Float[Tensor, "regions outputs"]

    def __len__(self) -> int:
        return len(self.polygons)


def zaslavsky(hyperplanes: int, dimension: int) -> int:
    """R(m) = Σ_{i=0}^{min(n, m)} (m choose i)."""
    return sum(comb(hyperplanes, i) for i in range(min(dimension, hyperplanes) + 1))


def montufar(dimension: int, width: int, layers: int) -> int:
    """R(m) ⌊m/n⌋^{n(L-1)}, with L hidden layers of width m ≥ n."""
    return zaslavsky(width, dimension) * (width // dimension) ** (dimension * (layers - 1))


def pattern(
    W: Float[Tensor, "m n"], b: Float[Tensor, " m"], x: Float[Tensor, "batch n"]
) -> Bool[Tensor, "batch m"]:
    """κ = 1{W x + b > 0}."""
    return x @ W.T + b > 0


def layer_regions(W: Float[Tensor, "m n"], b: Float[Tensor, " m"]) -> LayerRegions:
    """All regions of one ReLU layer: each hyperplane in turn splits the regions that it crosses."""
    W_, b_ = double(W), double(b)
    length = np.linalg.norm(W_, axis=1)
    scale = np.where(length > 0, length, 1)
    # A unit with zero weights has no hyperplane: it is on or off everywhere.
    W_, b_ = W_ / scale[:, None], np.where(length > 0, b_ / scale, np.where(b_ > 0, 1, -1))
    regions = [(np.zeros(0), np.zeros(W_.shape[1]))]
    for i in range(1, len(b_) + 1):
        regions = [part for region in regions for part in _split(*region, W_[:i], b_[:i])]
    signs, points = map(np.stack, zip(*regions, strict=True))
    return LayerRegions(torch.from_numpy(signs > 0), torch.from_numpy(points))


def _split(signs: ndarray, point: ndarray, W: ndarray, b: ndarray) -> list[tuple[ndarray, ndarray]]:
    """The one or two parts into which the last hyperplane splits a region with a point inside.

    The side of that point is not empty; a linear program looks for a point on the other side.
    """
    side = W[-1] @ point + b[-1]
    parts = []
    for sign in (-1.0, 1.0):
        longer = np.append(signs, sign)
        inside = point if sign * side > THIN else interior_point(longer, W, b)
        if inside is not None:
            parts.append((longer, inside))
    return parts


def interior_point(
    s: ndarray, W: ndarray, b: ndarray, equal: ndarray | None = None
) -> ndarray | None:
    """The x with the largest slack t ≤ 1 in s_j (w_jᵀ x + b_j) ≥ t, or None if there is none.

    `equal`: a plane that x must lie on, aᵀ (x, 1) = 0.
    """
    n = W.shape[1]
    result = linprog(
        c=[*np.zeros(n), -1.0],
        A_ub=np.column_stack([-s[:, None] * W, np.ones(len(s))]),
        b_ub=s * b,
        A_eq=None if equal is None else [[*equal[:-1], 0.0]],
        b_eq=None if equal is None else [-equal[-1]],
        bounds=[(None, None)] * n + [(None, 1.0)],
        method="highs",
        options={"primal_feasibility_tolerance": THIN / 10},
    )
    if result.status != 0:  # a solution always exists
        raise RuntimeError(f"the linear program failed: {result.message}")
    return result.x[:n] if result.x[n] > THIN else None


def plane_regions(
    layers: Sequence[nn.Linear],
    origin: Float[Tensor, " n"],
    directions: Float[Tensor, "2 n"],
    radius: float,
) -> PlaneRegions:
    """The regions of a ReLU network on {origin + uᵀ directions | u ∈ [-radius, radius]²}.

    `layers` are its linear maps in order, with a ReLU between every two (`MLP.layers`).
    """
    if layers[0].in_features != len(origin):
        raise InputError(
            f"origin has {len(origin)} coordinates but the network takes "
            f"{layers[0].in_features} inputs; give origin and directions of that size"
        )
    square = radius * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    polygons, patterns = [square], np.zeros((1, 0), dtype=bool)
    # The map of each region, u ↦ A (u, 1), which starts as the plane itself.
    A = np.column_stack([double(directions).T, double(origin)])[None]
    for layer in layers[:-1]:
        A = _affine(layer, A)
        for i in range(layer.out_features):
            polygons, parents, on = _cut(polygons, A[:, i], THIN * radius)
            A, patterns = A[parents], np.column_stack([patterns[parents], on])
        A = A * patterns[:, -layer.out_features :, None]
    A = _affine(layers[-1], A)
    return PlaneRegions(
        tuple(torch.from_numpy(polygon) for polygon in polygons),
        torch.from_numpy(patterns),
        torch.from_numpy(A[:, :, :2].copy()),
        torch.from_numpy(A[:, :, 2].copy()),
    )


def double(tensor: Tensor) -> ndarray:
    """In double precision, for NumPy."""
    return tensor.detach().double().numpy()


def _affine(layer: nn.Linear, A: ndarray) -> ndarray:
    """The maps W A (u, 1) + b, one per region."""
    A = double(layer.weight) @ A
    if layer.bias is not None:
        A[:, :, 2] += double(layer.bias)
    return A


def _cut(
    polygons: list[ndarray], lines: ndarray, thin: float
) -> tuple[list[ndarray], ndarray, ndarray]:
    """Cut polygon r by the line l_rᵀ (u, 1) = 0: the parts, their parents, where l is positive."""
    sizes = np.array([len(polygon) for polygon in polygons])
    starts = np.cumsum(sizes) - sizes
    corners, line = np.concatenate(polygons), np.repeat(lines, sizes, axis=0)
    values = (corners * line[:, :2]).sum(1) + line[:, 2]
    near = thin * np.hypot(lines[:, 0], lines[:, 1])
    low, high = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
    crossed = (low < -near) & (high > near)

    parts, parents, on = list(polygons), np.arange(len(polygons)), low + high > 0
    for r in np.flatnonzero(crossed):
        z = values[starts[r] : starts[r] + sizes[r]]
        parts[r] = _half(polygons[r], z)
        parts.append(_half(polygons[r], -z))
    on[crossed] = True
    parents = np.concatenate([parents, np.flatnonzero(crossed)])
    return parts, parents, np.concatenate([on, np.zeros(crossed.sum(), dtype=bool)])


def _half(polygon: ndarray, z: ndarray) -> ndarray:
    """The part of a convex polygon where the affine function with corner values z is ≥ 0."""
    ahead, z_ahead = np.roll(polygon, -1, axis=0), np.roll(z, -1)
    crossing = z * z_ahead < 0
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = polygon + (z / (z - z_ahead))[:, None] * (ahead - polygon)
    # Each corner is followed by the crossing on the edge that leaves it.
    both = np.stack([polygon, middle], axis=1).reshape(-1, 2)
    return both[np.stack([z >= 0, crossing], axis=1).ravel()]
