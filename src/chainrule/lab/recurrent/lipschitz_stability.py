"""Claim: a Lipschitz RNN forgets its initial state if σ₁(W) < -λ_max((A + Aᵀ)/2) (L "RNN").

    h' = A h + tanh(W h + U x + b),   e the difference of two states under the same inputs:
    ½ d‖e‖²/dt ≤ (λ_max((A + Aᵀ)/2) + σ₁(W)) ‖e‖²
    in Euler's steps  ‖e_{t+1}‖ ≤ (‖I + ε A‖₂ + ε σ₁(W)) ‖e_t‖

Measured: random networks that satisfy the condition, random pairs of states and inputs; the largest
‖e_{t+1}‖ / ‖e_t‖ over `steps` steps.
Bound: below 1, by the theorem for small ε. It must also not exceed Euler's factor. Runs stop at
1e-9 of the initial distance, so that rounding of e plays no role.
L "RNN: Training" names the model, J 5.2 the condition on eigenvalues. Erichson et al. (2021), ICLR.
"""

from functools import partial

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.models.recurrent.lipschitz import Lipschitz, is_stable, transition

INPUTS, WIDTH, PAIRS = 3, 16, 8
TINY = 1e-9


def check(networks: int = 5, steps: int = 150, seed: int = 0) -> Verdict:
    """M_A shifted to the left, so that the symmetric part of A is negative definite.

    Args:
        networks: Random networks.
        steps: Steps of each run.
    """
    return verdict(networks, steps, seed, shift=-2.0)


def broken() -> Verdict:
    """M_A shifted to the right, so that the condition fails."""
    return verdict(2, 60, 0, shift=1.0)


def near() -> Near:
    """M_A shifted less, so that the condition just fails."""
    return {
        f"M_A shifted by {shift}": partial(verdict, 2, 60, 0, shift=shift) for shift in (-1.0, -0.5)
    }


def verdict(networks: int, steps: int, seed: int, shift: float) -> Verdict:
    """Distances between states from different starts."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        layers = [Lipschitz(INPUTS, WIDTH).double() for _ in range(networks + 1)]
        x = torch.randn(PAIRS, steps, INPUTS, dtype=torch.float64)
        starts = torch.randn(2, PAIRS, WIDTH, dtype=torch.float64)
    for layer in layers[1:]:
        layer.M_A.data += shift * torch.eye(WIDTH)
    courses = [distances(layer, x, starts) for layer in layers]
    ratios = [
        (d[:, 1:] / d[:, :-1])[d[:, 1:] > TINY].max().item() / factor(layer)[0]
        for d, layer in zip(courses[1:], layers[1:], strict=True)
    ]
    factors, stable = zip(*map(factor, layers[1:]), strict=True)
    worst = max(ratio * rate for ratio, rate in zip(ratios, factors, strict=True))
    times = [float(t) for t in range(steps + 1)]
    limit = [max(factors[0] ** t, TINY) for t in times]
    shown = slice(0, None, max(1, steps // 25))
    return Verdict(
        quantity="largest ‖e_{t+1}‖ / ‖e_t‖",
        measured=worst,
        relation="<",
        bound=1.0,
        conditions={
            "within Euler's factor": max(ratios) <= 1 + 1e-6,
            "all networks satisfy the condition": all(stable),
        },
        picture=Picture(
            title="Two states under the same inputs converge if the condition holds",
            x_label="steps",
            y_label="distance, in units of the initial one",
            points={
                "condition holds": (times[shown], courses[1][0].clamp_min(TINY).tolist()[shown]),
                "initial weights, it does not": (times[shown], courses[0][0].tolist()[shown]),
            },
            bounds={"(‖I + ε A‖ + ε σ₁(W))ᵗ": (times, limit)},
            log="y",
        ),
        details={"Euler's factor": max(factors)},
    )


def distances(layer: Lipschitz, x: Tensor, starts: Tensor) -> Tensor:
    """(pairs, steps + 1): ‖e_t‖ / ‖e_0‖."""
    with torch.no_grad():
        one, other = (torch.cat([s[:, None], layer(x, s)[0]], 1) for s in starts)
    apart = (one - other).norm(dim=2)
    return apart / apart[:, :1]


def factor(layer: Lipschitz) -> tuple[float, bool]:
    """‖I + ε A‖₂ + ε σ₁(W), and whether the condition holds."""
    with torch.no_grad():
        A, W = (transition(M, layer.antisymmetry, layer.damping) for M in (layer.M_A, layer.M_W))
        linear = torch.eye(WIDTH, dtype=torch.float64) + layer.step_size * A
        norms = [torch.linalg.matrix_norm(t, 2) for t in (linear, layer.step_size * W)]
        return sum(norms).item(), is_stable(A, W)
