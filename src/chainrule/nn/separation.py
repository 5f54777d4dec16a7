"""Whether a hyperplane through the origin has all vectors on one side.

    either   vᵀ z_i > 0 for all i,   or   Σ λ_i z_i = 0 with λ ≥ 0, Σ λ_i = 1        (Gordan 1873)

A linear program in floating-point numbers looks for v. Where its answer is in doubt, the second
system is solved in rational arithmetic by the first phase of the simplex method; if it has no
solution, its dual variables are a v. Floating-point numbers are fractions, so nothing is rounded.
"""

from fractions import Fraction

import numpy as np
from scipy.optimize import linprog, nnls

LARGEST, COLUMNS = 100_000, 11
"""Most numbers, and most columns, for which the exact method takes seconds."""
TOLERANCE = 2e-9
"""Relative gap below which the linear program alone may find no hyperplane, as measured."""


def is_exact(z: np.ndarray) -> bool:
    """Whether `separate` decides without any tolerance: data of up to 11 columns."""
    return z.size <= LARGEST and z.shape[1] <= COLUMNS


def separate(z: np.ndarray) -> np.ndarray | None:
    """A v with vᵀ z_i > 0 for every row, rounded to floating-point numbers, or None."""
    v = by_linear_program(z)
    if not is_exact(z) or (v is not None and not in_doubt(z, v).any()):
        return v
    return in_fractions(z)


def by_linear_program(z: np.ndarray) -> np.ndarray | None:
    """Some v with z v > 0, in floating-point numbers: z v ≥ 1 up to the scale of v."""
    columns = np.abs(z).max(axis=0)
    columns[columns == 0] = 1
    rows = np.linalg.norm(z / columns, axis=1, keepdims=True)
    if (rows == 0).any():
        return None  # the zero vector lies on every hyperplane
    scaled = z / columns / rows
    n = z.shape[1]
    found = linprog(np.zeros(n), -scaled, -np.ones(len(z)), bounds=(None, None), method="highs")
    if found.status not in (0, 2):  # neither solved nor infeasible
        raise RuntimeError(f"the linear program failed: {found.message}")
    v = None if found.status == 2 else found.x / columns
    return v if v is not None and (z @ v > 0).all() else None


def in_doubt(z: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Where z v > 0 is not certain: sums of n products are rounded by less than n ε |z| |v|."""
    rounding = 2 * len(v) * np.finfo(np.float64).eps
    return z @ v <= rounding * (np.abs(z) @ np.abs(v))


def in_fractions(z: np.ndarray) -> np.ndarray | None:
    """As `separate`, without any doubt.

    Few vectors prove that there is no v: those around 0, and others found on the wrong side.
    """
    chosen = np.flatnonzero(convex_weights(z))
    while (exact := simplex(z[chosen])) is not None:
        largest = max(abs(value) for value in exact)
        v = np.array([float(value / largest) for value in exact])
        rows = np.flatnonzero(in_doubt(z, v))
        wrong = [i for i in rows[np.argsort(z[rows] @ v)] if not is_separated(z[[i]], exact)]
        if not wrong:
            return v
        chosen = np.append(chosen, wrong[: z.shape[1]])
    return None


def convex_weights(z: np.ndarray) -> np.ndarray:
    """u ≥ 0 with ‖Σ u_i z_i‖² + (Σ u_i - 1)² as small as possible."""
    E = np.vstack([z.T, np.ones(len(z))])
    return nnls(E, np.append(np.zeros(z.shape[1]), 1.0))[0]


def simplex(z: np.ndarray) -> list[Fraction] | None:
    """A v with vᵀ z_i > 0 for every row, exactly, or None if there is none."""
    n, m = len(z), z.shape[1] + 1
    T = np.full((m + 1, n + m + 1), Fraction(0))
    T[: m - 1, :n] = [[Fraction(value) for value in column] for column in z.T.tolist()]
    T[m - 1, :n] = T[m - 1, -1] = Fraction(1)
    T[range(m), range(n, n + m)] = Fraction(1)  # artificial variables, whose sum is minimized
    T[m, :n] = -T[:m, :n].sum(0)
    T[m, -1] = Fraction(-1)
    basis = list(range(n, n + m))
    while (entering := next((j for j in range(n) if T[m, j] < 0), None)) is not None:
        # Bland's rule, the smallest index of those that may enter or leave, cannot cycle.
        rows = [i for i in range(m) if T[i, entering] > 0]
        leaving = min(rows, key=lambda i: (T[i, -1] / T[i, entering], basis[i]))
        pivot(T, leaving, entering)
        basis[leaving] = entering
    if T[m, -1] == 0:
        return None
    return [d - 1 for d in T[m, n : n + m - 1]]


def pivot(T: np.ndarray, row: int, column: int) -> None:
    """Solve the equation of `row` for the variable of `column`, and insert it in all others."""
    T[row] /= T[row, column]
    for i in np.flatnonzero(T[:, column]):
        if i != row:
            T[i] -= T[i, column] * T[row]


def is_separated(z: np.ndarray, v: list[Fraction]) -> bool:
    """Whether vᵀ z_i > 0 for every row, exactly."""
    rows = ([Fraction(value) for value in row] for row in z.tolist())
    return all(sum(a * b for a, b in zip(row, v, strict=True)) > 0 for row in rows)
