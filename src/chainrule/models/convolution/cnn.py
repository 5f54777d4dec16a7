"""Convolutional network: stages of convolutions and max pooling, then an MLP.

    h ← φ(N(w ∗ h + b))                    each convolution of a stage; N is the identity, or
                                           batch normalization, which takes the place of b
    h_ij ← max_{a, b < 2} h_{2i+a, 2j+b}   after each stage: half the height and width
    f(x) = MLP(h)

LeCun et al. (1998), Proc. IEEE 86; Krizhevsky et al. (2012), NeurIPS.
Notes: J 4.2, A 2.1, A 2.2.3, L "CNN core concepts".
"""

from collections.abc import Sequence
from itertools import pairwise

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from chainrule.arguments import Count, Rate, checked
from chainrule.errors import InputError
from chainrule.models.feedforward.mlp import MLP
from chainrule.nn.activations import activation as activation_named
from chainrule.nn.dropout import dropout as dropped
from chainrule.nn.initialization import initialize

NORMS = {None: nn.Identity, "batch": nn.BatchNorm2d}


@checked
class CNN(nn.Module):
    """Stages of convolutions, each ending in max pooling that halves the image, then an MLP.

        h ← φ(N(w ∗ h + b)),     h_ij ← max_{a, b < 2} h_{2i+a, 2j+b},     f(x) = MLP(h)

    Args:
        inputs: Shape (channels, height, width) of an image.
        filters: Filters of each convolution: (32, 64) is two stages of one convolution each,
            ((32, 32), (64, 64)) two stages of two.
        classes: Number of outputs.
        hidden: Units of each hidden layer of the MLP.
        kernel_size: Side of the kernels, an odd number.
        dropout: Probability of dropping a unit: one, or one for each stage and hidden layer.
        norm: "batch" for batch normalization N before φ, or None.
        activation: Name of φ, see `chainrule.nn.activations`.

    Example:
        >>> import torch
        >>> model = CNN((1, 28, 28), (32, 64), 10, hidden=(128,), norm="batch")
        >>> model(torch.zeros(2, 1, 28, 28)).shape
        torch.Size([2, 10])
    """

    def __init__(
        self,
        inputs: tuple[Count, Count, Count],
        filters: Sequence[Count | Sequence[Count]],
        classes: Count,
        hidden: Sequence[Count] = (),
        kernel_size: Count = 3,
        dropout: Rate | Sequence[Rate] = 0.0,
        norm: str | None = None,
        activation: str = "relu",
    ):
        super().__init__()
        if norm not in NORMS:
            raise InputError(f"norm must be 'batch' or None, got {norm!r}")
        if kernel_size % 2 == 0:
            raise InputError(f"kernel_size must be odd, got {kernel_size}")
        stages = _stages(filters)
        rates = _rates(dropout, len(stages), len(hidden))
        self.activation, self.rates = activation_named(activation), rates[: len(stages)]
        self.stages, channels = nn.ModuleList(), inputs[0]
        for widths in stages:
            sizes = pairwise((channels, *widths))
            self.stages.append(nn.Sequential(*(_layer(m, n, kernel_size, norm) for m, n in sizes)))
            channels = widths[-1]
        features = channels * _pixels(inputs, len(stages))
        self.head = MLP(features, hidden, classes, activation, rates[len(stages) :], norm=norm)

    def forward(
        self, x: Float[Tensor, "batch channels height width"]
    ) -> Float[Tensor, "batch classes"]:
        h = x
        for stage, rate in zip(self.stages, self.rates, strict=True):
            for layer in stage.children():
                h = self.activation(layer(h))
            h = dropped(F.max_pool2d(h, 2), rate, self.training)
        return self.head(h)


def _layer(inputs: int, outputs: int, kernel_size: int, norm: str | None) -> nn.Module:
    """N(w ∗ h + b), of the same height and width."""
    layer = nn.Conv2d(inputs, outputs, kernel_size, padding=kernel_size // 2, bias=norm is None)
    return nn.Sequential(initialize(layer, "kaiming"), NORMS[norm](outputs))


def _stages(filters: Sequence[int | Sequence[int]]) -> list[tuple[int, ...]]:
    """The filters of each convolution, stage by stage."""
    stages = [(stage,) if isinstance(stage, int) else tuple(stage) for stage in filters]
    if not all(stages):
        raise InputError(
            f"filters must give every stage convolutions of at least one filter, such as 32 or "
            f"(32, 32), got {tuple(filters)}"
        )
    return stages


def _pixels(inputs: tuple[int, int, int], stages: int) -> int:
    """The pixels of an image that every stage has halved."""
    _, height, width = inputs
    left = (height >> stages) * (width >> stages)
    if not left:
        raise InputError(
            f"images of {height}×{width} are too small for {stages} stages that halve them; use "
            "fewer stages or larger images"
        )
    return left


def _rates(dropout: float | Sequence[float], stages: int, hidden: int) -> tuple[float, ...]:
    """One probability per stage and per hidden layer."""
    number = stages + hidden
    rates = tuple(dropout) if isinstance(dropout, Sequence) else (dropout,) * number
    if len(rates) != number:
        raise InputError(
            f"dropout must be one probability, or one for each of the {stages} stages and "
            f"{hidden} hidden layers, got {dropout}"
        )
    return rates


def example() -> tuple[CNN, Tensor]:
    """A stage of two convolutions and one of one, and five small images."""
    model = CNN((1, 8, 8), ((4, 4), 8), 3, hidden=(16,), dropout=0.1, norm="batch")
    return model, torch.randn(5, 1, 8, 8)
