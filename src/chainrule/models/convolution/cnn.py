"""Convolutional network: stages of convolutions and max pooling, then a perceptron.

    h ← φ(N(w ∗ h + b))                    each convolution of a stage; N is the identity or a
                                           batch norm, which has its own b
    h_ij ← max_{a, b < 2} h_{2i+a, 2j+b}   after each stage: half the height and width
    f(x) = MLP(h)

`filters` says how many filters each convolution has: (32, 64) is two stages of one convolution,
((32, 32), (64, 64)) two stages of two.

LeCun et al. (1998), Proc. IEEE 86; Krizhevsky et al. (2012), NeurIPS.
Notes: J 4.2, A 2.1, A 2.2.3, L "CNN core concepts".
"""

from collections.abc import Sequence
from itertools import pairwise

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.models.feedforward.mlp import MLP
from chainrule.nn.activations import activation as activation_named
from chainrule.nn.dropout import dropout as dropped
from chainrule.nn.initialization import initialize

NORMS = {None: nn.Identity, "batch": nn.BatchNorm2d}


class CNN(nn.Module):
    """`stages` holds the convolutions, each with its norm, `head` the perceptron.

    Dropout is one rate, or one for each stage and then each hidden layer.
    """

    def __init__(
        self,
        inputs: tuple[int, int, int],
        filters: Sequence[int | Sequence[int]],
        classes: int,
        hidden: Sequence[int] = (),
        kernel: int = 3,
        dropout: float | Sequence[float] = 0.0,
        norm: str | None = None,
        activation: str = "relu",
    ):
        super().__init__()
        if norm not in NORMS:
            raise InputError(f"there is no norm {norm!r} of images; choose 'batch' or None")
        if kernel < 1 or kernel % 2 == 0:
            raise InputError(f"expected a kernel of odd size, which has a center, got {kernel}")
        stages = _stages(filters)
        rates = _rates(dropout, len(stages), len(hidden))
        self.activation, self.rates = activation_named(activation), rates[: len(stages)]
        self.stages, channels = nn.ModuleList(), inputs[0]
        for widths in stages:
            sizes = pairwise((channels, *widths))
            self.stages.append(nn.Sequential(*(_layer(m, n, kernel, norm) for m, n in sizes)))
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


def _layer(inputs: int, outputs: int, kernel: int, norm: str | None) -> nn.Module:
    """N(w ∗ h + b), of the same height and width."""
    layer = nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2, bias=norm is None)
    return nn.Sequential(initialize(layer, "kaiming"), NORMS[norm](outputs))


def _stages(filters: Sequence[int | Sequence[int]]) -> list[tuple[int, ...]]:
    """The numbers of filters, stage by stage."""
    stages = [(stage,) if isinstance(stage, int) else tuple(stage) for stage in filters]
    if not all(stage and min(stage) >= 1 for stage in stages):
        raise InputError(
            f"every stage needs convolutions of at least one filter, such as 32 or (32, 32), "
            f"got {tuple(filters)}"
        )
    return stages


def _pixels(inputs: tuple[int, int, int], stages: int) -> int:
    """What is left of an image when every stage has halved it."""
    _, height, width = inputs
    left = (height >> stages) * (width >> stages)
    if not left:
        raise InputError(
            f"images of {height}×{width} vanish when {stages} stages halve them; take fewer stages "
            "or larger images"
        )
    return left


def _rates(dropout: float | Sequence[float], stages: int, hidden: int) -> tuple[float, ...]:
    """One probability per stage and per hidden layer."""
    number = stages + hidden
    rates = tuple(dropout) if isinstance(dropout, Sequence) else (dropout,) * number
    if len(rates) != number or not all(0 <= rate < 1 for rate in rates):
        raise InputError(
            f"expected dropout as one probability below 1, or one for each of the {stages} stages "
            f"and {hidden} hidden layers, got {dropout}"
        )
    return rates


def example() -> tuple[CNN, Tensor]:
    """Two stages of two and one convolutions, and five small images."""
    model = CNN((1, 8, 8), ((4, 4), 8), 3, hidden=(16,), dropout=0.1, norm="batch")
    return model, torch.randn(5, 1, 8, 8)
