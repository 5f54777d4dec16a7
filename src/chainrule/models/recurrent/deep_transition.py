"""Deep transition: several layers between one state and the next.

    z_t = (F_L ∘ … ∘ F_1)(z_{t-1}, x_t):   y⁰ = x_t,   (yˡ, sˡ) = F_l(yˡ⁻¹, sˡ⁻¹),   s⁰ = s_{t-1}

Within one step the state goes through all layers in turn, each seeing what the one before it shows;
for Elman's network that is a deep MLP in place of φ(U z + V x). The state is that of one layer,
however many there are. No step can begin before the one before it is through, so it is slow.

Pascanu, Gulcehre, Cho and Bengio (2014), ICLR. Notes: J 5 (the recurrence as a deep MLP).
"""

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.models.recurrent.gru import GRU
from chainrule.models.recurrent.recurrent import Recurrent, parts, together
from chainrule.models.recurrent.sequence_classifier import SequenceClassifier


class DeepTransition(Recurrent):
    """Layers of one kind and width, of which the first takes the inputs."""

    def __init__(self, layers: Sequence[Recurrent]):
        if not layers:
            raise InputError("expected at least one recurrent layer, got none")
        for below, above in pairwise(layers):
            if (above.inputs, above.states) != (below.width, below.states):
                raise InputError(
                    "the layers of a deep transition pass on one state: expected them to be of one "
                    f"kind and width, got {type(below).__name__}({below.inputs}, {below.width}) "
                    f"before {type(above).__name__}({above.inputs}, {above.width})"
                )
        super().__init__(layers[0].inputs, layers[-1].width, layers[0].states)
        self.complex_state = layers[0].complex_state
        self.layers = nn.ModuleList(layers)

    def unroll(self, x: Tensor, *state: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        outputs, courses = [], []
        now = together(state)
        for x_t in x.split(1, 1):
            y = x_t
            for layer in self.layers:
                y, now = layer(y, now)
            outputs.append(y)
            courses.append(parts(now))
        return torch.cat(outputs, 1), tuple(torch.stack(c, 1) for c in zip(*courses, strict=True))


def example() -> tuple[SequenceClassifier, Tensor]:
    """Two GRUs within each of six steps, answering with three classes."""
    return SequenceClassifier(DeepTransition([GRU(4, 8), GRU(8, 8)]), 3), torch.randn(5, 6, 4)
