"""Bidirectional network: one layer reads forwards, another backwards.

    y_t = [→z_t, ←z_t],   →z_t from x_1 … x_t,   ←z_t from x_T … x_t

so that every output has seen the whole sequence. Each row is turned round within its own length, so
the padding behind it is never read first. It cannot be fed piece by piece: ←z needs the end.

Schuster and Paliwal (1997), IEEE Transactions on Signal Processing 45(11). Notes: J 5.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from chainrule.errors import InputError
from chainrule.models.recurrent.elman import Elman
from chainrule.models.recurrent.recurrent import Recurrent, State, parts
from chainrule.models.recurrent.sequence_classifier import SequenceClassifier
from chainrule.nn.sequences import last, turned_round


class Bidirectional(Recurrent):
    """Two layers of any kind; the state is that of one and then that of the other."""

    def __init__(self, forwards: Recurrent, backwards: Recurrent):
        if forwards.inputs != backwards.inputs:
            raise InputError(
                "expected two layers with equally many inputs, got "
                f"{forwards.inputs} and {backwards.inputs}"
            )
        super().__init__(forwards.inputs, forwards.width + backwards.width)
        self.forwards, self.backwards = forwards, backwards

    def forward(
        self,
        x: Float[Tensor, "batch steps inputs"],
        state: State | None = None,
        lengths: Int[Tensor, " batch"] | None = None,
    ) -> tuple[Float[Tensor, "batch steps width"], State]:
        self.check(x, lengths)
        before = self.begin(x, state)
        cut = len(parts(self.forwards.initial(0, x)))
        z, after = self.forwards(x, before[:cut], lengths)
        z_back, after_back = self.backwards(turned_round(x, lengths), before[cut:], lengths)
        outputs = torch.cat([z, turned_round(z_back, lengths)], 2)
        return outputs, parts(after) + parts(after_back)

    def initial(self, batch: int, like: Tensor) -> State:
        return parts(self.forwards.initial(batch, like)) + parts(
            self.backwards.initial(batch, like)
        )

    def summary(self, outputs: Tensor, lengths: Tensor | None) -> Tensor:
        """The last output of the one, the first of the other: both have seen everything."""
        forwards, backwards = outputs.split([self.forwards.width, self.backwards.width], 2)
        return torch.cat([last(forwards, lengths), backwards[:, 0]], 1)


def example() -> tuple[SequenceClassifier, Tensor]:
    """Eight units each way that read six steps and answer with three classes."""
    return SequenceClassifier(Bidirectional(Elman(4, 8), Elman(4, 8)), 3), torch.randn(5, 6, 4)
