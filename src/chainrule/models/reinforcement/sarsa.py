"""SARSA: learns the value of the policy that is followed, exploration included.

    Q(s, a) ← Q(s, a) + α (r + γ Q(s', a') - Q(s, a)),     a' the action taken next
    a = argmax_a Q(s, a), with probability ε at random

The method is on-policy: Q converges to the value of the ε-greedy policy, so near a cliff the agent
keeps its distance. It converges to Q* only if ε falls to zero slowly enough.

Rummery and Niranjan (1994), CUED/F-INFENG/TR 166; convergence: Singh et al. (2000), Machine
Learning 38. Notes: A 4.
"""

import torch
from jaxtyping import Int
from torch import Tensor

from chainrule.arguments import Count, Natural, checked
from chainrule.models.reinforcement.mdp import MDP, explore, random_mdp
from chainrule.models.reinforcement.q_learning import QLearning, check, restarted, update


@checked
class Sarsa(QLearning):
    """Tabular SARSA of independent agents.

        Q(s, a) ← Q(s, a) + n(s, a)^(-ω) (r + γ Q(s', a') - Q(s, a))

    Args:
        process: Gives the number of states and actions, and the initial states.
        num_agents: Agents, each with its own table.
        start: State in which episodes begin; any non-terminal state by default.

    >>> import torch
    >>> from chainrule.models.reinforcement import MDP, Sarsa
    >>> process = MDP(torch.eye(2)[None], torch.tensor([[0.0, 1.0]]), discount=0.5)
    >>> model = Sarsa(process, start=1)
    >>> model.learn(process, 1, epsilon=0.1, generator=torch.Generator())
    >>> model.Q.flatten().tolist()
    [0.0, 1.0]
    """

    next_action: Int[Tensor, " agents"]

    def __init__(self, process: MDP, num_agents: Count = 1, start: Natural | None = None):
        super().__init__(process, num_agents, start)
        self.register_buffer("next_action", torch.arange(num_agents) % process.num_actions)

    def learn(
        self,
        process: MDP,
        steps: int,
        epsilon: float,
        generator: torch.Generator,
        power: float = 0.7,
    ) -> None:
        """Run every agent for `steps` steps; see `QLearning.learn`."""
        check(epsilon, power)
        agent, terminal = torch.arange(len(self.Q)), process.terminal_states()
        for _ in range(steps):
            s, a = self.current_state.clone(), self.next_action.clone()
            next_state, r = process.step(s, a, generator)
            state = restarted(next_state, terminal, self.starts, generator)
            best = self.Q[agent, state].argmax(-1)
            action = explore(best, process.num_actions, epsilon, generator)
            # The table's row of a terminal state is zero, so there any action will do.
            value = self.Q[agent, next_state, action]
            update(self.Q, self.visits, (agent, s, a), r + process.discount * value, power)
            self.current_state.copy_(state)
            self.next_action.copy_(action)


def example() -> tuple[Sarsa, Tensor]:
    """Three agents after a thousand steps in a process of six states, and four states."""
    generator = torch.Generator().manual_seed(int(torch.randint(1000, ())))
    process = random_mdp(6, 3, 0.9, generator)
    model = Sarsa(process, num_agents=3)
    model.learn(process, 1000, 0.5, generator)
    return model, torch.randint(6, (4,))
