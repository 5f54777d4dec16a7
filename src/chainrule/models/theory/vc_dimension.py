"""VC dimension by enumeration: which labelings of some points a class can produce.

    shattered(S) ⇔ every one of the 2^|S| labelings of S is produced by some member of the class
    VC = max {|S| : S is shattered}

Half-spaces: a labeling is possible if a hyperplane separates the two parts, which a linear program
decides. Intervals: the positive points are neighbors. Boxes: the smallest box around the positive
points contains no other. The VC dimensions are n + 1, 2 and 2 n in ℝⁿ.

Enumerating the labelings of given points proves lower bounds. That no d + 1 points are shattered
follows from Radon's theorem, and for intervals and boxes from labeling the outermost points.

Vapnik and Chervonenkis (1971), Theory of Probability 16(2). Notes: A 5.
"""

from collections.abc import Callable
from itertools import combinations, product
from math import comb

import numpy as np
from jaxtyping import Bool, Float
from scipy.optimize import linprog

from chainrule.errors import InputError

MAX_POINTS = 16  # 65536 labelings

Points = Float[np.ndarray, "points n"]
Labeling = Bool[np.ndarray, " points"]
Class = Callable[[Points, Labeling], bool]


def half_space(points: Points, positive: Labeling) -> bool:
    """Whether some w, b give wᵀ x + b ≥ 1 on the positive points and ≤ -1 on the others."""
    signs = np.where(positive, 1.0, -1.0)[:, None]
    A = -signs * np.hstack([points, np.ones((len(points), 1))])
    found = linprog(np.zeros(A.shape[1]), A, -np.ones(len(A)), bounds=(None, None), method="highs")
    return found.status == 0


def box(points: Points, positive: Labeling) -> bool:
    """Whether the smallest box around the positive points excludes the others."""
    if not positive.any():
        return True
    low, high = points[positive].min(0), points[positive].max(0)
    inside = ((points >= low) & (points <= high)).all(1)
    return bool((inside == positive).all())


def interval(points: Points, positive: Labeling) -> bool:
    """A box in one dimension."""
    if points.shape[1] != 1:
        raise InputError(f"intervals need points with one coordinate, got {points.shape[1]}")
    return box(points, positive)


def labelings(points: Points, possible: Class) -> list[Labeling]:
    """All labelings of the points that the class produces."""
    if not 1 <= len(points) <= MAX_POINTS:
        raise InputError(f"expected 1 to {MAX_POINTS} points, got {len(points)}")
    every = (np.array(signs) for signs in product([False, True], repeat=len(points)))
    return [labeling for labeling in every if possible(points, labeling)]


def shattered(points: Points, possible: Class) -> bool:
    """Whether the class produces every labeling."""
    if not 1 <= len(points) <= MAX_POINTS:
        raise InputError(f"expected 1 to {MAX_POINTS} points, got {len(points)}")
    every = product([False, True], repeat=len(points))
    return all(possible(points, np.array(signs)) for signs in every)


def largest_shattered(points: Points, possible: Class) -> list[int]:
    """Indices of a largest shattered subset of the points, whose size bounds the dimension below.

    Subsets of a shattered set are shattered, so the search ends at the first size without one.
    """
    best: list[int] = []
    for size in range(1, len(points) + 1):
        sets = combinations(range(len(points)), size)
        found = next((s for s in sets if shattered(points[list(s)], possible)), None)
        if found is None:
            break
        best = list(found)
    return best


def cover(points: int, dimension: int) -> int:
    """2 Σ_{i ≤ n} C(N-1, i): labelings of N points in general position by half-spaces of ℝⁿ."""
    return 2 * sum(comb(points - 1, i) for i in range(dimension + 1))
