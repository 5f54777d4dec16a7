"""SARSA: learn the value of what one really does, exploration included.

    Q(s, a) ← Q(s, a) + α (r + γ Q(s', a') - Q(s, a)),     a' the action taken next
    a = argmax_a Q(s, a), with probability ε at random

Q tends to the value of the ε-greedy policy, so near a cliff the agent keeps its distance; only when
ε falls to zero slowly enough does it tend to Q* (on-policy).

Rummery and Niranjan (1994), CUED/F-INFENG/TR 166; convergence: Singh et al. (2000), Machine
Learning 38. Notes: A 4.
"""

import torch
from jaxtyping import Int
from torch import Tensor

from chainrule.models.reinforcement.mdp import MDP, explore, random_mdp
from chainrule.models.reinforcement.q_learning import QLearning, check, moved, update


class Sarsa(QLearning):
    """Tables of independent agents; `action` is what each is about to do."""

    action: Int[Tensor, " agents"]

    def __init__(self, process: MDP, agents: int = 1, start: int | None = None):
        super().__init__(process, agents, start)
        self.register_buffer("action", torch.arange(agents) % process.actions)

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
            s, a = self.place.clone(), self.action.clone()
            following, r = process.step(s, a, generator)
            place = moved(following, ends, self.starts, generator)
            best = self.Q[agent, place].argmax(-1)
            action = explore(best, process.actions, epsilon, generator)
            # At an end nothing follows: its row of the table is zero, whatever the action.
            value = self.Q[agent, following, action]
            update(self.Q, self.visits, (agent, s, a), r + process.discount * value, power)
            self.place.copy_(place)
            self.action.copy_(action)


def example() -> tuple[Sarsa, Tensor]:
    """Three agents after a thousand steps in a process of six states, and four states."""
    generator = torch.Generator().manual_seed(int(torch.randint(1000, ())))
    process = random_mdp(6, 3, 0.9, generator)
    model = Sarsa(process, agents=3)
    model.learn(process, 1000, 0.5, generator)
    return model, torch.randint(6, (4,))
