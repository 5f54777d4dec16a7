"""Deep Q-learning: a network learns the value of every action from remembered steps.

    y = r + γ (1 - terminated) max_a' Q⁻(s', a')       target, from an older copy Q⁻ of the network
    ℓ = ½ (Q(s, a) - y)²                               over a batch drawn from the replay memory
    a = argmax_a Q(s, a), with probability ε at random

Without the memory successive steps resemble each other; without the older copy each update would
move its own target. An episode cut off by the clock still has a future: only termination ends it.
The paper clips the error to [-1, 1]; here the loss is the square.

Mnih et al. (2015), Nature 518. Notes: A 4.
"""

import copy
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.models.feedforward.mlp import MLP


class DQN(nn.Module):
    """Any network with one output per action, and the older copy that its targets come from."""

    def __init__(self, network: nn.Module, older: nn.Module | None = None):
        super().__init__()
        self.network = network
        self.older = (copy.deepcopy(network) if older is None else older).requires_grad_(False)

    def forward(self, x: Float[Tensor, "*batch n"]) -> Float[Tensor, "*batch actions"]:
        """Q(s, ·)."""
        return self.network(x)

    @torch.no_grad()
    def targets(self, batch: "Batch", discount: float) -> Float[Tensor, "*batch"]:
        """r + γ (1 - terminated) max_a' Q⁻(s', a')."""
        value = self.older(batch.following).amax(-1)
        return bootstrapped(batch.reward, batch.terminated, value, discount)

    def losses(self, batch: "Batch", discount: float) -> Float[Tensor, "*batch"]:
        """½ (Q(s, a) - y)², one value per remembered step."""
        y = self.targets(batch, discount)
        q = chosen(self(batch.observation), batch.action)
        return 0.5 * (q - y).square()

    @torch.no_grad()
    def follow(self, share: float = 1.0) -> None:
        """θ⁻ ← θ⁻ + share (θ - θ⁻)."""
        older: list[Tensor] = list(self.older.parameters())
        newer: list[Tensor] = list(self.network.parameters())
        torch._foreach_lerp_(older, newer, share)


class Batch(NamedTuple):
    """Remembered steps (s, a, r, s', terminated)."""

    observation: Float[Tensor, "*batch n"]
    action: Int[Tensor, "*batch"]
    reward: Float[Tensor, "*batch"]
    following: Float[Tensor, "*batch n"]
    terminated: Bool[Tensor, "*batch"]


class Replay:
    """The last `capacity` steps of each of several agents; the oldest are overwritten."""

    def __init__(self, agents: int, capacity: int, observations: int):
        if min(agents, capacity, observations) < 1:
            raise InputError("a replay memory needs agents, places and observations")
        place = (agents, capacity)
        self.memory = Batch(
            torch.zeros(*place, observations),
            torch.zeros(place, dtype=torch.int64),
            torch.zeros(place),
            torch.zeros(*place, observations),
            torch.zeros(place, dtype=torch.bool),
        )
        self.flat = [t.flatten(0, 1) for t in self.memory]  # the same storage
        self.offset = torch.arange(agents)[:, None] * capacity
        self.seen = 0

    def __len__(self) -> int:
        return min(self.seen, self.memory.action.shape[1])

    def add(self, steps: Batch) -> None:
        """Remember (agents, copies) steps."""
        capacity, number = self.memory.action.shape[1], steps.action.shape[1]
        places = (self.seen + torch.arange(number)) % capacity
        for memory, new in zip(self.memory, steps, strict=True):
            memory[:, places] = new
        self.seen += number

    def sample(self, size: int, generator: torch.Generator) -> Batch:
        """(agents, size) steps, each equally likely."""
        agents = len(self.offset)
        drawn = torch.randint(len(self), (agents, size), generator=generator)
        rows = (drawn + self.offset).flatten()
        found = (t.index_select(0, rows) for t in self.flat)
        return Batch(*(t.unflatten(0, (agents, size)) for t in found))

    def state(self) -> dict[str, Tensor]:
        """What is remembered."""
        filled = {k: t[:, : len(self)] for k, t in self.memory._asdict().items()}
        return filled | {"seen": torch.tensor(self.seen)}

    def restore(self, state: dict[str, Tensor]) -> None:
        """Remember what was saved."""
        self.seen = int(state["seen"])
        for name, memory in self.memory._asdict().items():
            memory[:, : len(self)] = state[name]


def bootstrapped(
    reward: Float[Tensor, "*batch"],
    terminated: Bool[Tensor, "*batch"],
    value: Float[Tensor, "*batch"],
    discount: float,
) -> Float[Tensor, "*batch"]:
    """r + γ (1 - terminated) V(s')."""
    return reward + discount * value.masked_fill(terminated, 0.0)


def chosen(
    q: Float[Tensor, "*batch actions"], action: Int[Tensor, "*batch"]
) -> Float[Tensor, "*batch"]:
    """Q(s, a) of the actions taken."""
    return q.gather(-1, action[..., None])[..., 0]


def example() -> tuple[DQN, Tensor]:
    """A network for four numbers and two actions, and five observations."""
    return DQN(MLP(4, [16], 2)), torch.randn(5, 4)
