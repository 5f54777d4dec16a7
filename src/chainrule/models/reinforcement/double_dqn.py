"""Double deep Q-learning: the online network chooses the action, the target network values it.

    y = r + γ (1 - terminated) Q⁻(s', argmax_a' Q(s', a'))

The maximum over noisy values exceeds the true maximum on average, so deep Q-learning overestimates
Q. Two networks rarely overestimate the same action.

Van Hasselt, Guez and Silver (2016), AAAI. Notes: A 4.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from chainrule.arguments import checked
from chainrule.models.feedforward.mlp import MLP
from chainrule.models.reinforcement.dqn import DQN, Batch, q_of_action, td_target


@checked
class DoubleDQN(DQN):
    """Deep Q-learning whose target does not overestimate.

        y = r + γ (1 - terminated) Q⁻(s', argmax_a' Q(s', a'))
        ℓ = ½ (Q(s, a) - y)²

    Args:
        network: Maps observations to one value per action.
        target_network: Q⁻; a copy of `network` by default.

    >>> import torch
    >>> from chainrule.models.feedforward import MLP
    >>> from chainrule.models.reinforcement import DoubleDQN
    >>> DoubleDQN(MLP(4, [16], 2))(torch.zeros(5, 4)).shape
    torch.Size([5, 2])
    """

    @torch.no_grad()
    def targets(self, batch: Batch, discount: float) -> Float[Tensor, "*batch"]:
        """r + γ (1 - terminated) Q⁻(s', argmax_a' Q(s', a'))."""
        action = self(batch.next_observation).argmax(-1)
        value = q_of_action(self.target_network(batch.next_observation), action)
        return td_target(batch.reward, batch.terminated, value, discount)


def example() -> tuple[DoubleDQN, Tensor]:
    """A network for four features and two actions, and five observations."""
    return DoubleDQN(MLP(4, [16], 2)), torch.randn(5, 4)
