"""Bidirectional RNN: one layer reads the sequence forwards, another backwards.

    y_t = [→z_t, ←z_t],   →z_t from x_1 … x_t,   ←z_t from x_T … x_t

Every output has seen the whole sequence. Each row is reversed within its own length, so that the
backward layer does not start on padding. The sequence cannot be fed in chunks: ←z needs its end.

Schuster and Paliwal (1997), IEEE Transactions on Signal Processing 45(11). Notes: J 5.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from chainrule.arguments import checked
from chainrule.errors import InputError
from chainrule.models.recurrent.elman import Elman
from chainrule.models.recurrent.recurrent import Recurrent, State, state_tensors
from chainrule.models.recurrent.sequence_classifier import SequenceClassifier
from chainrule.nn.sequences import last_valid, reverse


@checked
class Bidirectional(Recurrent):
    """Two recurrent layers that read in opposite directions.

        y_t = [→z_t, ←z_t],   →z_t from x_1 … x_t,   ←z_t from x_T … x_t

    The state holds the tensors of the forward layer, then those of the backward layer.

    Args:
        forward_layer: Reads from the first step to the last.
        backward_layer: Reads from the last step to the first.

    >>> import torch
    >>> from chainrule.models.recurrent import Bidirectional, Elman
    >>> layer = Bidirectional(Elman(4, 8), Elman(4, 8))
    >>> layer(torch.zeros(2, 5, 4))[0].shape
    torch.Size([2, 5, 16])
    """

    def __init__(self, forward_layer: Recurrent, backward_layer: Recurrent):
        if forward_layer.input_size != backward_layer.input_size:
            raise InputError(
                "forward_layer and backward_layer must have the same input_size, got "
                f"{forward_layer.input_size} and {backward_layer.input_size}"
            )
        hidden_size = forward_layer.hidden_size + backward_layer.hidden_size
        super().__init__(forward_layer.input_size, hidden_size)
        self.forward_layer, self.backward_layer = forward_layer, backward_layer

    def forward(
        self,
        x: Float[Tensor, "batch steps input_size"],
        state: State | None = None,
        lengths: Int[Tensor, " batch"] | None = None,
    ) -> tuple[Float[Tensor, "batch steps hidden_size"], State]:
        self.check_input(x, lengths)
        before = self.starting_state(x, state)
        cut = len(state_tensors(self.forward_layer.initial_state(0, x)))
        z, after = self.forward_layer(x, before[:cut], lengths)
        z_back, after_back = self.backward_layer(reverse(x, lengths), before[cut:], lengths)
        outputs = torch.cat([z, reverse(z_back, lengths)], 2)
        return outputs, state_tensors(after) + state_tensors(after_back)

    def initial_state(self, batch: int, like: Tensor) -> State:
        layers = self.forward_layer, self.backward_layer
        first, second = (state_tensors(layer.initial_state(batch, like)) for layer in layers)
        return first + second

    def summary(self, outputs: Tensor, lengths: Tensor | None) -> Tensor:
        """The forward layer's last output and the backward layer's output at the first step."""
        sizes = [self.forward_layer.hidden_size, self.backward_layer.hidden_size]
        forwards, backwards = outputs.split(sizes, 2)
        return torch.cat([last_valid(forwards, lengths), backwards[:, 0]], 1)


def example() -> tuple[SequenceClassifier, Tensor]:
    """A classifier of six steps into three classes, with eight units in each direction."""
    return SequenceClassifier(Bidirectional(Elman(4, 8), Elman(4, 8)), 3), torch.randn(5, 6, 4)
