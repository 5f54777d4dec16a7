"""Claim: the sweeps of value iteration to ε depend on γ, not on |S| or |A| (A 5).

    stop at ‖V_{k+1} - V_k‖ < ε (1 - γ) / 2γ:     k ≤ 1 + ⌈log(2γ ‖V_1 - V_0‖ / ε(1 - γ)) / log 1/γ⌉
    each sweep costs |S|² |A| multiplications

Measured: the largest number of sweeps divided by the bound, over random processes of 2 to 200
states and 1 to 16 actions, and processes with one reward everywhere, for five γ and one ε.
Bound: exactly 1. ‖V_{k+1} - V_k‖ ≤ γᵏ ‖V_1 - V_0‖, with equality if all rewards are the same.
The policy found must also lose less than ε in every state.
Puterman (1994), theorem 6.3.1. Notes: A 5.0.2 (sample complexity in reinforcement learning).
"""

import math
from functools import partial
from typing import NamedTuple

import torch

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.models.reinforcement.mdp import MDP, greedy, random_mdp
from chainrule.models.reinforcement.value_iteration import solve

DISCOUNTS = (0.5, 0.8, 0.9, 0.95, 0.98)
SIZES = ((2, 1), (20, 1), (20, 16), (200, 4))  # states and actions
EPSILON = 1.3e-3  # so that no bound is a whole number before it is rounded up


class Run(NamedTuple):
    """One process: sweeps made and allowed, and the loss of its policy."""

    discount: float
    states: int
    sweeps: int
    allowed: int
    loss: float


def check(seed: int = 0) -> Verdict:
    """Processes of all sizes."""
    return verdict(seed)


def broken() -> Verdict:
    """The threshold without 1 - γ, as for γ = 0."""
    return verdict(0, partial(bound, without=True))


def near() -> Near:
    """Another factor of the logarithms."""
    return ten_percent("log 1/γ", lambda factor: verdict(0, partial(bound, factor=factor)))


def bound(change: float, discount: float, factor: float = 1.0, without: bool = False) -> int:
    """1 + ⌈log(2γ ‖V_1 - V_0‖ / ε(1 - γ)) / log 1/γ⌉."""
    rest = 1.0 if without else 1 - discount
    needed = math.log(2 * discount * change / (EPSILON * rest)) / (-factor * math.log(discount))
    return 1 + max(math.ceil(needed), 0)


def verdict(seed: int, allowed: partial[int] | None = None) -> Verdict:
    """Sweeps against the bound, by γ and size."""
    generator = torch.Generator().manual_seed(seed)
    limit = allowed or partial(bound)
    random = [
        measured(random_mdp(s, a, gamma, generator), limit) for gamma in DISCOUNTS for s, a in SIZES
    ]
    equal = [measured(one_reward(gamma), limit) for gamma in DISCOUNTS]
    ratios = [run.sweeps / run.allowed for run in (*random, *equal)]
    return Verdict(
        quantity="largest sweeps / bound",
        measured=max(ratios),
        relation="=",
        bound=1.0,
        conditions={
            "attained for every γ": all(run.sweeps == run.allowed for run in equal),
            "every policy within ε": max(run.loss for run in (*random, *equal)) < EPSILON,
        },
        picture=Picture(
            title="Sweeps of value iteration grow like 1/(1 - γ), not with the number of states",
            x_label="1 / (1 - γ)",
            y_label="sweeps until ε",
            points={
                f"{states} states, {actions} actions": series(random[i :: len(SIZES)])
                for i, (states, actions) in enumerate(SIZES)
            }
            | {"one reward": series(equal)},
            log="xy",
        ),
        details={"smallest share of the bound used": min(ratios)},
    )


def measured(process: MDP, limit: partial[int]) -> Run:
    """Value iteration from zero, and the loss of the greedy policy."""
    V, changes = solve(process, EPSILON)
    best = solve(process, 1e-10)[0]
    loss = (best - process.evaluate(greedy(process.q(V)))).max().item()
    gamma = process.discount
    return Run(gamma, process.num_states, len(changes), limit(changes[0], gamma), loss)


def one_reward(discount: float) -> MDP:
    """Four states of which any action leads anywhere, always for a reward of 1."""
    return MDP(torch.full((2, 4, 4), 0.25), torch.ones(2, 4), discount)


def series(runs: list[Run]) -> tuple[list[float], list[float]]:
    return [1 / (1 - run.discount) for run in runs], [float(run.sweeps) for run in runs]
