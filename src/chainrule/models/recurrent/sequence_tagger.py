"""Sequence tagger: an answer at every step, from what has been read so far.

    y_t = W z_t + c

with z_t the outputs of any recurrent layer; with one that reads both ways, from the whole sequence.
The answers behind the end of a sequence are zero. Notes: J 5 (same-length prediction), L "RNN
Parameter Sharing" (type 2, an output for every step). Elman (1990), Cognitive Science 14.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.models.recurrent.elman import Elman
from chainrule.models.recurrent.recurrent import Recurrent
from chainrule.nn.initialization import initialize
from chainrule.nn.sequences import without_padding


class SequenceTagger(nn.Module):
    """A recurrent layer, and an affine map of each of its outputs."""

    def __init__(self, layer: Recurrent, outputs: int):
        super().__init__()
        self.layer = layer
        self.output = initialize(nn.Linear(layer.width, outputs), "lecun")

    def forward(
        self, x: Float[Tensor, "batch steps inputs"], lengths: Int[Tensor, " batch"] | None = None
    ) -> Float[Tensor, "batch steps outputs"]:
        z, _ = self.layer(x, None, lengths)
        return without_padding(self.output(z), lengths)


def example() -> tuple[SequenceTagger, Tensor]:
    """Eight units that answer each of six steps with three classes."""
    return SequenceTagger(Elman(4, 8), 3), torch.randn(5, 6, 4)
