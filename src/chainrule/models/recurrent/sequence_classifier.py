"""Sequence classifier: read all of it, then answer from what is left in mind.

    y = W z_T + c

with z_t the outputs of any recurrent layer, T the length of the sequence; a layer that reads both
ways is asked at both ends. What stands behind the end of a sequence, padding, changes nothing.

Elman (1990), Cognitive Science 14. Notes: J 5 (the final output), L "RNN Parameter Sharing" (use
only the last output).
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.models.recurrent.recurrent import Recurrent
from chainrule.nn.initialization import initialize


class SequenceClassifier(nn.Module):
    """A recurrent layer, and an affine map of its last output."""

    def __init__(self, layer: Recurrent, outputs: int):
        super().__init__()
        self.layer = layer
        self.output = initialize(nn.Linear(layer.width, outputs), "lecun")

    def forward(
        self, x: Float[Tensor, "batch steps inputs"], lengths: Int[Tensor, " batch"] | None = None
    ) -> Float[Tensor, "batch outputs"]:
        z, _ = self.layer(x, None, lengths)
        return self.output(self.layer.summary(z, lengths))


def example() -> tuple[SequenceClassifier, Tensor]:
    """A GRU that reads six steps both ways and answers with three classes."""
    from chainrule.models.recurrent.bidirectional import Bidirectional  # they show themselves by us
    from chainrule.models.recurrent.gru import GRU

    return SequenceClassifier(Bidirectional(GRU(4, 8), GRU(4, 8)), 3), torch.randn(5, 6, 4)
