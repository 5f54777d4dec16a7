"""Deep transition RNN: several layers between one state and the next.

    z_t = (F_L ∘ … ∘ F_1)(z_{t-1}, x_t):   y⁰ = x_t,   (yˡ, sˡ) = F_l(yˡ⁻¹, sˡ⁻¹),   s⁰ = s_{t-1}

Within one step the state passes through all layers; each layer reads the output of the one below.
For Elman layers this replaces φ(U z + V x) by a deep MLP. The state is that of a single layer. The
steps cannot be computed in parallel, so this is slow.

Pascanu, Gulcehre, Cho and Bengio (2014), ICLR. Notes: J 5 (the recurrence as a deep MLP).
"""

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

from chainrule.arguments import checked
from chainrule.errors import InputError
from chainrule.models.recurrent.gru import GRU
from chainrule.models.recurrent.recurrent import Recurrent, pack_state, state_tensors
from chainrule.models.recurrent.sequence_classifier import SequenceClassifier


@checked
class DeepTransition(Recurrent):
    """Recurrent layers that pass one state through all of them at every step.

        y⁰ = x_t,   s⁰ = s_{t-1},   (yˡ, sˡ) = F_l(yˡ⁻¹, sˡ⁻¹),   l = 1 … L

    The output is yᴸ, the state sᴸ.

    Args:
        layers: Layers of one kind and hidden_size; all but the first have
            input_size = hidden_size.

    >>> import torch
    >>> from chainrule.models.recurrent import GRU, DeepTransition
    >>> outputs, state = DeepTransition([GRU(4, 8), GRU(8, 8)])(torch.zeros(2, 5, 4))
    >>> outputs.shape, state.shape
    (torch.Size([2, 5, 8]), torch.Size([2, 8]))
    """

    def __init__(self, layers: Sequence[Recurrent]):
        if not layers:
            raise InputError("expected at least one recurrent layer, got none")
        for below, above in pairwise(layers):
            if (above.input_size, above.state_shapes) != (below.hidden_size, below.state_shapes):
                names = " before ".join(
                    f"{type(layer).__name__}({layer.input_size}, {layer.hidden_size})"
                    for layer in (below, above)
                )
                raise InputError(
                    "the layers of a deep transition share one state, so they must have the same "
                    f"kind and hidden_size, got {names}"
                )
        super().__init__(layers[0].input_size, layers[-1].hidden_size, layers[0].state_shapes)
        self.complex_state = layers[0].complex_state
        self.layers = nn.ModuleList(layers)

    def unroll(self, x: Tensor, *state: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        outputs, history = [], []
        current = pack_state(state)
        for y in x.split(1, 1):
            for layer in self.layers:
                y, current = layer(y, current)
            outputs.append(y)
            history.append(state_tensors(current))
        return torch.cat(outputs, 1), tuple(torch.stack(s, 1) for s in zip(*history, strict=True))


def example() -> tuple[SequenceClassifier, Tensor]:
    """A classifier of six steps into three classes, with two GRUs in each step."""
    return SequenceClassifier(DeepTransition([GRU(4, 8), GRU(8, 8)]), 3), torch.randn(5, 6, 4)
