"""A network whose output is in the units of its target.

    f(x) = c + s g(x)

c and s are the mean and spread of the training targets, so that g learns numbers of order one.
"""

from jaxtyping import Float
from torch import Tensor, nn, tensor


class Rescaled(nn.Module):
    """c + s g(x), with c and s kept among the weights."""

    center: Float[Tensor, ""]
    spread: Float[Tensor, ""]

    def __init__(self, inner: nn.Module, center: float, spread: float):
        super().__init__()
        self.inner = inner
        self.register_buffer("center", tensor(center))
        self.register_buffer("spread", tensor(spread))

    def forward(self, x: Float[Tensor, "batch *inputs"]) -> Float[Tensor, "batch outputs"]:
        """c + s g(x)."""
        return self.center + self.spread * self.inner(x)
