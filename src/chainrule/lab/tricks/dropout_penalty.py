"""Claim: dropout adds a penalty (1-p)/p Σ w_j² h_j² to the expected loss (L exercise 10.5 b, c).

    E (wᵀh̃ + b - y)² = (wᵀh + b - y)² + (1 - p)/p Σ_j w_j² h_j²,       h̃ = m ⊙ h / p

An adaptive ridge: a weight pays in proportion to its unit's activity. It is exact for a linear
output with squared loss after the dropped layer.
Measured: the expectation over all 2ᵈ masks of a ReLU network's d hidden units; the largest relative
distance from the formula.
Bound: 1e-12, the rounding of 2ᵈ terms. The library's own random masks, drawn in the picture, must
agree within 7 standard errors, which one mean in 10¹⁰ exceeds.
Srivastava et al. (2014), Wager, Wang and Liang (2013).
"""

import torch
from torch import Tensor

from chainrule.errors import InputError
from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.lab.helpers.masks import MOST, every_mask, given, probabilities
from chainrule.learning.losses import squared
from chainrule.models.feedforward.mlp import MLP

RATES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
BOUND = 1e-12
ERRORS = 7.0


def check(units: int = 12, samples: int = 20_000, seed: int = 0) -> Verdict:
    """The factor (1 - p)/p.

    Args:
        units: Hidden units d; all 2ᵈ masks are formed.
        samples: Random masks for each rate, at least 100.
    """
    if units > MOST or samples < 100:
        raise InputError(
            f"`units` must be at most {MOST} (all masks are formed), `samples` at least 100, got "
            f"{units} and {samples}"
        )
    return verdict(units, samples, seed, power=-1.0)


def broken() -> Verdict:
    """The factor (1 - p) p, that of masks without division by p."""
    return verdict(6, 1000, 0, power=1.0)


def near() -> Near:
    """Other powers of p in the factor (1 - p)/p."""
    return ten_percent("the power -1 of p", lambda factor: verdict(6, 1000, 0, power=-factor))


def verdict(units: int, samples: int, seed: int, power: float) -> Verdict:
    """Expected losses by rate: formula, enumeration, samples."""
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        x, y = torch.randn(1, 8, dtype=torch.float64), torch.randn(1, 1, dtype=torch.float64)
        model = MLP(8, [units], 1).double()
        plain, penalty = loss_and_penalty(model, x, y)
        formula = [plain + rate * (1 - rate) ** power * penalty for rate in RATES]
        exact = [enumerated(model, rate, x, y) for rate in RATES]
        sampled = [losses(model, rate, x.expand(samples, 8), y) for rate in RATES]
    worst = max(abs(e / f - 1) for e, f in zip(exact, formula, strict=True))
    means = [drawn.mean().item() for drawn in sampled]
    errors = [drawn.std().item() / samples**0.5 + BOUND for drawn in sampled]
    apart = max(abs(m - f) / e for m, f, e in zip(means, formula, errors, strict=True))
    fine = [0.2 + step / 100 for step in range(81)]
    curve = [plain + (1 - p) * p**power * penalty for p in fine]
    return Verdict(
        quantity="largest relative |E loss - formula|",
        measured=worst,
        relation="≤",
        bound=BOUND,
        conditions={"sampled masks agree within 7 standard errors": apart <= ERRORS},
        picture=Picture(
            title="Dropout penalizes every weight by the activity of its unit",
            x_label="keep probability p",
            y_label="expected squared loss",
            curves={"loss + (1-p)/p Σ w²h²": (fine, curve)},
            points={f"mean of {samples:,} masks": ([1 - rate for rate in RATES], means)},
            bounds={"loss without dropout": ([0.2, 1.0], [plain, plain])},
        ),
        details={"sampled, in standard errors": apart},
    )


@torch.no_grad()
def loss_and_penalty(model: MLP, x: Tensor, y: Tensor) -> tuple[float, float]:
    """(wᵀh + b - y)² and Σ w_j² h_j²."""
    first, last = model.layers
    h = model.activation(first(x))
    return 2 * squared(last(h), y).item(), (last.weight * h).square().sum().item()  # type: ignore[operator]


@torch.no_grad()
def losses(model: MLP, rate: float, x: Tensor, y: Tensor) -> Tensor:
    """(f - y)² of every row in training mode, at that dropout rate."""
    model.rates = (rate,)
    return 2 * squared(model.train()(x), y.expand(len(x), 1))


def enumerated(model: MLP, rate: float, x: Tensor, y: Tensor) -> float:
    """Σ_m p(m) (f(x; m) - y)²."""
    masks = every_mask(model.layers[0].out_features)  # type: ignore[arg-type]
    with given(masks):
        each = losses(model, rate, x.expand(len(masks), -1), y)
    return (probabilities(masks, 1 - rate) @ each).item()
