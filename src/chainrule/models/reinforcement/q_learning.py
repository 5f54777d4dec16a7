"""Q-learning: the optimal value of every action, learned from experience alone.

    Q(s, a) ← Q(s, a) + α (r + γ max_a' Q(s', a') - Q(s, a)),     α = n(s, a)^(-ω)
    a = argmax_a Q(s, a), with probability ε at random

n counts the visits of (s, a). For 1/2 < ω ≤ 1 the rates sum to infinity and their squares do not,
so Q converges to Q* if every action is tried infinitely often. The method is off-policy: it learns
the optimal policy while it follows another. Many independent agents learn at once.

Watkins and Dayan (1992), Machine Learning 8. Notes: A 4.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.arguments import Count, Natural, checked
from chainrule.errors import InputError
from chainrule.models.reinforcement.mdp import MDP, explore, greedy, random_mdp


@checked
class QLearning(nn.Module):
    """Tabular Q-learning of independent agents.

        Q(s, a) ← Q(s, a) + n(s, a)^(-ω) (r + γ max_a' Q(s', a') - Q(s, a))

    Args:
        process: Gives the number of states and actions, and the initial states.
        num_agents: Agents, each with its own table.
        start: State in which episodes begin; any non-terminal state by default.

    >>> import torch
    >>> from chainrule.models.reinforcement import MDP, QLearning
    >>> process = MDP(torch.eye(2)[None], torch.tensor([[0.0, 1.0]]), discount=0.5)
    >>> model = QLearning(process, start=1)
    >>> model.learn(process, 1, epsilon=0.1, generator=torch.Generator())
    >>> model.Q.flatten().tolist()
    [0.0, 1.0]
    """

    Q: Float[Tensor, "agents states actions"]
    visits: Int[Tensor, "agents states actions"]
    current_state: Int[Tensor, " agents"]

    def __init__(self, process: MDP, num_agents: Count = 1, start: Natural | None = None):
        super().__init__()
        shape = (num_agents, process.num_states, process.num_actions)
        self.starts = start_states(process, start)
        self.register_buffer("Q", torch.zeros(shape, dtype=torch.float64))
        self.register_buffer("visits", torch.zeros(shape, dtype=torch.int64))
        first = self.starts[torch.arange(num_agents) % len(self.starts)]
        self.register_buffer("current_state", first)

    def forward(self, state: Int[Tensor, " batch"]) -> Float[Tensor, "batch actions"]:
        """Q(s, ·), averaged over the agents."""
        return self.Q.mean(0)[state]

    def policy(self) -> Int[Tensor, "agents states"]:
        """argmax_a Q(s, a) of each agent."""
        return greedy(self.Q)

    def learn(
        self,
        process: MDP,
        steps: int,
        epsilon: float,
        generator: torch.Generator,
        power: float = 0.7,
    ) -> None:
        """Run every agent for `steps` steps; a terminal state starts a new episode.

        Args:
            process: The process to act in.
            steps: Steps of each agent.
            epsilon: ε, the probability of a random action.
            generator: Source of randomness.
            power: ω of the learning rate n^(-ω), above 0.5 and at most 1.
        """
        check(epsilon, power)
        agent, terminal = torch.arange(len(self.Q)), process.terminal_states()
        for _ in range(steps):
            s = self.current_state
            a = explore(self.Q[agent, s].argmax(-1), process.num_actions, epsilon, generator)
            next_state, r = process.step(s, a, generator)
            value = self.Q[agent, next_state].amax(-1)
            update(self.Q, self.visits, (agent, s, a), r + process.discount * value, power)
            self.current_state.copy_(restarted(next_state, terminal, self.starts, generator))


def update(
    Q: Float[Tensor, "agents states actions"],
    visits: Int[Tensor, "agents states actions"],
    index: tuple[Tensor, Tensor, Tensor],
    y: Float[Tensor, " agents"],
    power: float,
) -> None:
    """Q(s, a) ← Q(s, a) + n^(-ω) (y - Q(s, a)), one entry of each agent's table."""
    visits[index] += 1
    Q[index] += visits[index].double().pow(-power) * (y - Q[index])


def start_states(process: MDP, start: int | None) -> Int[Tensor, " starts"]:
    """The given state, or all states that are not terminal."""
    nonterminal = (~process.terminal_states()).nonzero()[:, 0]
    if not len(nonterminal):
        raise InputError("every state is terminal; there is nothing to learn")
    if start is None:
        return nonterminal
    if not 0 <= start < process.num_states:
        raise InputError(f"start must be a state from 0 to {process.num_states - 1}, got {start}")
    return torch.tensor([start])


def restarted(
    next_state: Int[Tensor, " agents"],
    terminal: Tensor,
    starts: Int[Tensor, " starts"],
    generator: torch.Generator,
) -> Int[Tensor, " agents"]:
    """The next state, or a random start state where it is terminal."""
    fresh = starts[torch.randint(len(starts), next_state.shape, generator=generator)]
    return torch.where(terminal[next_state], fresh, next_state)


def check(epsilon: float, power: float) -> None:
    """Raise an error unless ε is a probability and 1/2 < ω ≤ 1."""
    if not 0 <= epsilon <= 1:
        raise InputError(f"epsilon must be a probability, got {epsilon}")
    if not 0.5 < power <= 1:
        raise InputError(f"power must lie in (0.5, 1] for convergence, got {power}")


def example() -> tuple[QLearning, Tensor]:
    """Three agents after a thousand steps in a process of six states, and four states."""
    generator = torch.Generator().manual_seed(int(torch.randint(1000, ())))
    process = random_mdp(6, 3, 0.9, generator)
    model = QLearning(process, num_agents=3)
    model.learn(process, 1000, 0.5, generator)
    return model, torch.randint(6, (4,))
