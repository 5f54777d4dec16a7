"""Double deep Q-learning: one network chooses the action, the other says what it is worth.

    y = r + γ (1 - terminated) Q⁻(s', argmax_a' Q(s', a'))

The maximum over noisy values lies above the value of the maximum, so deep Q-learning promises
itself too much. Two networks seldom err upwards on the same action.

Van Hasselt, Guez and Silver (2016), AAAI. Notes: A 4.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from chainrule.models.feedforward.mlp import MLP
from chainrule.models.reinforcement.dqn import DQN, Batch, bootstrapped, chosen


class DoubleDQN(DQN):
    """Deep Q-learning with another target."""

    @torch.no_grad()
    def targets(self, batch: Batch, discount: float) -> Float[Tensor, "*batch"]:
        """r + γ (1 - terminated) Q⁻(s', argmax_a' Q(s', a'))."""
        action = self(batch.following).argmax(-1)
        value = chosen(self.older(batch.following), action)
        return bootstrapped(batch.reward, batch.terminated, value, discount)


def example() -> tuple[DoubleDQN, Tensor]:
    """A network for four numbers and two actions, and five observations."""
    return DoubleDQN(MLP(4, [16], 2)), torch.randn(5, 4)
