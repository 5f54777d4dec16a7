"""Claim: Bellman's operator is a contraction with factor γ in the maximum norm (A 4).

    (T V)(s) = max_a Σ_s' P(s' | s, a) (R(s, a, s') + γ V(s'))
    ‖T V - T W‖∞ ≤ γ ‖V - W‖∞        ⇒        ‖V_k - V*‖∞ ≤ γᵏ ‖V_0 - V*‖∞

Measured: over random processes, grid worlds and pairs V, W, the largest ratio ‖T V - T W‖ / (γ ‖V -
W‖).
Bound: 1 + 1e-12, the theorem and rounding; V = W + 1 attains it.
The norm matters: in the Euclidean norm, an operator that leads every state to the same one expands.
Bellman (1957); Banach (1922); Puterman (1994), proposition 6.2.4.
"""

import torch

from chainrule.environments.grid_world import GridWorld
from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.models.reinforcement.mdp import MDP, random_mdp
from chainrule.models.reinforcement.value_iteration import solve

BOUND = 1 + 1e-12
DISCOUNTS = (0.5, 0.8, 0.9)


def check(states: int = 20, pairs: int = 200, seed: int = 0) -> Verdict:
    """The maximum norm.

    Args:
        states: States of the random processes.
        pairs: Random pairs of value functions for each process.
    """
    return verdict(states, pairs, seed, norm=float("inf"))


def broken() -> Verdict:
    """The Euclidean norm."""
    return verdict(20, 200, 0, norm=2.0)


def near() -> Near:
    """A factor slightly below γ, or a norm slightly below the maximum norm."""
    return {
        "γ × 0.9": lambda: verdict(20, 50, 0, norm=float("inf"), scale=0.9),
        "the 10-norm": lambda: verdict(20, 50, 0, norm=10.0),
        "the 100-norm": lambda: verdict(20, 50, 0, norm=100.0),
    }


def verdict(states: int, pairs: int, seed: int, norm: float, scale: float = 1.0) -> Verdict:
    """Ratios over pairs of value functions; the picture is value iteration."""
    generator = torch.Generator().manual_seed(seed)
    worst, curves, points = 0.0, {}, {}
    for discount in DISCOUNTS:
        random = random_mdp(states, 4, discount, generator)
        for process in (random, GridWorld(discount=discount), to_one_state(states, discount)):
            V, W = torch.randn(
                2, pairs, process.num_states, generator=generator, dtype=torch.float64
            )
            V, W = torch.cat([V, V[:1], V[:1]]), torch.cat([W, V[:1] - 1, V[:1]])
            W[-1, 0] += 1  # one state differs from V, whether it matters or not
            nearer = (process(V) - process(W)).norm(norm, dim=1)
            allowed = scale * discount * (V - W).norm(norm, dim=1)
            worst = max(worst, (nearer / allowed).max().item())
        distances = value_iteration(random, 40)
        steps = [float(k) for k in range(len(distances))]
        curves[f"γ = {discount}"] = (steps, [distances[0] * discount**k for k in steps])
        points[f"γ = {discount}"] = (steps[::2], distances[::2])
    return Verdict(
        quantity="largest ‖TV - TW‖ / (γ ‖V - W‖)",
        measured=worst,
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="Every sweep of value iteration shrinks the distance by γ",
            x_label="sweeps k",
            y_label="distance from the optimum, ‖V_k - V*‖∞",
            curves=curves,
            points=points,
            log="y",
        ),
        details={"pairs": float(3 * len(DISCOUNTS) * (pairs + 2))},
    )


def to_one_state(states: int, discount: float) -> MDP:
    """Every action in every state leads to state 0."""
    P = torch.zeros(1, states, states, dtype=torch.float64)
    P[:, :, 0] = 1
    return MDP(P, torch.zeros(1, states), discount)


def value_iteration(process: MDP, sweeps: int) -> list[float]:
    """‖V_k - V*‖∞ from V_0 = V* + 1 in every state, where it falls most slowly."""
    best = solve(process, 1e-13)[0]
    V, distances = best[None] + 1, []
    for _ in range(sweeps + 1):
        distances.append((V[0] - best).abs().max().item())
        V = process(V)
    return distances
