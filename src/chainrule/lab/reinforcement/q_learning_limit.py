"""Claim: Q-learning finds from experience what value iteration computes from the model (A 4).

    Q(s, a) ← Q(s, a) + α (r + γ max_a' Q(s', a') - Q(s, a)),   α = n^(-ω),  ½ < ω ≤ 1   ⇒   Q → Q*
    E ‖Q - Q*‖∞ ≲ σ √(α/2) √(2 log 2K) / (1 - γ)

Hypothesis: every action is tried in every state infinitely often. The noise left by a rate α has
variance σ²α/2, where σ² is the largest variance of r + γ max Q*. The largest of K such Gaussian
errors is below √(2 log 2K) of them on average, and bootstrapping amplifies errors at most 1/(1 - γ)
times.
Measured: the mean of ‖Q - Q*‖∞ over agents, in units of σ √(α/2), after `steps` steps in a random
process, with n the mean number of visits.
Bound: √(2 log 2K) / (1 - γ), here 4.9; a mean of 50 agents has an error of 0.1.
Watkins and Dayan (1992), Machine Learning 8.
"""

import math

import torch
from torch import Tensor

from chainrule.lab.claim import Picture, Verdict
from chainrule.models.reinforcement.mdp import MDP, random_mdp
from chainrule.models.reinforcement.q_learning import QLearning
from chainrule.models.reinforcement.value_iteration import solve

STATES, ACTIONS = 5, 2
POWER = 0.7


def check(agents: int = 50, steps: int = 6000, discount: float = 0.5, seed: int = 0) -> Verdict:
    """Agents that always explore.

    Args:
        agents: Independent agents.
        steps: Steps of each agent.
        discount: Discount factor γ.
    """
    return verdict(agents, steps, discount, seed, epsilon=1.0)


def broken() -> Verdict:
    """Agents that never explore: an action that looks bad at first is not tried again."""
    return verdict(50, 6000, 0.5, 0, epsilon=0.0)


def verdict(agents: int, steps: int, discount: float, seed: int, epsilon: float) -> Verdict:
    """Errors after 25, 50, 100, … steps."""
    generator = torch.Generator().manual_seed(seed)
    process = random_mdp(STATES, ACTIONS, discount, generator)
    best = solve(process, 1e-10)[0]
    sigma = deviation(process, best)
    model, done, visits, errors = QLearning(process, agents), 0, [], []
    while done < steps:
        more = min(max(done, 25), steps - done)
        model.learn(process, more, epsilon, generator, POWER)
        done += more
        visits.append(done / STATES / ACTIONS)
        errors.append((model.Q - process.q(best)).abs().amax((1, 2)).mean().item() / sigma)
    bound = math.sqrt(2 * math.log(2 * STATES * ACTIONS)) / (1 - discount)
    measured = errors[-1] / math.sqrt(visits[-1] ** -POWER / 2)
    return Verdict(
        quantity="mean ‖Q - Q*‖∞, in units of σ √(α/2)",
        measured=measured,
        relation="≤",
        bound=bound,
        picture=Picture(
            title="Agents that keep exploring learn the optimal values",
            x_label="visits of each action in each state, n",
            y_label="largest error ‖Q - Q*‖∞ / σ",
            points={f"mean of {agents} agents": (visits, errors)},
            bounds={
                "σ √(α/2) √(2 log 2K) / (1 - γ)": (
                    visits,
                    [bound * math.sqrt(n**-POWER / 2) for n in visits],
                )
            },
            log="xy",
        ),
        details={"steps": float(steps), "error / σ": errors[-1]},
    )


def deviation(process: MDP, V: Tensor) -> float:
    """σ, the largest standard deviation of r + γ V(s') over states and actions."""
    outcome = process.R + process.discount * V
    mean = (process.P * outcome).sum(-1)
    return ((process.P * outcome.square()).sum(-1) - mean.square()).max().sqrt().item()
