"""Linear regression: least squares, in closed form or by gradient descent.

    f(x) = W x + b
    min over W, b of 1/2 Σ_i ‖W x_i + b - y_i‖²
    centered, X = U S Vᵀ:   Wᵀ = V diag(1/s) Uᵀ Y,   b = ȳ - W x̄

Examples are the rows of X here. J 2.1 takes them as columns, X ∈ ℝᵈˣˢ, for which its printed
solution (XᵀX)⁻¹Xᵀy should read (XXᵀ)⁻¹Xy. Neither is formed: the singular value decomposition
solves the system itself, and leaving out singular values of zero gives, among all minima, the one
with the smallest ‖W‖.

Legendre (1805), Gauss (1809). Notes: J 2.1, L exercise 10.4.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from chainrule.arguments import Count, checked


@checked
class LinearRegression(nn.Module):
    """An affine map, fitted by gradient descent or, with `solve`, in closed form.

        f(x) = W x + b,     min over W, b of 1/2 Σ_i ‖W x_i + b - y_i‖²

    Args:
        inputs: Size of x.
        outputs: Size of f(x).
        bias: Whether there is a b.

    Example:
        >>> import torch
        >>> x = torch.tensor([[0.0], [1.0], [2.0]])
        >>> model = LinearRegression(1)
        >>> model.solve(x, 3 * x + 1)
        >>> round(model.weight.item(), 4), round(model.bias.item(), 4)
        (3.0, 1.0)
    """

    def __init__(self, inputs: Count, outputs: Count = 1, bias: bool = True):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(outputs, inputs))
        self.bias = nn.Parameter(torch.zeros(outputs)) if bias else None

    def forward(self, x: Float[Tensor, "batch inputs"]) -> Float[Tensor, "batch outputs"]:
        return nn.functional.linear(x, self.weight, self.bias)

    def minimum(
        self, X: Float[Tensor, "batch inputs"], Y: Float[Tensor, "batch outputs"], rounding: float
    ) -> Float[Tensor, "inputs outputs"]:
        """The best Wᵀ for centered data."""
        return least_squares(X, Y, rounding)

    @torch.no_grad()
    def solve(self, x: Float[Tensor, "batch inputs"], y: Float[Tensor, "batch outputs"]) -> None:
        """Set W and b to the least-squares solution."""
        X, Y, x_mean, y_mean = centered(x, y, self.bias is not None)
        # Centering leaves rounding errors of the size of the uncentered data.
        rounding = torch.finfo(X.dtype).eps * max(X.shape) * (X + x_mean).norm().item()
        W = self.minimum(X, Y, rounding).T
        self.weight.copy_(W)
        if self.bias is not None:
            self.bias.copy_(y_mean - W @ x_mean)


def least_squares(
    X: Float[Tensor, "batch inputs"], Y: Float[Tensor, "batch outputs"], rounding: float
) -> Float[Tensor, "inputs outputs"]:
    """V diag(1/s) Uᵀ Y, with 1/s = 0 for singular values up to `rounding`."""
    U, s, Vt = torch.linalg.svd(X, full_matrices=False)
    gain = torch.where(s > rounding, 1 / s, 0)
    return Vt.T @ (gain[:, None] * (U.T @ Y))


def centered(
    x: Float[Tensor, "batch inputs"], y: Float[Tensor, "batch outputs"], center: bool
) -> tuple[
    Float[Tensor, "batch inputs"],
    Float[Tensor, "batch outputs"],
    Float[Tensor, " inputs"],
    Float[Tensor, " outputs"],
]:
    """x - x̄, y - ȳ, x̄, ȳ in double precision; without `center` both means are 0."""
    x, y = x.detach().double().cpu(), y.detach().double().cpu()
    x_mean, y_mean = x.mean(0) * center, y.mean(0) * center
    return x - x_mean, y - y_mean, x_mean, y_mean


def example() -> tuple[LinearRegression, Tensor]:
    """The least-squares fit of a noisy plane, and its inputs."""
    x = torch.randn(20, 3)
    y = x @ torch.randn(3, 2) + 0.1 * torch.randn(20, 2)
    model = LinearRegression(3, 2)
    model.solve(x, y)
    return model, x
