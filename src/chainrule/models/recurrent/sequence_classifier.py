"""Sequence classifier: one answer after the whole sequence has been read.

    y = W z_T + c

z_t are the outputs of a recurrent layer and T is the length of the sequence; a bidirectional layer
contributes its outputs at both ends. Padding after the end changes nothing.

Elman (1990), Cognitive Science 14. Notes: J 5 (the final output), L "RNN Parameter Sharing" (use
only the last output).
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.arguments import Count, checked
from chainrule.models.recurrent.recurrent import Recurrent
from chainrule.nn.initialization import initialize


@checked
class SequenceClassifier(nn.Module):
    """A recurrent layer and an affine map of its last output.

        y = W z_T + c

    Args:
        layer: Recurrent layer or network with outputs z_t.
        outputs: Number of classes, or of values to predict.

    >>> import torch
    >>> from chainrule.models.recurrent import GRU, SequenceClassifier
    >>> model = SequenceClassifier(GRU(4, 8), 3)
    >>> model(torch.zeros(2, 5, 4), lengths=torch.tensor([5, 3])).shape
    torch.Size([2, 3])
    """

    def __init__(self, layer: Recurrent, outputs: Count):
        super().__init__()
        self.layer = layer
        self.output = initialize(nn.Linear(layer.hidden_size, outputs), "lecun")

    def forward(
        self,
        x: Float[Tensor, "batch steps input_size"],
        lengths: Int[Tensor, " batch"] | None = None,
    ) -> Float[Tensor, "batch outputs"]:
        z, _ = self.layer(x, None, lengths)
        return self.output(self.layer.summary(z, lengths))


def example() -> tuple[SequenceClassifier, Tensor]:
    """A bidirectional GRU that classifies six steps into three classes."""
    from chainrule.models.recurrent.bidirectional import Bidirectional  # it imports this file
    from chainrule.models.recurrent.gru import GRU

    return SequenceClassifier(Bidirectional(GRU(4, 8), GRU(4, 8)), 3), torch.randn(5, 6, 4)
