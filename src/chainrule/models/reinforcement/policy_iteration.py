"""Policy iteration: value a policy exactly, improve it greedily, until it is its own improvement.

    V_π = (I - γ P_π)⁻¹ R_π
    π(s) ← argmax_a Σ_s' P(s' | s, a) (R(s, a, s') + γ V_π(s'))

Each policy is at least as good as the one before in every state, and there are finitely many, so
the last one is optimal. An action is given up only for one that is better by more than rounding:
otherwise two equally good policies could follow each other for ever.

Howard (1960), Dynamic Programming and Markov Processes. Notes: A 4.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.models.reinforcement.mdp import MDP, greedy, random_mdp

EQUAL = 1e-12  # relative to the largest value


class PolicyIteration(nn.Module):
    """The table Q(s, a) of a process whose transitions are known."""

    Q: Float[Tensor, "states actions"]

    def __init__(self, states: int, actions: int):
        super().__init__()
        self.register_buffer("Q", torch.zeros(states, actions, dtype=torch.float64))

    def forward(self, state: Int[Tensor, " batch"]) -> Float[Tensor, "batch actions"]:
        """Q(s, ·)."""
        return self.Q[state]

    def solve(self, process: MDP) -> int:
        """Fill the table; returns how many policies were valued."""
        V, _, rounds = solve(process)
        self.Q.copy_(process.q(V))
        return rounds

    def policy(self) -> Int[Tensor, " states"]:
        return greedy(self.Q)


def solve(process: MDP) -> tuple[Float[Tensor, " states"], Int[Tensor, " states"], int]:
    """V*, an optimal policy, and the number of policies on the way."""
    policy = torch.zeros(process.states, dtype=torch.int64)
    rounds = 0
    while True:
        V, rounds = process.evaluate(policy), rounds + 1
        better = improve(process.q(V), policy)
        if torch.equal(better, policy):
            return V, policy, rounds
        policy = better


def improve(
    Q: Float[Tensor, "states actions"], policy: Int[Tensor, " states"]
) -> Int[Tensor, " states"]:
    """The greedy policy, which keeps an action that is as good as any other."""
    kept = Q.gather(1, policy[:, None])[:, 0]
    slack = EQUAL * Q.abs().max()
    return torch.where(Q.amax(1) > kept + slack, greedy(Q), policy)


def example() -> tuple[PolicyIteration, Tensor]:
    """A random process of six states, solved, and four of its states."""
    seed = int(torch.randint(1000, ()))
    process = random_mdp(6, 3, 0.9, torch.Generator().manual_seed(seed))
    model = PolicyIteration(6, 3)
    model.solve(process)
    return model, torch.randint(6, (4,))
