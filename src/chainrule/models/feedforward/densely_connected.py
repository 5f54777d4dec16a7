"""Densely connected network: every layer sees all earlier ones, and the input.

    x_{l+1} = φ(W_l (x_l, …, x_1, x) + b_l)
    f(x)    = W_L (x_L, …, x_1, x) + b_L

Layer l has l·m + d inputs for width m and input size d: features are passed on, not learned again.

Huang et al. (2017), CVPR (J 2.3 cites Zhu and Newsam 2017, who apply it to optical flow).
Notes: J 2.3.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from chainrule.nn.activations import activation as activation_named
from chainrule.nn.initialization import initialize


class DenselyConnected(nn.Module):
    """`depth` hidden layers of one width, and an affine map of all of them."""

    def __init__(self, inputs: int, width: int, depth: int, outputs: int, activation: str = "relu"):
        super().__init__()
        self.activation = activation_named(activation)
        seen = [inputs + l * width for l in range(depth + 1)]  # noqa: E741 - the equation's letter
        self.layers = nn.ModuleList(initialize(nn.Linear(n, width), "kaiming") for n in seen[:-1])
        self.output = initialize(nn.Linear(seen[-1], outputs), "lecun")

    def forward(self, x: Float[Tensor, "batch *inputs"]) -> Float[Tensor, "batch outputs"]:
        seen = x.flatten(1)
        for layer in self.layers:
            seen = torch.cat([self.activation(layer(seen)), seen], dim=1)
        return self.output(seen)


def example() -> tuple[DenselyConnected, Tensor]:
    """Three hidden layers, and five inputs."""
    return DenselyConnected(4, width=6, depth=3, outputs=2), torch.randn(5, 4)
