"""Claim: gradient descent finds the solution nearest to its start (L exercise 10.4).

    A ∈ ℝᵐˣⁿ, m < n, full rank,   R(x) = ½ ‖Ax - b‖²,   ∇R ∈ row A at every step
    P = I - A⁺A:     P x_t = P x_0    at every step
    v_iᵀ(x_t - A⁺b) = (1 - η σ_i²)ᵗ v_iᵀ(x_0 - A⁺b)       v_i, σ_i the singular values of A
    ⇒   x_∞ = A⁺b + P x_0,     the projection of x_0 onto the solutions; A⁺b from x_0 = 0

Measured: over starts of increasing length, beginning with zero, and over all steps of the path,
with η = 1/σ_1², the largest distance between x_t and this prediction, relative to ‖x_0‖ + ‖A⁺b‖.
Bound: 1e-12, as many roundings as steps. At the end of the path the prediction is within 1e-9 of
the projection.
Zhang et al. (2017), ICLR.
"""

import math
from functools import partial

import torch
from torch import Tensor

from chainrule.autodiff.curvature import gradient_descent
from chainrule.errors import InputError
from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.models.feedforward.linear_regression import LinearRegression

BOUND = 1e-12
TARGET = 1e-9
LENGTHS = (0.0, 1.0, 2.0, 4.0)


def check(equations: int = 20, unknowns: int = 60, seed: int = 0) -> Verdict:
    """Plain gradient descent.

    Args:
        equations: Equations m, at most half of the unknowns.
        unknowns: Unknowns n.
    """
    if not 2 <= equations <= unknowns // 2:
        raise InputError(
            f"`equations` must be between 2 and half of `unknowns`, got {equations} and {unknowns}"
        )
    return verdict(equations, unknowns, seed)


def broken() -> Verdict:
    """A little weight decay: the start is forgotten, and the equations are not met."""
    return verdict(20, 60, 0, decay=0.01)


def near() -> Near:
    """Still less weight decay, another step size, and part of the start outside the row space."""
    return {
        "weight decay of 1e-06": partial(verdict, 20, 60, 0, decay=1e-6),
        **ten_percent("η", lambda factor: verdict(20, 60, 0, step=factor)),
        **ten_percent("P x_0", lambda factor: verdict(20, 60, 0, kept=factor)),
    }


def verdict(
    equations: int,
    unknowns: int,
    seed: int,
    decay: float = 0.0,
    step: float = 1.0,
    kept: float = 1.0,
) -> Verdict:
    """Paths from starts x_0 = length · direction.

    `decay`: weight decay in the descent; `step` and `kept`: factors on η and on P x_0 in the
    prediction.
    """
    generator = torch.Generator().manual_seed(seed)
    A = torch.randn(equations, unknowns, generator=generator, dtype=torch.float64)
    b = torch.randn(equations, generator=generator, dtype=torch.float64)
    direction = torch.randn(unknowns, generator=generator, dtype=torch.float64)
    shortest = solved(A, b)
    unit = direction / direction.norm() * shortest.norm()
    lengths = torch.tensor(LENGTHS, dtype=torch.float64)[:, None]
    starts = lengths * unit
    _, sigma, V = torch.linalg.svd(A, full_matrices=False)
    contraction = 1 - step * (sigma / sigma[0]) ** 2
    steps = math.ceil(math.log(TARGET) / math.log(1 - ((sigma[-1] / sigma[0]) ** 2).item()))

    def risk(x: Tensor) -> Tensor:
        return 0.5 * (x @ A.T - b).square().sum() + 0.5 * decay * x.square().sum()

    path = gradient_descent(risk, starts, steps, (sigma[0] ** -2).item())  # every row by itself
    null = kept * (starts - lengths * solved(A, A @ unit))
    t = torch.arange(steps + 1, dtype=torch.float64)[:, None, None]
    predicted = shortest + null + (contraction**t * ((starts - shortest) @ V.T)) @ V
    missed = (path - predicted).norm(dim=2) / (shortest.norm() * (1 + lengths[:, 0]))
    return Verdict(
        quantity="largest relative distance, path to prediction",
        measured=missed.max().item(),
        relation="≤",
        bound=BOUND,
        picture=picture(path, predicted, shortest),
        details={
            "steps": float(steps),
            "end to projection": ((path[-1] - shortest - null).norm() / shortest.norm()).item(),
        },
    )


def picture(path: Tensor, predicted: Tensor, shortest: Tensor) -> Picture:
    """Lengths along the paths."""
    last = len(path) - 1
    shown = [0, *(round(last ** (k / 12)) for k in range(13))]
    curve = [0, *sorted({round(last ** (k / 60)) for k in range(61)})]
    size = shortest.norm()
    names = [f"‖x₀‖ = {length:g} ‖A⁺b‖" for length in LENGTHS]

    def lengths_of(points: Tensor, times: list[int], k: int) -> tuple[list[float], list[float]]:
        return [float(t + 1) for t in times], (points[times, k].norm(dim=1) / size).tolist()

    return Picture(
        title="Gradient descent ends at the solution nearest to its start",
        x_label="steps + 1",
        y_label="length ‖x_t‖ / ‖A⁺b‖",
        curves={name: lengths_of(predicted, curve, k) for k, name in enumerate(names)},
        points={name: lengths_of(path, shown, k) for k, name in enumerate(names)},
        log="x",
    )


def solved(A: Tensor, b: Tensor) -> Tensor:
    """A⁺ b, by the library's least squares."""
    model = LinearRegression(A.shape[1], bias=False).double()
    model.solve(A, b[:, None])
    return model.weight.detach()[0]
