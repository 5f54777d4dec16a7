"""A network whose output has the scale of its target.

    f(x) = c + s g(x)

c and s are the mean and standard deviation of the training targets, so that g has outputs of order
one.
"""

from jaxtyping import Float
from torch import Tensor, nn, tensor

from chainrule.arguments import Finite, checked


@checked
class Rescaled(nn.Module):
    """c + s g(x), with c and s saved as buffers.

    Args:
        inner: g.
        center: c.
        spread: s.
    """

    center: Float[Tensor, ""]
    spread: Float[Tensor, ""]

    def __init__(self, inner: nn.Module, center: Finite, spread: Finite):
        super().__init__()
        self.inner = inner
        self.register_buffer("center", tensor(center))
        self.register_buffer("spread", tensor(spread))

    def forward(self, x: Float[Tensor, "batch *inputs"]) -> Float[Tensor, "batch outputs"]:
        """c + s g(x)."""
        return self.center + self.spread * self.inner(x)
