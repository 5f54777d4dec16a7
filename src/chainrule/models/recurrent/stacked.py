"""Stacked RNN: the outputs of one recurrent layer are the inputs of the next.

    z_{t,l} = F_l(z_{t-1,l}, z_{t,l-1}),   z_{t,0} = x_t

Depth in space, where `deep_transition` is depth in time. Dropout acts between the layers.

Schmidhuber (1992), Neural Computation 4; El Hihi and Bengio (1995), NeurIPS; Graves, Mohamed and
Hinton (2013), ICASSP. Notes: J 5 (depth by stacking).
"""

from collections.abc import Sequence
from itertools import pairwise

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.arguments import Rate, checked
from chainrule.errors import InputError
from chainrule.models.recurrent.gru import GRU
from chainrule.models.recurrent.recurrent import Recurrent, State, state_tensors
from chainrule.models.recurrent.sequence_classifier import SequenceClassifier
from chainrule.nn.dropout import dropout


@checked
class Stacked(Recurrent):
    """Recurrent layers on top of each other, a deep RNN.

        z_{t,l} = F_l(z_{t-1,l}, z_{t,l-1}),   z_{t,0} = x_t

    The state holds the tensors of all layers, the lowest layer first.

    Args:
        layers: Recurrent layers of any kinds, from the lowest to the highest.
        dropout: Dropout rate between the layers.

    >>> import torch
    >>> from chainrule.models.recurrent import GRU, Stacked
    >>> outputs, state = Stacked([GRU(4, 8), GRU(8, 16)])(torch.zeros(2, 5, 4))
    >>> outputs.shape, [tuple(t.shape) for t in state]
    (torch.Size([2, 5, 16]), [(2, 8), (2, 16)])
    """

    def __init__(self, layers: Sequence[Recurrent], dropout: Rate = 0.0):
        if not layers:
            raise InputError("expected at least one recurrent layer to stack, got none")
        for below, above in pairwise(layers):
            if below.hidden_size != above.input_size:
                raise InputError(
                    f"a layer with input_size {above.input_size} cannot follow one with "
                    f"hidden_size {below.hidden_size}"
                )
        super().__init__(layers[0].input_size, layers[-1].hidden_size)
        self.layers, self.dropout = nn.ModuleList(layers), dropout

    @property
    def recurrent_layers(self) -> list[Recurrent]:
        """The layers from the lowest to the highest, with their type."""
        return [layer for layer in self.layers if isinstance(layer, Recurrent)]

    def forward(
        self,
        x: Float[Tensor, "batch steps input_size"],
        state: State | None = None,
        lengths: Int[Tensor, " batch"] | None = None,
    ) -> tuple[Float[Tensor, "batch steps hidden_size"], State]:
        self.check_input(x, lengths)
        before = list(self.starting_state(x, state))
        after: tuple[Tensor, ...] = ()
        z = x
        for number, layer in enumerate(self.recurrent_layers):
            if number:
                z = dropout(z, self.dropout, self.training)
            own = tuple(before.pop(0) for _ in state_tensors(layer.initial_state(0, x)))
            z, new = layer(z, own, lengths)
            after += state_tensors(new)
        return z, after

    def initial_state(self, batch: int, like: Tensor) -> State:
        states = (layer.initial_state(batch, like) for layer in self.recurrent_layers)
        return tuple(tensor for state in states for tensor in state_tensors(state))

    def summary(self, outputs: Tensor, lengths: Tensor | None) -> Tensor:
        return self.recurrent_layers[-1].summary(outputs, lengths)


def example() -> tuple[SequenceClassifier, Tensor]:
    """A classifier of six steps into three classes, with two layers of eight units."""
    return SequenceClassifier(Stacked([GRU(4, 8), GRU(8, 8)], 0.1), 3), torch.randn(5, 6, 4)
