"""Policy iteration: evaluate a policy exactly, improve it greedily, repeat until it is stable.

    V_π = (I - γ P_π)⁻¹ R_π
    π(s) ← argmax_a Σ_s' P(s' | s, a) (R(s, a, s') + γ V_π(s'))

Each policy is at least as good as the one before in every state, and there are finitely many, so
the last one is optimal. An action is replaced only if another is better by more than rounding;
otherwise two equally good policies could alternate forever.

Howard (1960), Dynamic Programming and Markov Processes. Notes: A 4.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.arguments import Count, checked
from chainrule.models.reinforcement.mdp import MDP, greedy, random_mdp

TOLERANCE = 1e-12  # a smaller improvement, relative to the largest value, is rounding


@checked
class PolicyIteration(nn.Module):
    """The optimal table Q(s, a) of a known process, by policy iteration.

        V_π = (I - γ P_π)⁻¹ R_π,    π(s) ← argmax_a Σ_s' P (R + γ V_π(s'))

    Args:
        num_states: Rows of the table.
        num_actions: Columns of the table.

    >>> import torch
    >>> from chainrule.models.reinforcement import MDP, PolicyIteration
    >>> process = MDP(torch.eye(2)[None], torch.tensor([[0.0, 1.0]]), discount=0.5)
    >>> model = PolicyIteration(2, 1)
    >>> model.solve(process)
    1
    >>> model.Q.flatten().tolist()
    [0.0, 2.0]
    """

    Q: Float[Tensor, "states actions"]

    def __init__(self, num_states: Count, num_actions: Count):
        super().__init__()
        self.register_buffer("Q", torch.zeros(num_states, num_actions, dtype=torch.float64))

    def forward(self, state: Int[Tensor, " batch"]) -> Float[Tensor, "batch actions"]:
        """Q(s, ·)."""
        return self.Q[state]

    def solve(self, process: MDP) -> int:
        """Fill the table; returns the number of policies that were evaluated."""
        V, _, rounds = solve(process)
        self.Q.copy_(process.q(V))
        return rounds

    def policy(self) -> Int[Tensor, " states"]:
        """argmax_a Q(s, a)."""
        return greedy(self.Q)


def solve(process: MDP) -> tuple[Float[Tensor, " states"], Int[Tensor, " states"], int]:
    """V*, an optimal policy, and the number of policies that were evaluated."""
    policy = torch.zeros(process.num_states, dtype=torch.int64)
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
    """The greedy policy, which keeps an action that no other improves on."""
    current = Q.gather(1, policy[:, None])[:, 0]
    slack = TOLERANCE * Q.abs().max()
    return torch.where(Q.amax(1) > current + slack, greedy(Q), policy)


def example() -> tuple[PolicyIteration, Tensor]:
    """A random process of six states, solved, and four of its states."""
    seed = int(torch.randint(1000, ()))
    process = random_mdp(6, 3, 0.9, torch.Generator().manual_seed(seed))
    model = PolicyIteration(6, 3)
    model.solve(process)
    return model, torch.randint(6, (4,))
