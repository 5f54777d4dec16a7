"""Claim: Q-learning finds what value iteration computes, with errors of a known size (A 4).

    Q(s, a) ← Q(s, a) + α (r + γ max_a' Q(s', a') - Q(s, a)),   α = n^(-ω),  ½ < ω < 1   ⇒   Q → Q*
    E (Q - Q*)(Q - Q*)ᵀ ≈ t^(-ω) X,    A X + X Aᵀ - ω t^(ω-1) X = D^(1-2ω) Σ
    A = D^(1-ω) (I - γ P*)

D holds the frequencies of the pairs (s, a), which a uniformly random policy visits, Σ the variances
of r + γ max Q*(s'), and P* leads from a pair to the pair that is greedy in s'. The equation is that
of a linear stochastic approximation whose gains decay like t^(-ω).
Hypothesis: every action is tried in every state infinitely often. In the process drawn, the two
actions of a state differ by more than ½, far above the errors, so that the maximum is linear there.
Measured: Σ E (Q - Q*)² over all pairs, by all agents after `steps` steps, relative to its
prediction, as |ratio - 1|.
Bound: 0.05. The equation neglects terms of the relative order of the gains, 1 % here; the mean
over agents has a standard error of 0.9 %.
Watkins and Dayan (1992), Machine Learning 8; Benveniste, Métivier and Priouret (1990).
"""

import numpy as np
import torch
from scipy.linalg import solve_continuous_lyapunov
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.models.reinforcement.mdp import MDP, random_mdp
from chainrule.models.reinforcement.q_learning import QLearning
from chainrule.models.reinforcement.value_iteration import solve

STATES, ACTIONS, GAP = 4, 2, 0.5
POWER, BOUND = 0.7, 0.05


def check(agents: int = 3000, steps: int = 4000, discount: float = 0.6, seed: int = 0) -> Verdict:
    """Agents that always explore.

    Args:
        agents: Independent agents.
        steps: Steps of each agent.
        discount: Discount factor γ.
    """
    return verdict(agents, steps, discount, seed)


def broken() -> Verdict:
    """Agents that never explore: an action that looks bad at first is not tried again."""
    return verdict(100, 800, 0.5, 0, epsilon=0.0)


def near() -> Near:
    """Another discount, noise or rate than the agents have, and agents that explore too little."""
    return {
        **ten_percent("γ", lambda factor: verdict(2000, 3000, 0.6, 1, gamma=factor)),
        **ten_percent("Σ", lambda factor: verdict(2000, 3000, 0.6, 1, noise=factor)),
        **ten_percent("ω", lambda factor: verdict(2000, 3000, 0.6, 1, rate=factor)),
        "50 % exploration": lambda: verdict(2000, 3000, 0.6, 1, epsilon=0.5),
    }


def verdict(
    agents: int,
    steps: int,
    discount: float,
    seed: int,
    epsilon: float = 1.0,
    gamma: float = 1.0,
    noise: float = 1.0,
    rate: float = 1.0,
) -> Verdict:
    """Squared errors after 25, 50, 100, … steps against the prediction."""
    generator = torch.Generator().manual_seed(seed)
    process, best = distinct(discount, generator)
    model, done, found = QLearning(process, agents), 0, {}
    while done < steps:
        more = min(max(done, 25), steps - done)
        model.learn(process, more, epsilon, generator, POWER)
        done += more
        found[done] = (model.Q - process.q(best)).square().mean(0).sum().item()
    predicted = {
        t: noise * covariance(process, best, t, POWER * rate, gamma * discount).trace()
        for t in (*found, *range(200, steps, max((steps - 200) // 40, 1)))
        if t >= 100
    }
    axis = sorted(predicted)
    return Verdict(
        quantity="|Σ E (Q - Q*)² / predicted - 1|",
        measured=abs(found[steps] / predicted[steps] - 1),
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="Agents that keep exploring learn the optimal values",
            x_label="steps t",
            y_label="Σ (Q - Q*)² over all pairs",
            curves={"t^(-ω) tr X": ([float(t) for t in axis], [predicted[t] for t in axis])},
            points={f"mean of {agents} agents": ([float(t) for t in found], list(found.values()))},
            log="xy",
        ),
        details={"measured": found[steps], "predicted": float(predicted[steps])},
    )


def distinct(discount: float, generator: torch.Generator) -> tuple[MDP, Tensor]:
    """A random process in which the best action of every state is better by ½ or more, and V*."""
    while True:
        process = random_mdp(STATES, ACTIONS, discount, generator)
        best = solve(process, 1e-10)[0]
        first, second = process.q(best).topk(2, -1).values.T
        if (first - second).min() > GAP:
            return process, best


def covariance(process: MDP, best: Tensor, t: int, power: float, discount: float) -> np.ndarray:
    """t^(-ω) X for the pairs (s, a) in order."""
    S, A = process.num_states, process.num_actions
    outcome = process.R + process.discount * best
    mean = (process.P * outcome).sum(-1)
    variance = ((process.P * outcome.square()).sum(-1) - mean.square()).T.flatten().numpy()
    greedy = torch.arange(S) * A + process.q(best).argmax(-1)
    P = np.zeros((S * A, S * A))
    P[:, greedy] = process.P.transpose(0, 1).reshape(S * A, S).numpy()
    d = frequencies(process).repeat_interleave(A).numpy() / A
    gain = np.diag(d ** (1 - power)) @ (np.eye(S * A) - discount * P)
    shifted = gain - power / 2 * t ** (power - 1) * np.eye(S * A)
    X = solve_continuous_lyapunov(shifted, np.diag(d ** (1 - 2 * power) * variance))
    return np.asarray(X * t**-power)


def frequencies(process: MDP) -> Tensor:
    """The stationary distribution of the states under uniformly random actions."""
    return torch.linalg.matrix_power(process.P.mean(0), 256)[0]
