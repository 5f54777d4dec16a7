"""VC dimension by enumeration: which labelings of some points a class can produce.

    shattered(S) ⇔ every one of the 2^|S| labelings of S is produced by some member of the class
    VC = max {|S| : S is shattered}

Half-spaces: a labeling is possible if a hyperplane separates the two parts, which a linear program
decides. Intervals: the positive points are neighbors. Boxes: the smallest box around the positive
points holds no other. The VC dimensions are n + 1, 2 and 2 n in ℝⁿ.

Enumeration over given points proves "at least" and counts; that no set of d + 1 points is shattered
is Radon's theorem, and for intervals and boxes the choice of the outermost points.

Vapnik and Chervonenkis (1971), Theory of Probability 16(2). Notes: A 5.
"""

from collections.abc import Callable
from itertools import combinations, product
from math import comb

import numpy as np
from jaxtyping import Bool, Float
from scipy.optimize import linprog

from chainrule.errors import InputError

MOST = 16  # points; there are 65536 labelings

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
    """Whether the smallest box around the positive points leaves the others out."""
    if not positive.any():
        return True
    low, high = points[positive].min(0), points[positive].max(0)
    inside = ((points >= low) & (points <= high)).all(1)
    return bool((inside == positive).all())


def interval(points: Points, positive: Labeling) -> bool:
    """A box on the line."""
    if points.shape[1] != 1:
        raise InputError(f"intervals need points on the line, got {points.shape[1]} coordinates")
    return box(points, positive)


def labelings(points: Points, possible: Class) -> list[Labeling]:
    """All labelings of the points that the class produces."""
    if not 1 <= len(points) <= MOST:
        raise InputError(f"expected 1 to {MOST} points to enumerate, got {len(points)}")
    every = (np.array(signs) for signs in product([False, True], repeat=len(points)))
    return [labeling for labeling in every if possible(points, labeling)]


def shattered(points: Points, possible: Class) -> bool:
    """Whether the class produces every labeling; stops at the first that it cannot."""
    if not 1 <= len(points) <= MOST:
        raise InputError(f"expected 1 to {MOST} points to enumerate, got {len(points)}")
    every = product([False, True], repeat=len(points))
    return all(possible(points, np.array(signs)) for signs in every)


def largest_shattered(points: Points, possible: Class) -> list[int]:
    """The numbers of a largest shattered set among the points: a lower bound of the dimension.

    Part of a shattered set is shattered, so the search ends at the first size without one.
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
