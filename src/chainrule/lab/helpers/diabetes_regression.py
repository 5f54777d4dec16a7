"""Linear regression of the diabetes data, centered so that no bias is needed."""

from torch import Tensor

from chainrule.data.datasets import diabetes
from chainrule.models.feedforward.linear_regression import LinearRegression, centered


def centered_diabetes() -> tuple[Tensor, Tensor]:
    """Ten measurements of each patient, and the progression of the disease; both centered."""
    x, y = diabetes.load().train
    return centered(x, y.reshape(len(x), -1), True)[:2]


def standardized_diabetes() -> tuple[Tensor, Tensor]:
    """The measurements scaled to mean square 1 as well."""
    x, y = centered_diabetes()
    return x / x.square().mean(0).sqrt(), y


def solution(model: LinearRegression, x: Tensor, y: Tensor) -> Tensor:
    """The weights that solve the model's least-squares problem."""
    model.double().solve(x, y)
    return model.weight.detach()[0]
