"""Value iteration: apply the Bellman operator until the values hardly change.

    V ← T V,    (T V)(s) = max_a Σ_s' P(s' | s, a) (R(s, a, s') + γ V(s'))
    ‖V_{k+1} - V_k‖∞ < ε (1 - γ) / (2 γ)   ⇒   ‖V_{k+1} - V*‖∞ < ε / 2,  and the greedy policy of
                                               V_{k+1} loses less than ε in every state

Bellman (1957), Dynamic Programming; the bound: Puterman (1994), theorem 6.3.1. Notes: A 4.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.arguments import Count, checked
from chainrule.errors import InputError
from chainrule.models.reinforcement.mdp import MDP, greedy, random_mdp

MAX_SWEEPS = 1_000_000  # reached only for γ within 1e-5 of 1


@checked
class ValueIteration(nn.Module):
    """The optimal table Q(s, a) of a known process, by value iteration.

        V(s) ← max_a Σ_s' P(s' | s, a) (R(s, a, s') + γ V(s'))

    Args:
        num_states: Rows of the table.
        num_actions: Columns of the table.

    >>> import torch
    >>> from chainrule.models.reinforcement import MDP, ValueIteration
    >>> process = MDP(torch.eye(2)[None], torch.tensor([[0.0, 1.0]]), discount=0.5)
    >>> model = ValueIteration(2, 1)
    >>> changes = model.solve(process, epsilon=1e-3)
    >>> changes[:3]
    [1.0, 0.5, 0.25]
    """

    Q: Float[Tensor, "states actions"]

    def __init__(self, num_states: Count, num_actions: Count):
        super().__init__()
        self.register_buffer("Q", torch.zeros(num_states, num_actions, dtype=torch.float64))

    def forward(self, state: Int[Tensor, " batch"]) -> Float[Tensor, "batch actions"]:
        """Q(s, ·)."""
        return self.Q[state]

    def solve(self, process: MDP, epsilon: float = 1e-6) -> list[float]:
        """Fill the table; returns ‖V_{k+1} - V_k‖∞ of every sweep."""
        V, changes = solve(process, epsilon)
        self.Q.copy_(process.q(V))
        return changes

    def policy(self) -> Int[Tensor, " states"]:
        """argmax_a Q(s, a)."""
        return greedy(self.Q)


def solve(
    process: MDP, epsilon: float = 1e-6, start: Float[Tensor, " states"] | None = None
) -> tuple[Float[Tensor, " states"], list[float]]:
    """V within ε / 2 of V*, and the largest change of every sweep."""
    threshold = stopping_threshold(epsilon, process.discount)
    V = torch.zeros(process.num_states, dtype=torch.float64) if start is None else start
    rewards, P = (process.P * process.R).sum(-1), process.P
    changes: list[float] = []
    while not changes or changes[-1] >= threshold:
        if len(changes) == MAX_SWEEPS:
            raise InputError(
                f"value iteration did not converge in {MAX_SWEEPS} sweeps; use an epsilon larger "
                f"than {epsilon}"
            )
        new = (rewards + process.discount * (P @ V)).amax(0)
        changes.append((new - V).abs().max().item())
        V = new
    return V, changes


def stopping_threshold(epsilon: float, discount: float) -> float:
    """ε (1 - γ) / (2 γ), infinite for γ = 0."""
    if not epsilon > 0:
        raise InputError(f"epsilon must be above 0, got {epsilon}")
    return epsilon * (1 - discount) / (2 * discount) if discount else float("inf")


def example() -> tuple[ValueIteration, Tensor]:
    """A random process of six states, solved, and four of its states."""
    seed = int(torch.randint(1000, ()))
    process = random_mdp(6, 3, 0.9, torch.Generator().manual_seed(seed))
    model = ValueIteration(6, 3)
    model.solve(process)
    return model, torch.randint(6, (4,))
