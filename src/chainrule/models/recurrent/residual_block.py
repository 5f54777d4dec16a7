"""Residual block: what makes a deep network of layers whose recurrence is linear.

    u = x + F(N(x)),   y = u + W₂ GELU(W₁ N(u) + b₁) + b₂

with F any recurrent layer whose width is that of its inputs, and N layer normalization. F mixes
over time, the MLP between the units; the power that a linear recurrence lacks lies in the MLP.
`deep` puts an affine map in front and blocks behind each other. In training units are dropped on
both branches.

Orvieto et al. (2023), ICML; Gu, Goel and Ré (2022), ICLR. Notes: J 5.2 (the power moves to the
output map).
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.models.recurrent.lru import LRU
from chainrule.models.recurrent.recurrent import Recurrent, State
from chainrule.models.recurrent.sequence_classifier import SequenceClassifier
from chainrule.models.recurrent.stacked import Stacked
from chainrule.nn.dropout import dropout
from chainrule.nn.initialization import initialize
from chainrule.nn.sequences import without_padding

WIDER = 2  # the MLP's hidden layer, in widths


class ResidualBlock(Recurrent):
    """A layer and an MLP, each with a norm before it and a skip connection round it."""

    def __init__(self, layer: Recurrent, dropout: float = 0.0):
        if layer.inputs != layer.width:
            raise InputError(
                "a residual block adds its layer's output to its input: expected as many inputs as "
                f"units, got {layer.inputs} and {layer.width}"
            )
        super().__init__(layer.inputs, layer.width)
        self.layer, self.rate = layer, dropout
        self.norm, self.norm_within = nn.LayerNorm(layer.width), nn.LayerNorm(layer.width)
        self.up = initialize(nn.Linear(layer.width, WIDER * layer.width), "kaiming")
        self.down = initialize(nn.Linear(WIDER * layer.width, layer.width), "lecun")

    def forward(
        self,
        x: Float[Tensor, "batch steps inputs"],
        state: State | None = None,
        lengths: Int[Tensor, " batch"] | None = None,
    ) -> tuple[Float[Tensor, "batch steps width"], State]:
        self.check(x, lengths)
        mixed, after = self.layer(self.norm(x), state, lengths)
        u = x + dropout(mixed, self.rate, self.training)
        within = self.down(F.gelu(self.up(self.norm_within(u))))
        y = u + dropout(within, self.rate, self.training)
        return without_padding(y, lengths), after

    def initial(self, batch: int, like: Tensor) -> State:
        return self.layer.initial(batch, like)


class Projection(Recurrent):
    """W x_t + b at every step: a layer without memory, to change the width."""

    def __init__(self, inputs: int, width: int):
        super().__init__(inputs, width)
        self.affine = initialize(nn.Linear(inputs, width), "lecun")

    def forward(
        self,
        x: Float[Tensor, "batch steps inputs"],
        state: State | None = None,
        lengths: Int[Tensor, " batch"] | None = None,
    ) -> tuple[Float[Tensor, "batch steps width"], State]:
        self.check(x, lengths)
        return without_padding(self.affine(x), lengths), ()

    def initial(self, batch: int, like: Tensor) -> State:
        return ()


def deep(
    layer: Callable[[int, int], Recurrent],
    inputs: int,
    width: int,
    depth: int,
    dropout: float = 0.0,
) -> Stacked:
    """An affine map to the width, and `depth` blocks of fresh layers."""
    blocks = [ResidualBlock(layer(width, width), dropout) for _ in range(depth)]
    return Stacked([Projection(inputs, width), *blocks])


def example() -> tuple[SequenceClassifier, Tensor]:
    """Two LRU blocks of eight units that read six steps and answer with three classes."""
    return SequenceClassifier(deep(LRU, 4, 8, depth=2, dropout=0.1), 3), torch.randn(5, 6, 4)
