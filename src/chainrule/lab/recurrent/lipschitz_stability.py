"""Claim: a Lipschitz RNN forgets its initial state if σ₁(W) < -λ_max((A + Aᵀ)/2) (L "RNN").

    h' = A h + tanh(W h + U x + b),   e the difference of two states under the same inputs:
    ½ d‖e‖²/dt ≤ (λ_max((A + Aᵀ)/2) + σ₁(W)) ‖e‖²
    in Euler's steps  ‖e_{t+1}‖ ≤ q ‖e_t‖,   q = ‖I + ε A‖₂ + ε σ₁(W)

Measured: ‖e_{t+1}‖ / (q ‖e_t‖) over `steps` steps of random networks that satisfy the condition,
for random pairs of states and inputs: its largest excess over 1. Also for A = -I, W = w I near
h = 0, where tanh has slope 1 and the bound is met with equality: its largest distance from 1, for
w = 0.99 and 1.01, at both sides of the condition.
Bound: 1e-6, the rounding of e: runs end at 1e-9 of the initial distance. Every random network must
contract, w = 0.99 too, and w = 1.01 must expand; `is_stable` must say so beforehand.
L "RNN: Training" names the model, J 5.2 the condition on eigenvalues. Erichson et al. (2021), ICLR.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.models.recurrent.lipschitz import Lipschitz, is_stable, transition

BOUND = 1e-6
INPUTS, WIDTH, PAIRS = 3, 16, 8
TINY, REST = 1e-9, 1e-6  # the end of a run; the size of states near h = 0
EDGE = (0.99, 1.01)


class Factors(NamedTuple):
    """What the prediction q = ‖I + ε A‖ + ε σ₁(W) and the network are multiplied with."""

    linear: float = 1.0
    weights: float = 1.0
    network: float = 1.0


EXACT = Factors()


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
    """Other weights in the bound, a network at the wrong side of the condition, a smaller shift."""

    def other(**factors: float) -> Verdict:
        return verdict(2, 60, 0, shift=-2.0, factors=Factors(**factors))

    return {
        **ten_percent("‖I + ε A‖", lambda factor: other(linear=factor)),
        **ten_percent("σ₁(W)", lambda factor: other(weights=factor)),
        **ten_percent("W of the network", lambda factor: other(network=factor)),
        "M_A shifted by -0.5": lambda: verdict(2, 60, 0, shift=-0.5),
    }


def verdict(
    networks: int, steps: int, seed: int, shift: float, factors: Factors = EXACT
) -> Verdict:
    """Distances between states from different starts."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        layers = [Lipschitz(INPUTS, WIDTH).double() for _ in range(networks)]
        x = torch.randn(PAIRS, steps, INPUTS, dtype=torch.float64)
        starts = torch.randn(2, PAIRS, WIDTH, dtype=torch.float64)
    for layer in layers:
        layer.M_A.data += shift * torch.eye(WIDTH)
    edges = [at_edge(w * factors.network) for w in EDGE]
    runs = [growth(layer, x, starts) for layer in layers]
    slow = [growth(layer, 0 * x, REST * starts) for layer in edges]
    limits = [bound(layer, factors) for layer in layers]
    excess = max((g / q - 1).max().item() for g, q in zip(runs, limits, strict=True))
    predicted = [bound(at_edge(w), factors) for w in EDGE]
    gap = max((g / q - 1).abs().max().item() for g, q in zip(slow, predicted, strict=True))
    grown = [g.max().item() for g in (*runs, *slow)]
    times = [float(t) for t in range(steps + 1)]
    shown = slice(0, None, max(1, steps // 25))
    curves = {"A = -I, W = 0.99 I": slow[0], "A = -I, W = 1.01 I": slow[1], "random": runs[0]}
    return Verdict(
        quantity="largest relative excess over the bound",
        measured=max(excess, gap),
        relation="≤",
        bound=BOUND,
        conditions={
            "random networks contract, and satisfy the condition": max(grown[:-2]) < 1
            and all(map(stable, layers)),
            "the condition decides at the edge": grown[-2] < 1 < grown[-1]
            and [stable(layer) for layer in edges] == [True, False],
        },
        picture=Picture(
            title="Two states under the same inputs converge if the condition holds",
            x_label="steps",
            y_label="distance, in units of the initial one",
            points={
                name: (times[shown], distances(found, steps)[shown])
                for name, found in curves.items()
            },
            bounds={
                f"{w:g} I: qᵗ": (times, [q**t for t in times])
                for w, q in zip(EDGE, predicted, strict=True)
            },
            log="y",
        ),
        details={"largest ratio of random networks": max(grown[:-2])},
    )


def at_edge(w: float) -> Lipschitz:
    """A = -I and W = w I, without inputs; stable for w < 1."""
    with torch.random.fork_rng(devices=[]):
        layer = Lipschitz(INPUTS, WIDTH).double()
    share = 2 * (1 - layer.antisymmetry)
    for M, value in ((layer.M_A, -1.0), (layer.M_W, w)):
        M.data = (value + layer.damping) / share * torch.eye(WIDTH, dtype=torch.float64)
    return layer


@torch.no_grad()
def growth(layer: Lipschitz, x: Tensor, starts: Tensor) -> Tensor:
    """‖e_{t+1}‖ / ‖e_t‖ of the first pair at every step, then of all others, until e is tiny."""
    one, other = (torch.cat([s[:, None], layer(x, s)[0]], 1) for s in starts)
    apart = (one - other).norm(dim=2)
    kept = apart[:, 1:] > TINY * apart[:, :1]
    return (apart[:, 1:] / apart[:, :-1])[kept]


def distances(found: Tensor, steps: int) -> list[float]:
    """‖e_t‖ / ‖e_0‖ of the first pair."""
    return torch.cat([torch.ones(1), found[:steps].cumprod(0).clamp_min(TINY)]).tolist()


def matrices(layer: Lipschitz) -> tuple[Tensor, Tensor]:
    """A and W."""
    A, W = (
        transition(M.detach(), layer.antisymmetry, layer.damping) for M in (layer.M_A, layer.M_W)
    )
    return A, W


def stable(layer: Lipschitz) -> bool:
    """Whether the condition holds."""
    return is_stable(*matrices(layer))


def bound(layer: Lipschitz, factors: Factors) -> float:
    """q = ‖I + ε A‖₂ + ε σ₁(W)."""
    A, W = matrices(layer)
    linear = torch.eye(WIDTH, dtype=torch.float64) + layer.step_size * A
    norms = [torch.linalg.matrix_norm(t, 2).item() for t in (linear, layer.step_size * W)]
    return factors.linear * norms[0] + factors.weights * norms[1]
