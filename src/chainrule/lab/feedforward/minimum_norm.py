"""Claim: gradient descent finds the solution nearest to its start (L exercise 10.4).

    A ∈ ℝᵐˣⁿ, m < n, full rank,   R(x) = ½ ‖Ax - b‖²,   ∇R ∈ row A at every step
    x_∞ = A⁺b + x_null,   x_null = (I - A⁺A) x_0,   ‖x_∞‖² = ‖A⁺b‖² + ‖x_null‖²;   A⁺b from x_0 = 0

Measured: over starts of increasing length, beginning with zero, the largest distance between the
end of gradient descent and the projection of x_0 onto the solutions, relative to ‖x_0‖ + ‖A⁺b‖.
Bound: 1e-9; the number of steps brings (1 - σ_m²/σ_1²)ᵗ to 1e-10.
Zhang et al. (2017), ICLR.
"""

import math
from functools import partial

import torch
from torch import Tensor

from chainrule.autodiff.curvature import gradient_descent
from chainrule.errors import InputError
from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.models.feedforward.linear_regression import LinearRegression

BOUND = 1e-9
TARGET = 1e-10
LENGTHS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0)


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
    return verdict(equations, unknowns, seed, decay=0.0)


def broken() -> Verdict:
    """A little weight decay: the start is forgotten, and the equations are not met."""
    return verdict(20, 60, 0, decay=0.01)


def near() -> Near:
    """Still less weight decay."""
    return {
        f"weight decay of {decay}": partial(verdict, 20, 60, 0, decay=decay)
        for decay in (1e-4, 1e-6)
    }


def verdict(equations: int, unknowns: int, seed: int, decay: float) -> Verdict:
    """Ends of descents from starts x_0 = length · direction."""
    generator = torch.Generator().manual_seed(seed)
    A = torch.randn(equations, unknowns, generator=generator, dtype=torch.float64)
    b = torch.randn(equations, generator=generator, dtype=torch.float64)
    direction = torch.randn(unknowns, generator=generator, dtype=torch.float64)
    shortest = solved(A, b)
    unit = direction / direction.norm() * shortest.norm()
    null = unit - solved(A, A @ unit)
    sigma = torch.linalg.svdvals(A)
    steps = math.ceil(math.log(TARGET) / math.log(1 - ((sigma[-1] / sigma[0]) ** 2).item()))

    def risk(x: Tensor) -> Tensor:
        return 0.5 * (x @ A.T - b).square().sum() + 0.5 * decay * x.square().sum()

    rate = 1 / (sigma[0] ** 2 + decay).item()
    lengths = torch.tensor(LENGTHS, dtype=torch.float64)[:, None]
    ends = gradient_descent(risk, lengths * unit, steps, rate)[-1]  # each row descends for itself
    missed = (ends - shortest - lengths * null).norm(dim=1) / (1 + lengths[:, 0])
    wrong = (missed.max() / shortest.norm()).item()
    fine = [step / 20 * LENGTHS[-1] for step in range(21)]
    return Verdict(
        quantity="largest relative distance, end to projection of x_0",
        measured=wrong,
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="Gradient descent from zero finds the shortest solution",
            x_label="length of the start ‖x₀‖ / ‖A⁺b‖",
            y_label="length of the solution found / ‖A⁺b‖",
            curves={
                "√(‖A⁺b‖² + ‖x_null‖²)": (
                    fine,
                    [((shortest + c * null).norm() / shortest.norm()).item() for c in fine],
                )
            },
            points={
                "gradient descent": (
                    list(LENGTHS),
                    (ends.norm(dim=1) / shortest.norm()).tolist(),
                )
            },
        ),
        details={"steps": float(steps)},
    )


def solved(A: Tensor, b: Tensor) -> Tensor:
    """A⁺ b, by the library's least squares."""
    model = LinearRegression(A.shape[1], bias=False).double()
    model.solve(A, b[:, None])
    return model.weight.detach()[0]
