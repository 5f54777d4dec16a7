"""A network that standardizes its input images.

    f(x) = g((x - μ_c) / σ_c)

μ and σ are the mean and standard deviation of each channel over the training images. They are saved
with the weights, so that images are standardized in the same way in prediction.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from chainrule.arguments import Finite, checked


@checked
class Standardized(nn.Module):
    """g((x - μ) / σ), channel by channel.

    Args:
        inner: g.
        mean: μ, one value per channel.
        spread: σ, one value per channel.
    """

    mean: Float[Tensor, "channels 1 1"]
    spread: Float[Tensor, "channels 1 1"]

    def __init__(self, inner: nn.Module, mean: Sequence[Finite], spread: Sequence[Finite]):
        super().__init__()
        self.inner = inner
        self.register_buffer("mean", torch.tensor(mean).reshape(-1, 1, 1))
        self.register_buffer("spread", torch.tensor(spread).reshape(-1, 1, 1))

    def forward(
        self, x: Float[Tensor, "batch channels height width"]
    ) -> Float[Tensor, "batch *outputs"]:
        """g((x - μ) / σ)."""
        return self.inner((x - self.mean) / self.spread)
