"""ReLU interpolant: a piecewise linear function as a network with one hidden layer.

    g(x) = a x + b + Σ_{i=1}^{m-1} c_i (x - x_i)₊          m pieces, m - 1 ReLUs

a is the first slope, c_i the change of slope at the inner knot x_i; beyond the outer knots g is
continued linearly. The formula holds for continuous g, which theorem J 2.11 omits. In double
precision g takes the given values up to rounding.

Attributed to Lebesgue. Universality: Shekhtman (1982). Notes: J 2.5, theorems 2.10 to 2.12.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from chainrule.arguments import checked
from chainrule.errors import InputError


@checked
class ReLUInterpolant(nn.Module):
    """The piecewise linear function through m + 1 points, as a network that can be trained further.

        g(x) = a x + b + Σ_{i=1}^{m-1} c_i (x - x_i)₊

    Args:
        knots: x_0 < x_1 < … < x_m.
        values: g(x_0), …, g(x_m).

    Example:
        >>> import torch
        >>> hat = ReLUInterpolant(torch.tensor([0.0, 1.0, 2.0]), torch.tensor([0.0, 1.0, 0.0]))
        >>> hat(torch.tensor([[0.5], [1.0], [1.5]])).flatten().tolist()
        [0.5, 1.0, 0.5]
    """

    def __init__(self, knots: Float[Tensor, " points"], values: Float[Tensor, " points"]):
        super().__init__()
        if len(knots) < 2 or not (knots.diff() > 0).all():
            raise InputError(
                "knots must be at least two values in increasing order; sort them first"
            )
        a, b, c = lebesgue(knots, values)
        self.a, self.b, self.c = nn.Parameter(a), nn.Parameter(b), nn.Parameter(c)
        self.knots = nn.Parameter(knots[1:-1].clone())

    def forward(self, x: Float[Tensor, "batch 1"]) -> Float[Tensor, "batch 1"]:
        """a x + b + Σ_i c_i (x - x_i)₊."""
        return self.a * x + self.b + (x - self.knots).relu() @ self.c[:, None]


def lebesgue(
    knots: Float[Tensor, " points"], values: Float[Tensor, " points"]
) -> tuple[Float[Tensor, ""], Float[Tensor, ""], Float[Tensor, " inner"]]:
    """a, b and c of the piecewise linear function through the points."""
    slopes = values.diff() / knots.diff()
    a = slopes[0]
    return a, values[0] - a * knots[0], slopes.diff()


def example() -> tuple[ReLUInterpolant, Tensor]:
    """The interpolant of a sine through nine points, and ten inputs."""
    knots = torch.linspace(0, 3, 9)
    return ReLUInterpolant(knots, knots.sin()), torch.linspace(0, 3, 10)[:, None]
