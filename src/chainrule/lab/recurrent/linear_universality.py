"""Claim: a linear recurrence loses no power if its output map is nonlinear (J 5.2).

    h_t = Λ h_{t-1} + B x_t,   y = f(h_T)       target  x_{T-2} x_{T-4},  a nonlinear functional
    linear f: error 1, for any number of units    best f: E Var(y | h_T), falls toward 0 with units

For Gaussian inputs the best f is quadratic and its error is known. With g, g' the two delays as
vectors over time, a, b their projections on what the state keeps, α = g - a and β = g' - b:

    E Var(y | h_T) = |a|²|β|² + |b|²|α|² + |α|²|β|² + 2 (a·b)(α·β) + (α·β)²

Measured: the states of a new LRU, of which the first m = 1 … 8 units are read; quadratic and linear
maps of them are fitted to 20,000 sequences and tested on `samples` others. The distances of their
mean squared errors from these values, times 1 + p/n for p fitted weights, in standard errors; the
largest. An MLP trained on all units must come within 0.1 of the best.
Bound: 7; the errors are means of independent, heavy-tailed squares, and 5.6 would be exceeded by
one seed in a million if they were Gaussian.
The notes credit the theorem to Feng et al.; it is Orvieto et al. (2024), ICML.
"""

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.learning.tasks import REGRESSION
from chainrule.models.feedforward.mlp import MLP
from chainrule.models.recurrent.lru import LRU
from chainrule.training import fit

BOUND = 7.0
UNITS, STEPS, FITTED = 8, 30, 20_000
DELAYS = (2, 4)
SIZES = (1, 2, 3, 4, 6, 8)
CLOSE = 0.1


def check(samples: int = 200_000, seed: int = 0) -> Verdict:
    """A quadratic output map, and an MLP.

    Args:
        samples: Sequences on which the maps are tested, at least 1,000.
    """
    return verdict(max(1000, samples), seed, mlp=True)


def broken() -> Verdict:
    """Linear output maps in place of the quadratic ones."""
    return verdict(50_000, 0, degree=1)


def near() -> Near:
    """Predictions off by 10 %, and a state that loses its imaginary parts."""
    return {
        **ten_percent("the best error", lambda factor: verdict(100_000, 0, best=factor)),
        **ten_percent("the linear error", lambda factor: verdict(100_000, 0, linear=factor)),
        "real parts of the state alone": lambda: verdict(100_000, 0, parts=1),
    }


def verdict(
    samples: int,
    seed: int,
    degree: int = 2,
    best: float = 1.0,
    linear: float = 1.0,
    parts: int = 2,
    mlp: bool = False,
) -> Verdict:
    """Errors by the number of units read."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        kept = kept_by(LRU(1, UNITS, 0.5, 0.9).double())
        x = torch.randn(FITTED + samples, STEPS, dtype=torch.float64)
        y = x[:, -1 - DELAYS[0]] * x[:, -1 - DELAYS[1]]
        network = MLP(2 * UNITS, [64], 1, activation="tanh").double()
    limits, found, plain, distances = [], [], [], []
    for m in SIZES:
        state = x @ basis(kept[:, :m].flatten(0, 1)).T
        read = x @ basis(kept[:parts, :m].flatten(0, 1)).T
        limits.append(least(basis(kept[:, :m].flatten(0, 1))))
        mean, error = tested(monomials(read, degree), y, best * limits[-1])
        found.append(mean)
        plain_mean, plain_error = tested(monomials(state, 1), y, linear)
        plain.append(plain_mean)
        distances += [error, plain_error]
    conditions = {}
    if mlp:
        conditions["an MLP comes within 0.1"] = trained(network, state, y) <= limits[-1] + CLOSE
    sizes = [float(m) for m in SIZES]
    return Verdict(
        quantity="largest distance from the predicted errors, standard errors",
        measured=max(distances),
        relation="≤",
        bound=BOUND,
        conditions=conditions,
        picture=Picture(
            title="The output map decides: nonlinear, a linear recurrence is enough",
            x_label="units read",
            y_label="mean squared error",
            curves={
                "best map of the state": (sizes, limits),
                "best linear map: 1": (sizes, [1.0] * len(sizes)),
            },
            points={"quadratic map": (sizes, found), "linear map": (sizes, plain)},
            log="y",
        ),
        details={"error of the best map of all units": limits[-1]},
    )


@torch.no_grad()
def kept_by(layer: LRU) -> Tensor:
    """(2, units, steps): real and imaginary parts of h_T as linear functions of x_1 … x_T."""
    impulses = torch.eye(STEPS, dtype=torch.float64)[..., None]
    _, (states,) = layer.unroll(impulses, *layer.starting_state(impulses, None))
    return torch.view_as_real(states[:, -1]).permute(2, 1, 0)


def basis(kept: Tensor) -> Tensor:
    """Orthonormal rows that span the given ones, up to 1e-6 of the largest."""
    _, s, rows = torch.linalg.svd(kept, full_matrices=False)
    return rows[s > 1e-6 * s[0]]


def least(rows: Tensor) -> float:
    """E Var(y | state), where the state is the projection of x on these rows."""
    g = torch.eye(STEPS, dtype=torch.float64)[[-1 - delay for delay in DELAYS]]
    inside = g @ rows.T @ rows
    (a, b), (alpha, beta) = inside, g - inside
    within, without = a @ b, alpha @ beta
    squares = (a @ a) * (beta @ beta) + (b @ b) * (alpha @ alpha) + (alpha @ alpha) * (beta @ beta)
    return (squares + 2 * within * without + without**2).item()


def monomials(state: Tensor, degree: int) -> Tensor:
    """1, the state, and for degree 2 all products of two of its entries."""
    parts = [torch.ones_like(state[:, :1]), state]
    if degree == 2:
        i, j = torch.triu_indices(state.shape[1], state.shape[1])
        parts.append(state[:, i] * state[:, j])
    return torch.cat(parts, 1)


def tested(features: Tensor, y: Tensor, expected: float) -> tuple[float, float]:
    """Mean squared error on new sequences, and its distance from `expected` in standard errors."""
    seen, new = features[:FITTED], features[FITTED:]
    weights = torch.linalg.lstsq(seen, y[:FITTED, None]).solution
    squares = (y[FITTED:, None] - new @ weights).square()
    expected *= 1 + features.shape[1] / FITTED
    error = squares.std().item() / len(squares) ** 0.5
    return squares.mean().item(), abs(squares.mean().item() - expected) / error


def trained(network: MLP, state: Tensor, y: Tensor) -> float:
    """Mean squared error of an MLP of the state, on new sequences."""
    data = (state[:FITTED], y[:FITTED])
    fit(network, data, task=REGRESSION, epochs=12, batch_size=256, learning_rate=1e-2)
    with torch.no_grad():
        return (network(state[-FITTED:]).squeeze(1) - y[-FITTED:]).square().mean().item()
