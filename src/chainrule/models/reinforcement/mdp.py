"""Markov decision process: the Bellman operators on finitely many states and actions.

    Q(s, a)  = Σ_s' P(s' | s, a) (R(s, a, s') + γ V(s'))
    (T V)(s) = max_a Q(s, a)                            contraction: ‖T V - T W‖∞ ≤ γ ‖V - W‖∞
    (T_π V)(s) = Q(s, π(s)),    V_π = (I - γ P_π)⁻¹ R_π  its fixed point, by a linear solve

Tensors are P[a, s, s'] and R[a, s, s'] in double precision. A terminal state leads only to itself,
without reward; its value is zero.

Bellman (1957), Dynamic Programming; Puterman (1994), chapter 6. Notes: A 4.
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from chainrule.arguments import Finite, checked
from chainrule.errors import InputError

TOLERANCE = 1e-9  # how far a row of probabilities may sum from 1


@checked
class MDP(nn.Module):
    """A finite Markov decision process; calling it applies the Bellman operator.

        Q(s, a)  = Σ_s' P(s' | s, a) (R(s, a, s') + γ V(s'))
        (T V)(s) = max_a Q(s, a)

    Args:
        P: Transition probabilities P[a, s, s'].
        R: Rewards R[a, s, s'], or R[a, s] if they do not depend on s'.
        discount: γ, at least 0 and below 1.
        action_names: Names for figures and tables; "0", "1", … by default.

    >>> import torch
    >>> from chainrule.models.reinforcement import MDP
    >>> stay = torch.eye(2)[None]
    >>> process = MDP(stay, torch.tensor([[0.0, 1.0]]), discount=0.5)
    >>> process(torch.zeros(1, 2).double()).tolist()
    [[0.0, 1.0]]
    >>> process.evaluate(torch.tensor([0, 0])).tolist()
    [0.0, 2.0]
    """

    P: Float[Tensor, "actions states states"]
    R: Float[Tensor, "actions states states"]
    cumulative: Float[Tensor, "actions states states"]

    def __init__(self, P: Tensor, R: Tensor, discount: Finite, action_names: tuple[str, ...] = ()):
        super().__init__()
        P = P.double()
        R = R.double().expand_as(P) if R.ndim == 3 else R.double()[..., None].expand_as(P)
        check(P, R, discount)
        self.discount = discount
        self.action_names = action_names or tuple(str(a) for a in range(len(P)))
        self.register_buffer("P", P)
        self.register_buffer("R", R.contiguous())
        self.register_buffer("cumulative", P.cumsum(-1))

    @property
    def num_states(self) -> int:
        return self.P.shape[1]

    @property
    def num_actions(self) -> int:
        return len(self.P)

    def forward(self, V: Float[Tensor, "batch states"]) -> Float[Tensor, "batch states"]:
        """T V of every row."""
        return self.q(V).amax(-1)

    def q(self, V: Float[Tensor, "*batch states"]) -> Float[Tensor, "*batch states actions"]:
        """Q(s, a) = Σ_s' P (R + γ V(s'))."""
        return action_values(self.P, self.R, self.discount, V)

    def evaluate(self, policy: Int[Tensor, " states"]) -> Float[Tensor, " states"]:
        """V_π = (I - γ P_π)⁻¹ R_π."""
        s = torch.arange(self.num_states)
        P, R = self.P[policy, s], (self.P * self.R).sum(-1)[policy, s]
        return torch.linalg.solve(torch.eye(self.num_states).double() - self.discount * P, R)

    def terminal_states(self) -> Bool[Tensor, " states"]:
        """True for states that lead only to themselves, without reward."""
        stay = self.P.diagonal(dim1=1, dim2=2) == 1
        return (stay & (self.R.diagonal(dim1=1, dim2=2) == 0)).all(0)

    def step(
        self, state: Int[Tensor, " n"], action: Int[Tensor, " n"], generator: torch.Generator
    ) -> tuple[Int[Tensor, " n"], Float[Tensor, " n"]]:
        """s' ~ P(· | s, a) and r, for n pairs at once."""
        u = torch.rand(len(state), 1, dtype=torch.float64, generator=generator)
        rows = self.cumulative[action, state]
        # Rounding may leave the last entry below 1; scaled by it, u never lies beyond it.
        next_state = torch.searchsorted(rows, u * rows[:, -1:], right=True)[:, 0]
        return next_state, self.R[action, state, next_state]


def action_values(
    P: Float[Tensor, "actions states states"],
    R: Float[Tensor, "actions states states"],
    discount: float,
    V: Float[Tensor, "*batch states"],
) -> Float[Tensor, "*batch states actions"]:
    """Q(s, a) = Σ_s' P(s' | s, a) (R(s, a, s') + γ V(s'))."""
    rewards = (P * R).sum(-1)
    return (rewards + discount * torch.einsum("ast,...t->...as", P, V)).mT


def greedy(Q: Float[Tensor, "*batch states actions"]) -> Int[Tensor, "*batch states"]:
    """π(s) = argmax_a Q(s, a), the first of equally good actions."""
    return Q.argmax(-1)


def explore(
    greedy: Int[Tensor, "*batch"], num_actions: int, epsilon: float, generator: torch.Generator
) -> Int[Tensor, "*batch"]:
    """ε-greedy: the greedy action, or with probability ε a uniformly random one."""
    random = torch.randint(num_actions, greedy.shape, generator=generator)
    return torch.where(torch.rand(greedy.shape, generator=generator) < epsilon, random, greedy)


def check(P: Tensor, R: Tensor, discount: float) -> None:
    """Raise an error unless P holds probabilities, all is finite and 0 ≤ γ < 1."""
    if P.ndim != 3 or P.shape[1] != P.shape[2] or not P.numel():
        raise InputError(f"expected transitions P[a, s, s'], got the shape {tuple(P.shape)}")
    if not (P.isfinite().all() and R.isfinite().all()):
        raise InputError("transitions or rewards hold values that are not finite")
    if (P < 0).any():
        a, s, _ = (P < 0).nonzero()[0].tolist()
        raise InputError(f"P[{a}, {s}] holds a negative probability")
    wrong = ((P.sum(-1) - 1).abs() > TOLERANCE).nonzero()
    if len(wrong):
        a, s = wrong[0].tolist()
        raise InputError(
            f"every row of P must sum to 1, but P[{a}, {s}] sums to {P[a, s].sum().item():.6g}; "
            "rows are P[action, state, next state]"
        )
    if not 0 <= discount < 1:
        raise InputError(f"the discount γ must lie in [0, 1), got {discount}")


@checked
def random_mdp(
    num_states: int, num_actions: int, discount: float, generator: torch.Generator
) -> MDP:
    """Transitions drawn from a uniform Dirichlet distribution, rewards from a standard normal.

    Args:
        num_states: Number of states.
        num_actions: Number of actions in each.
        discount: γ.
        generator: Source of the random numbers.

    >>> import torch
    >>> random_mdp(5, 2, 0.9, torch.Generator().manual_seed(0)).num_states
    5
    """
    shape = (num_actions, num_states, num_states)
    weights = -torch.rand(shape, dtype=torch.float64, generator=generator).log()
    rewards = torch.randn(shape, dtype=torch.float64, generator=generator)
    return MDP(weights / weights.sum(-1, keepdim=True), rewards, discount)


def example() -> tuple[MDP, Tensor]:
    """A random process of five states and two actions, and three value functions."""
    P = torch.rand(2, 5, 5).double()
    process = MDP(P / P.sum(-1, keepdim=True), torch.randn(2, 5), discount=0.9)
    return process, torch.randn(3, 5).double()
