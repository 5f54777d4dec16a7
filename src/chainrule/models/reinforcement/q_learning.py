"""Q-learning: the value of every action, learned from steps alone.

    Q(s, a) ← Q(s, a) + α (r + γ max_a' Q(s', a') - Q(s, a)),     α = n(s, a)^(-ω)
    a = argmax_a Q(s, a), with probability ε at random

n counts the visits. With 1/2 < ω ≤ 1 the rates sum to infinity and their squares do not, so Q tends
to Q* as long as every action is tried for ever, whatever else the agent does: it learns the best
policy while it follows another (off-policy). Many agents learn at once, each for itself.

Watkins and Dayan (1992), Machine Learning 8. Notes: A 4.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.models.reinforcement.mdp import MDP, explore, greedy, random_mdp


class QLearning(nn.Module):
    """Tables of independent agents; `place` is where each agent stands."""

    Q: Float[Tensor, "agents states actions"]
    visits: Int[Tensor, "agents states actions"]
    place: Int[Tensor, " agents"]

    def __init__(self, process: MDP, agents: int = 1, start: int | None = None):
        super().__init__()
        shape = (agents, process.states, process.actions)
        self.starts = starts(process, start)
        self.register_buffer("Q", torch.zeros(shape, dtype=torch.float64))
        self.register_buffer("visits", torch.zeros(shape, dtype=torch.int64))
        self.register_buffer("place", self.starts[torch.arange(agents) % len(self.starts)])

    def forward(self, state: Int[Tensor, " batch"]) -> Float[Tensor, "batch actions"]:
        """Q(s, ·), the mean of the agents' tables."""
        return self.Q.mean(0)[state]

    def policy(self) -> Int[Tensor, "agents states"]:
        """What each agent thinks is best."""
        return greedy(self.Q)

    def learn(
        self,
        process: MDP,
        steps: int,
        epsilon: float,
        generator: torch.Generator,
        power: float = 0.7,
    ) -> None:
        """So many steps of every agent; one that reaches an end starts afresh."""
        check(epsilon, power)
        agent, ends = torch.arange(len(self.Q)), process.ends()
        for _ in range(steps):
            s = self.place
            a = explore(self.Q[agent, s].argmax(-1), process.actions, epsilon, generator)
            following, r = process.step(s, a, generator)
            value = self.Q[agent, following].amax(-1)
            update(self.Q, self.visits, (agent, s, a), r + process.discount * value, power)
            self.place.copy_(moved(following, ends, self.starts, generator))


def update(
    Q: Float[Tensor, "agents states actions"],
    visits: Int[Tensor, "agents states actions"],
    where: tuple[Tensor, Tensor, Tensor],
    y: Float[Tensor, " agents"],
    power: float,
) -> None:
    """Q(s, a) ← Q(s, a) + n^(-ω) (y - Q(s, a)), one entry of each agent's table."""
    visits[where] += 1
    Q[where] += visits[where].double().pow(-power) * (y - Q[where])


def starts(process: MDP, start: int | None) -> Int[Tensor, " starts"]:
    """Where episodes begin: in the given state, or in any that is not an end."""
    open_states = (~process.ends()).nonzero()[:, 0]
    if not len(open_states):
        raise InputError("every state is an end; there is nothing to learn")
    if start is None:
        return open_states
    if not 0 <= start < process.states:
        raise InputError(f"expected a start from 0 to {process.states - 1}, got {start}")
    return torch.tensor([start])


def moved(
    following: Int[Tensor, " agents"],
    ends: Tensor,
    starts: Int[Tensor, " starts"],
    generator: torch.Generator,
) -> Int[Tensor, " agents"]:
    """The next state, or a new start for those that have reached an end."""
    fresh = starts[torch.randint(len(starts), following.shape, generator=generator)]
    return torch.where(ends[following], fresh, following)


def check(epsilon: float, power: float) -> None:
    """A probability, and a power for which the rates are neither too large nor too small."""
    if not 0 <= epsilon <= 1:
        raise InputError(f"epsilon must be a probability, got {epsilon}")
    if not 0.5 < power <= 1:
        raise InputError(f"the power of the rate must lie in (0.5, 1] to converge, got {power}")


def example() -> tuple[QLearning, Tensor]:
    """Three agents after a thousand steps in a process of six states, and four states."""
    generator = torch.Generator().manual_seed(int(torch.randint(1000, ())))
    process = random_mdp(6, 3, 0.9, generator)
    model = QLearning(process, agents=3)
    model.learn(process, 1000, 0.5, generator)
    return model, torch.randint(6, (4,))
