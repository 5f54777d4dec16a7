"""Stacked network: the outputs of one recurrent layer are the inputs of the next.

    z_{t,l} = F_l(z_{t-1,l}, z_{t,l-1}),   z_{t,0} = x_t

In training a share of the units between two layers is dropped.

Joulin and Mikolov (2015), NeurIPS; Graves, Mohamed and Hinton (2013), ICASSP. Notes: J 5.
"""

from collections.abc import Sequence
from itertools import pairwise

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.models.recurrent.gru import GRU
from chainrule.models.recurrent.recurrent import Recurrent, State, parts
from chainrule.models.recurrent.sequence_classifier import SequenceClassifier
from chainrule.nn.dropout import dropout


class Stacked(Recurrent):
    """Layers of any kinds; the state is that of the first, then that of the second, …"""

    def __init__(self, layers: Sequence[Recurrent], dropout: float = 0.0):
        if not layers:
            raise InputError("expected at least one recurrent layer to stack, got none")
        for below, above in pairwise(layers):
            if below.width != above.inputs:
                raise InputError(
                    f"a layer with {above.inputs} inputs cannot follow one of {below.width} units"
                )
        if not 0 <= dropout < 1:
            raise InputError(f"expected a dropout from 0 to below 1, got {dropout}")
        super().__init__(layers[0].inputs, layers[-1].width)
        self.layers, self.rate = nn.ModuleList(layers), dropout

    @property
    def floors(self) -> list[Recurrent]:
        """The layers from the lowest to the highest."""
        return [layer for layer in self.layers if isinstance(layer, Recurrent)]

    def forward(
        self,
        x: Float[Tensor, "batch steps inputs"],
        state: State | None = None,
        lengths: Int[Tensor, " batch"] | None = None,
    ) -> tuple[Float[Tensor, "batch steps width"], State]:
        self.check(x, lengths)
        before = list(self.begin(x, state))
        after: tuple[Tensor, ...] = ()
        z = x
        for number, layer in enumerate(self.floors):
            if number:
                z = dropout(z, self.rate, self.training)
            own = tuple(before.pop(0) for _ in parts(layer.initial(0, x)))
            z, new = layer(z, own, lengths)
            after += parts(new)
        return z, after

    def initial(self, batch: int, like: Tensor) -> State:
        return tuple(part for layer in self.floors for part in parts(layer.initial(batch, like)))

    def summary(self, outputs: Tensor, lengths: Tensor | None) -> Tensor:
        return self.floors[-1].summary(outputs, lengths)


def example() -> tuple[SequenceClassifier, Tensor]:
    """Two layers of eight units that read six steps and answer with three classes."""
    return SequenceClassifier(Stacked([GRU(4, 8), GRU(8, 8)], 0.1), 3), torch.randn(5, 6, 4)
