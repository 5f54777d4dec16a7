"""Deep Q-learning: a network learns the value of every action from a replay buffer.

    y = r + γ (1 - terminated) max_a' Q⁻(s', a')       target, from an older copy Q⁻ of the network
    ℓ = ½ (Q(s, a) - y)²                               over a batch drawn from the replay buffer
    a = argmax_a Q(s, a), with probability ε at random

The buffer breaks the correlation of successive steps; the target network keeps the targets from
moving with every update. An episode cut off by a time limit still has a future: only termination
ends it. The paper clips the error to [-1, 1]; here the loss is the square.

Mnih et al. (2015), Nature 518. Notes: A 4.
"""

import copy
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from chainrule.arguments import Count, checked
from chainrule.models.feedforward.mlp import MLP


@checked
class DQN(nn.Module):
    """Deep Q-network: a value network and the target network its targets come from.

        y = r + γ (1 - terminated) max_a' Q⁻(s', a')
        ℓ = ½ (Q(s, a) - y)²

    Args:
        network: Maps observations to one value per action.
        target_network: Q⁻; a copy of `network` by default.

    >>> import torch
    >>> from chainrule.models.feedforward import MLP
    >>> from chainrule.models.reinforcement import DQN
    >>> dqn = DQN(MLP(4, [16], 2))
    >>> dqn(torch.zeros(5, 4)).shape
    torch.Size([5, 2])
    >>> dqn.update_target()  # Q⁻ ← Q
    """

    def __init__(self, network: nn.Module, target_network: nn.Module | None = None):
        super().__init__()
        self.network = network
        target = copy.deepcopy(network) if target_network is None else target_network
        self.target_network = target.requires_grad_(False)

    def forward(self, x: Float[Tensor, "*batch n"]) -> Float[Tensor, "*batch actions"]:
        """Q(s, ·)."""
        return self.network(x)

    @torch.no_grad()
    def targets(self, batch: "Batch", discount: float) -> Float[Tensor, "*batch"]:
        """r + γ (1 - terminated) max_a' Q⁻(s', a')."""
        value = self.target_network(batch.next_observation).amax(-1)
        return td_target(batch.reward, batch.terminated, value, discount)

    def losses(self, batch: "Batch", discount: float) -> Float[Tensor, "*batch"]:
        """½ (Q(s, a) - y)², one value per transition."""
        y = self.targets(batch, discount)
        q = q_of_action(self(batch.observation), batch.action)
        return 0.5 * (q - y).square()

    @torch.no_grad()
    def update_target(self, rate: float = 1.0) -> None:
        """θ⁻ ← θ⁻ + rate (θ - θ⁻); a rate of 1 copies the network."""
        target: list[Tensor] = list(self.target_network.parameters())
        online: list[Tensor] = list(self.network.parameters())
        torch._foreach_lerp_(target, online, rate)


class Batch(NamedTuple):
    """Transitions (s, a, r, s', terminated).

    Args:
        observation: s.
        action: a, the index of the action taken.
        reward: r.
        next_observation: s'.
        terminated: Whether s' ends the episode, so that its value is zero.

    >>> import torch
    >>> from chainrule.models.reinforcement import Batch
    >>> one = torch.zeros(1)
    >>> Batch(one[:, None], one.long(), one, one[:, None], one > 0).terminated
    tensor([False])
    """

    observation: Float[Tensor, "*batch n"]
    action: Int[Tensor, "*batch"]
    reward: Float[Tensor, "*batch"]
    next_observation: Float[Tensor, "*batch n"]
    terminated: Bool[Tensor, "*batch"]


@checked
class ReplayBuffer:
    """The last `capacity` transitions of each agent, oldest overwritten first.

    Args:
        num_agents: Agents, each with its own transitions.
        capacity: Transitions kept for each agent.
        observation_size: Features of an observation.

    >>> import torch
    >>> from chainrule.models.reinforcement import Batch, ReplayBuffer
    >>> buffer = ReplayBuffer(num_agents=1, capacity=100, observation_size=4)
    >>> x, zero = torch.zeros(1, 3, 4), torch.zeros(1, 3)
    >>> buffer.add(Batch(x, zero.long(), zero, x, zero > 0))
    >>> len(buffer), buffer.sample(2, torch.Generator()).reward.shape
    (3, torch.Size([1, 2]))
    """

    def __init__(self, num_agents: Count, capacity: Count, observation_size: Count):
        shape = (num_agents, capacity)
        self.storage = Batch(
            torch.zeros(*shape, observation_size),
            torch.zeros(shape, dtype=torch.int64),
            torch.zeros(shape),
            torch.zeros(*shape, observation_size),
            torch.zeros(shape, dtype=torch.bool),
        )
        self.flat = [t.flatten(0, 1) for t in self.storage]  # views of the storage
        self.offset = torch.arange(num_agents)[:, None] * capacity
        self.seen = 0

    def __len__(self) -> int:
        return min(self.seen, self.storage.action.shape[1])

    def add(self, transitions: Batch) -> None:
        """Store transitions of shape (num_agents, number)."""
        capacity, number = self.storage.action.shape[1], transitions.action.shape[1]
        positions = (self.seen + torch.arange(number)) % capacity
        for stored, new in zip(self.storage, transitions, strict=True):
            stored[:, positions] = new
        self.seen += number

    def sample(self, batch_size: int, generator: torch.Generator) -> Batch:
        """(num_agents, batch_size) transitions, drawn uniformly with replacement."""
        num_agents = len(self.offset)
        drawn = torch.randint(len(self), (num_agents, batch_size), generator=generator)
        rows = (drawn + self.offset).flatten()
        found = (t.index_select(0, rows) for t in self.flat)
        return Batch(*(t.unflatten(0, (num_agents, batch_size)) for t in found))

    def state(self) -> dict[str, Tensor]:
        """The contents, for a checkpoint."""
        filled = {k: t[:, : len(self)] for k, t in self.storage._asdict().items()}
        return filled | {"seen": torch.tensor(self.seen)}

    def restore(self, state: dict[str, Tensor]) -> None:
        """Continue from a saved state."""
        self.seen = int(state["seen"])
        for name, stored in self.storage._asdict().items():
            stored[:, : len(self)] = state[name]


def td_target(
    reward: Float[Tensor, "*batch"],
    terminated: Bool[Tensor, "*batch"],
    value: Float[Tensor, "*batch"],
    discount: float,
) -> Float[Tensor, "*batch"]:
    """r + γ (1 - terminated) V(s')."""
    return reward + discount * value.masked_fill(terminated, 0.0)


def q_of_action(
    q: Float[Tensor, "*batch actions"], action: Int[Tensor, "*batch"]
) -> Float[Tensor, "*batch"]:
    """Q(s, a) of the given actions."""
    return q.gather(-1, action[..., None])[..., 0]


def example() -> tuple[DQN, Tensor]:
    """A network for four features and two actions, and five observations."""
    return DQN(MLP(4, [16], 2)), torch.randn(5, 4)
