"""Markov decision process: the Bellman operators on finitely many states and actions.

    Q(s, a)  = Σ_s' P(s' | s, a) (R(s, a, s') + γ V(s'))
    (T V)(s) = max_a Q(s, a)                            contracts: ‖T V - T W‖∞ ≤ γ ‖V - W‖∞
    (T_π V)(s) = Q(s, π(s)),    V_π = (I - γ P_π)⁻¹ R_π  its fixed point, by a linear solve

Tensors: P[a, s, s'], R[a, s, s'], in double precision. A state that leads only to itself, without
reward, is an end: its value is zero.

Bellman (1957), Dynamic Programming; Puterman (1994), chapter 6. Notes: A 4.
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from chainrule.errors import InputError

ROUNDING = 1e-9  # how far a row of probabilities may be from 1


class MDP(nn.Module):
    """Transitions, rewards and discount; `names` are the actions' for pictures and tables."""

    P: Float[Tensor, "actions states states"]
    R: Float[Tensor, "actions states states"]
    cumulated: Float[Tensor, "actions states states"]

    def __init__(self, P: Tensor, R: Tensor, discount: float, names: tuple[str, ...] = ()):
        super().__init__()
        P = P.double()
        R = R.double().expand_as(P) if R.ndim == 3 else R.double()[..., None].expand_as(P)
        check(P, R, discount)
        self.discount = discount
        self.names = names or tuple(str(a) for a in range(len(P)))
        self.register_buffer("P", P)
        self.register_buffer("R", R.contiguous())
        self.register_buffer("cumulated", P.cumsum(-1))

    @property
    def states(self) -> int:
        return self.P.shape[1]

    @property
    def actions(self) -> int:
        return len(self.P)

    def forward(self, V: Float[Tensor, "batch states"]) -> Float[Tensor, "batch states"]:
        """T V of every row."""
        return self.q(V).amax(-1)

    def q(self, V: Float[Tensor, "*batch states"]) -> Float[Tensor, "*batch states actions"]:
        """Q(s, a) = Σ_s' P (R + γ V(s'))."""
        return action_values(self.P, self.R, self.discount, V)

    def evaluate(self, policy: Int[Tensor, " states"]) -> Float[Tensor, " states"]:
        """V_π = (I - γ P_π)⁻¹ R_π."""
        s = torch.arange(self.states)
        P, R = self.P[policy, s], (self.P * self.R).sum(-1)[policy, s]
        return torch.linalg.solve(torch.eye(self.states).double() - self.discount * P, R)

    def ends(self) -> Bool[Tensor, " states"]:
        """States that lead only to themselves, without reward."""
        stay = self.P.diagonal(dim1=1, dim2=2) == 1
        return (stay & (self.R.diagonal(dim1=1, dim2=2) == 0)).all(0)

    def step(
        self, state: Int[Tensor, " copies"], action: Int[Tensor, " copies"], draw: torch.Generator
    ) -> tuple[Int[Tensor, " copies"], Float[Tensor, " copies"]]:
        """s' and r for many copies at once."""
        u = torch.rand(len(state), 1, dtype=torch.float64, generator=draw)
        rows = self.cumulated[action, state]
        # Scaled by the last entry, which may miss 1 by rounding; so u never lies beyond it.
        following = torch.searchsorted(rows, u * rows[:, -1:], right=True)[:, 0]
        return following, self.R[action, state, following]


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
    """π(s) = argmax_a Q(s, a); the first of equals."""
    return Q.argmax(-1)


def explore(
    greedy: Int[Tensor, "*batch"], actions: int, epsilon: float, generator: torch.Generator
) -> Int[Tensor, "*batch"]:
    """The greedy action, or with probability ε any of them."""
    random = torch.randint(actions, greedy.shape, generator=generator)
    return torch.where(torch.rand(greedy.shape, generator=generator) < epsilon, random, greedy)


def check(P: Tensor, R: Tensor, discount: float) -> None:
    """Shapes, probabilities and discount, before they can do harm."""
    if P.ndim != 3 or P.shape[1] != P.shape[2] or not P.numel():
        raise InputError(f"expected transitions P[a, s, s'], got the shape {tuple(P.shape)}")
    if not (P.isfinite().all() and R.isfinite().all()):
        raise InputError("transitions or rewards hold values that are not finite")
    if (P < 0).any():
        a, s, _ = (P < 0).nonzero()[0].tolist()
        raise InputError(f"P[{a}, {s}] holds a negative probability")
    wrong = ((P.sum(-1) - 1).abs() > ROUNDING).nonzero()
    if len(wrong):
        a, s = wrong[0].tolist()
        raise InputError(
            f"every row of P must sum to 1, but P[{a}, {s}] sums to {P[a, s].sum().item():.6g}; "
            "rows are P[action, state, next state]"
        )
    if not 0 <= discount < 1:
        raise InputError(f"the discount γ must lie in [0, 1), got {discount}")


def random_mdp(states: int, actions: int, discount: float, generator: torch.Generator) -> MDP:
    """Transitions drawn from a Dirichlet distribution, rewards from a normal one."""
    shape = (actions, states, states)
    weights = -torch.rand(shape, dtype=torch.float64, generator=generator).log()
    rewards = torch.randn(shape, dtype=torch.float64, generator=generator)
    return MDP(weights / weights.sum(-1, keepdim=True), rewards, discount)


def example() -> tuple[MDP, Tensor]:
    """A random process of five states and two actions, and three value functions."""
    P = torch.rand(2, 5, 5).double()
    process = MDP(P / P.sum(-1, keepdim=True), torch.randn(2, 5), discount=0.9)
    return process, torch.randn(3, 5).double()
