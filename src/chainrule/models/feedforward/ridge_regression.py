"""Ridge regression: least squares with a penalty on large weights.

    f(x) = W x + b
    min over W, b of Σ_i ‖W x_i + b - y_i‖² + λ ‖W‖²                b is not penalized
    centered, X = U S Vᵀ:   Wᵀ = V diag(s / (s² + λ)) Uᵀ Y,   b = ȳ - W x̄

The singular values show what λ does: directions in which the data hardly vary, s² ≪ λ, are shrunk
to almost nothing. No inverse is formed, and there may be more inputs than examples.

Hoerl and Kennard (1970), Technometrics 12(1). Notes: J 2.1, J 8.2, L "Weight decay".
"""

import torch
from jaxtyping import Float
from torch import Tensor

from chainrule.arguments import Count, NonNegative, checked
from chainrule.errors import InputError
from chainrule.models.feedforward.linear_regression import LinearRegression


@checked
class RidgeRegression(LinearRegression):
    """Linear regression with a penalty on the size of its weights; b is not penalized.

        f(x) = W x + b,     min over W, b of Σ_i ‖W x_i + b - y_i‖² + λ ‖W‖²

    Args:
        inputs: Size of x.
        outputs: Size of f(x).
        penalty: λ > 0.
        bias: Whether there is a b.

    Example:
        >>> import torch
        >>> x = torch.tensor([[-1.0], [1.0]])
        >>> model = RidgeRegression(1, penalty=2.0)
        >>> model.solve(x, 3 * x)
        >>> round(model.weight.item(), 4)
        1.5
    """

    def __init__(
        self, inputs: Count, outputs: Count = 1, penalty: NonNegative = 1.0, bias: bool = True
    ):
        super().__init__(inputs, outputs, bias)
        if penalty <= 0:
            raise InputError(f"penalty must be above 0, got {penalty}; for 0 use LinearRegression")
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
