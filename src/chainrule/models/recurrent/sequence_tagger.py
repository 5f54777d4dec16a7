"""Sequence tagger: an answer at every step.

    y_t = W z_t + c

z_t are the outputs of a recurrent layer, from the past only or, if it is bidirectional, from the
whole sequence. Answers after the end of a sequence are zero. Notes: J 5 (same-length prediction),
L "RNN Parameter Sharing" (type 2, an output for every step). Elman (1990), Cognitive Science 14.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.arguments import Count, checked
from chainrule.models.recurrent.elman import Elman
from chainrule.models.recurrent.recurrent import Recurrent
from chainrule.nn.initialization import initialize
from chainrule.nn.sequences import zero_padding


@checked
class SequenceTagger(nn.Module):
    """A recurrent layer and an affine map of each of its outputs.

        y_t = W z_t + c

    Args:
        layer: Recurrent layer or network with outputs z_t.
        outputs: Number of classes, or of values to predict, at each step.

    >>> import torch
    >>> from chainrule.models.recurrent import Elman, SequenceTagger
    >>> SequenceTagger(Elman(4, 8), 3)(torch.zeros(2, 5, 4)).shape
    torch.Size([2, 5, 3])
    """

    def __init__(self, layer: Recurrent, outputs: Count):
        super().__init__()
        self.layer = layer
        self.output = initialize(nn.Linear(layer.hidden_size, outputs), "lecun")

    def forward(
        self,
        x: Float[Tensor, "batch steps input_size"],
        lengths: Int[Tensor, " batch"] | None = None,
    ) -> Float[Tensor, "batch steps outputs"]:
        z, _ = self.layer(x, None, lengths)
        return zero_padding(self.output(z), lengths)


def example() -> tuple[SequenceTagger, Tensor]:
    """A tagger of six steps with three classes and eight units."""
    return SequenceTagger(Elman(4, 8), 3), torch.randn(5, 6, 4)
