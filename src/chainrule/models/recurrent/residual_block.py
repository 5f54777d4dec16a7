"""Residual block: how layers with a linear recurrence become a deep nonlinear network.

    u = x + F(N(x)),   y = u + W₂ GELU(W₁ N(u) + b₁) + b₂

F is a recurrent layer with input_size = hidden_size, N is layer normalization. F mixes over time,
the MLP over the units; the MLP supplies the nonlinearity that F lacks. `residual_stack` puts an
affine map in front of several blocks. Dropout acts on both branches.

Orvieto et al. (2023), ICML; Gu, Goel and Ré (2022), ICLR. Notes: J 5.2 (the power moves to the
output map).
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.arguments import Count, Rate, checked
from chainrule.errors import InputError
from chainrule.models.recurrent.lru import LRU
from chainrule.models.recurrent.recurrent import Recurrent, State
from chainrule.models.recurrent.sequence_classifier import SequenceClassifier
from chainrule.models.recurrent.stacked import Stacked
from chainrule.nn.dropout import dropout
from chainrule.nn.initialization import initialize
from chainrule.nn.sequences import zero_padding

EXPANSION = 2  # hidden units of the MLP, in multiples of hidden_size


@checked
class ResidualBlock(Recurrent):
    """A recurrent layer and an MLP, each with a norm before it and a residual connection.

        u = x + F(N(x))
        y = u + W₂ GELU(W₁ N(u) + b₁) + b₂

    The state is that of the layer.

    Args:
        layer: F, a recurrent layer with input_size = hidden_size.
        dropout: Dropout rate of both branches.

    >>> import torch
    >>> from chainrule.models.recurrent import LRU, ResidualBlock
    >>> block = ResidualBlock(LRU(8, 8))
    >>> block(torch.zeros(2, 5, 8))[0].shape
    torch.Size([2, 5, 8])
    """

    def __init__(self, layer: Recurrent, dropout: Rate = 0.0):
        size = layer.hidden_size
        if layer.input_size != size:
            raise InputError(
                "a residual block adds its layer's output to its input, so input_size must equal "
                f"hidden_size, got {layer.input_size} and {size}"
            )
        super().__init__(size, size)
        self.layer, self.dropout = layer, dropout
        self.norm_1, self.norm_2 = nn.LayerNorm(size), nn.LayerNorm(size)
        self.inner = initialize(nn.Linear(size, EXPANSION * size), "kaiming")
        self.outer = initialize(nn.Linear(EXPANSION * size, size), "lecun")

    def forward(
        self,
        x: Float[Tensor, "batch steps input_size"],
        state: State | None = None,
        lengths: Int[Tensor, " batch"] | None = None,
    ) -> tuple[Float[Tensor, "batch steps hidden_size"], State]:
        self.check_input(x, lengths)
        mixed, after = self.layer(self.norm_1(x), state, lengths)
        u = x + dropout(mixed, self.dropout, self.training)
        mlp = self.outer(F.gelu(self.inner(self.norm_2(u))))
        y = u + dropout(mlp, self.dropout, self.training)
        return zero_padding(y, lengths), after

    def initial_state(self, batch: int, like: Tensor) -> State:
        return self.layer.initial_state(batch, like)


@checked
class Projection(Recurrent):
    """An affine map at every step, a layer without a state that changes the size.

        y_t = W x_t + b

    Args:
        input_size: Features of each step.
        hidden_size: Features of each output.

    >>> import torch
    >>> from chainrule.models.recurrent import Projection
    >>> outputs, state = Projection(4, 8)(torch.zeros(2, 5, 4))
    >>> outputs.shape, state
    (torch.Size([2, 5, 8]), ())
    """

    def __init__(self, input_size: Count, hidden_size: Count):
        super().__init__(input_size, hidden_size)
        self.affine = initialize(nn.Linear(input_size, hidden_size), "lecun")

    def forward(
        self,
        x: Float[Tensor, "batch steps input_size"],
        state: State | None = None,
        lengths: Int[Tensor, " batch"] | None = None,
    ) -> tuple[Float[Tensor, "batch steps hidden_size"], State]:
        self.check_input(x, lengths)
        return zero_padding(self.affine(x), lengths), ()

    def initial_state(self, batch: int, like: Tensor) -> State:
        return ()


@checked
def residual_stack(
    cell_class: Callable[[int, int], Recurrent],
    input_size: Count,
    hidden_size: Count,
    num_layers: Count,
    dropout: Rate = 0.0,
) -> Stacked:
    """An affine map to hidden_size features, then num_layers residual blocks of new layers.

    >>> from chainrule.models.recurrent import LRU
    >>> residual_stack(LRU, 3, 8, num_layers=2).hidden_size
    8

    Args:
        cell_class: makes a layer from input size and hidden size.
        input_size: features of each step.
        hidden_size: features between the blocks.
        num_layers: residual blocks.
        dropout: probability inside the blocks.
    """
    layers = (cell_class(hidden_size, hidden_size) for _ in range(num_layers))
    blocks = [ResidualBlock(layer, dropout) for layer in layers]
    return Stacked([Projection(input_size, hidden_size), *blocks])


def example() -> tuple[SequenceClassifier, Tensor]:
    """A classifier of six steps into three classes, with two LRU blocks of eight units."""
    stack = residual_stack(LRU, 4, 8, num_layers=2, dropout=0.1)
    return SequenceClassifier(stack, 3), torch.randn(5, 6, 4)
