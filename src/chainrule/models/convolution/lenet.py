"""LeNet-5: two convolutions with pooling and an MLP, for handwritten digits.

    32×32 → 6@28×28 → 6@14×14 → 16@10×10 → 16@5×5 → 120 → 84 → 10       5×5 kernels, 2×2 pools
    h ← pool(φ(w ∗ h + b)) twice,    f(x) = MLP(h)

Images smaller than 32×32 are padded by two zeros on each side, so that 28×28 becomes 32×32. The
defaults are today's form: ReLU and max pooling, 61,706 parameters. `activation="tanh",
pooling="average"` is close to the original with its 60,000, which scaled its averages by learned
factors, connected only some of the channels in its second convolution, and ended in radial basis
functions instead of W h + b.

LeCun, Bottou, Bengio and Haffner (1998), Proc. IEEE 86. Notes: J 4.2, A 2.1, L "CNN core concepts".
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from chainrule.arguments import Count, checked
from chainrule.errors import InputError
from chainrule.models.feedforward.mlp import MLP
from chainrule.nn.activations import activation as activation_named
from chainrule.nn.initialization import initialize

POOLINGS: dict[str, Callable[[Tensor, int], Tensor]] = {
    "max": F.max_pool2d,
    "average": F.avg_pool2d,
}


@checked
class LeNet(nn.Module):
    """LeNet-5: two convolutions with 5×5 kernels and 2×2 pools, then an MLP of 120 and 84 units.

        h ← pool(φ(w ∗ h + b)) twice,     f(x) = MLP(h)

    Args:
        inputs: Shape (channels, height, width) of an image, at least 12×12.
        classes: Number of outputs.
        activation: Name of φ, see `chainrule.nn.activations`.
        pooling: "max" or "average".

    Example:
        >>> import torch
        >>> LeNet()(torch.zeros(2, 1, 28, 28)).shape
        torch.Size([2, 10])
    """

    def __init__(
        self,
        inputs: tuple[Count, Count, Count] = (1, 28, 28),
        classes: Count = 10,
        activation: str = "relu",
        pooling: str = "max",
    ):
        super().__init__()
        if pooling not in POOLINGS:
            raise InputError(f"pooling must be one of {', '.join(POOLINGS)}, got {pooling!r}")
        self.activation, self.pool = activation_named(activation), POOLINGS[pooling]
        scheme = "kaiming" if activation == "relu" else "lecun"
        channels, height, width = inputs
        padding = 2 if min(height, width) < 32 else 0
        sides = [((side + 2 * padding - 4) // 2 - 4) // 2 for side in (height, width)]
        if min(sides) < 1:
            raise InputError(
                "LeNet needs images of at least 12×12, for two 5×5 kernels and two pools, got "
                f"{height}×{width}"
            )
        self.conv1 = initialize(nn.Conv2d(channels, 6, 5, padding=padding), scheme)
        self.conv2 = initialize(nn.Conv2d(6, 16, 5), scheme)
        features = 16 * sides[0] * sides[1]
        self.head = MLP(features, (120, 84), classes, activation, initialization=scheme)

    def forward(
        self, x: Float[Tensor, "batch channels height width"]
    ) -> Float[Tensor, "batch classes"]:
        h = self.pool(self.activation(self.conv1(x)), 2)
        h = self.pool(self.activation(self.conv2(h)), 2)
        return self.head(h)


def example() -> tuple[LeNet, Tensor]:
    """LeNet for digits, and three images."""
    return LeNet(), torch.randn(3, 1, 28, 28)
