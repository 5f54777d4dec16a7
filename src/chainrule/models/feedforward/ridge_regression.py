"""Ridge regression: least squares with small weights.

    f(x) = W x + b
    min over W, b of Σ_i ‖W x_i + b - y_i‖² + λ ‖W‖²                b is not penalized
    centered, X = U S Vᵀ:   Wᵀ = V diag(s / (s² + λ)) Uᵀ Y,   b = ȳ - W x̄

The singular values show what λ does: directions in which the data hardly vary, s² ≪ λ, are shrunk
to nothing. No inverse is formed, and more inputs than examples are no trouble.

Hoerl and Kennard (1970), Technometrics 12(1). Notes: J 2.1, J 8.2, L "Weight decay".
"""

import torch
from jaxtyping import Float
from torch import Tensor

from chainrule.errors import InputError
from chainrule.models.feedforward.linear_regression import LinearRegression


class RidgeRegression(LinearRegression):
    """An affine map whose weights pay for their size."""

    def __init__(self, inputs: int, outputs: int = 1, penalty: float = 1.0, bias: bool = True):
        super().__init__(inputs, outputs, bias)
        if penalty <= 0:
            raise InputError(
                f"expected a positive penalty, got {penalty}; LinearRegression is the case of 0"
            )
        self.penalty = penalty

    def minimum(
        self, X: Float[Tensor, "batch inputs"], Y: Float[Tensor, "batch outputs"], rounding: float
    ) -> Float[Tensor, "inputs outputs"]:
        return ridge(X, Y, self.penalty)


def ridge(
    X: Float[Tensor, "batch inputs"], Y: Float[Tensor, "batch outputs"], penalty: float
) -> Float[Tensor, "inputs outputs"]:
    """V diag(s / (s² + λ)) Uᵀ Y."""
    U, s, Vt = torch.linalg.svd(X, full_matrices=False)
    gain = s / (s.square() + penalty)
    return Vt.T @ (gain[:, None] * (U.T @ Y))


def example() -> tuple[RidgeRegression, Tensor]:
    """A ridge fit with more inputs than examples, and its inputs."""
    x, y = torch.randn(6, 10), torch.randn(6, 1)
    model = RidgeRegression(10, penalty=0.5)
    model.solve(x, y)
    return model, x
