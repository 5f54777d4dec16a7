"""Densely connected network: every layer sees all earlier ones, and the input.

    x_{l+1} = φ(W_l (x_l, …, x_1, x) + b_l)
    f(x)    = W_L (x_L, …, x_1, x) + b_L

Layer l has l·m + d inputs for m units per layer and d inputs: features are reused, not relearned.

Huang et al. (2017), CVPR (J 2.3 cites Zhu and Newsam 2017, who apply it to optical flow).
Notes: J 2.3.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from chainrule.arguments import Count, checked
from chainrule.nn.activations import activation as activation_named
from chainrule.nn.initialization import initialize


@checked
class DenselyConnected(nn.Module):
    """Hidden layers of one size, each on the outputs of all earlier ones, and an affine map.

        x_{l+1} = φ(W_l (x_l, …, x_1, x) + b_l),     f(x) = W_L (x_L, …, x_1, x) + b_L

    Args:
        inputs: Number of inputs; examples of any shape are flattened.
        hidden_size: Units of each hidden layer.
        num_layers: Number of hidden layers.
        outputs: Number of outputs.
        activation: Name of φ, see `chainrule.nn.activations`.

    Example:
        >>> import torch
        >>> model = DenselyConnected(4, hidden_size=6, num_layers=3, outputs=2)
        >>> [layer.in_features for layer in model.layers]
        [4, 10, 16]
        >>> model(torch.zeros(5, 4)).shape
        torch.Size([5, 2])
    """

    def __init__(
        self,
        inputs: Count,
        hidden_size: Count,
        num_layers: Count,
        outputs: Count,
        activation: str = "relu",
    ):
        super().__init__()
        self.activation = activation_named(activation)
        *hidden, last = [inputs + hidden_size * place for place in range(num_layers + 1)]
        self.layers = nn.ModuleList(
            initialize(nn.Linear(n, hidden_size), "kaiming") for n in hidden
        )
        self.output = initialize(nn.Linear(last, outputs), "lecun")

    def forward(self, x: Float[Tensor, "batch *inputs"]) -> Float[Tensor, "batch outputs"]:
        h = x.flatten(1)
        for layer in self.layers:
            h = torch.cat([self.activation(layer(h)), h], dim=1)
        return self.output(h)


def example() -> tuple[DenselyConnected, Tensor]:
    """Three hidden layers, and five inputs."""
    return DenselyConnected(4, 6, 3, outputs=2), torch.randn(5, 4)
