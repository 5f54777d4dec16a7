"""Claim: a network beats a linear model where signal is strong and data are many (L 10).

    y = g(x) + σ ε,    g half linear, half not:     linear excess → ½ Var g,  network excess → 0
    for few examples or much noise both only have variance, and the network has more of it

Measured: test errors, without the noise, of linear regression and of networks 5-32-1 over a grid of
noise σ²/Var g and sample size n, over independent data sets. The logarithm of network error over
linear error is regressed on log n and on log σ²; the smaller of the two effects, falling with n
and rising with σ², in standard errors over the data sets.
Bound: Student's quantile that data without such an effect exceed once in 10⁶ times. The network
must also win at the largest n and least noise, and lose at the smallest n and most noise.
Notes: L "When to Use Deep Learning", which says so of NYSE and IMDB. The marks place recorded runs
on the map by their noise/signal (1 - R²)/R² on the test split: `nyse-ar` (R²), `imdb-lasso` and
`default-mlp` (1 - log loss / entropy of the labels, for which R² stands only roughly). They lie
beyond the grid to the right, and their g is not ours: on all three a linear model is as good.
"""

import torch
from scipy.stats import t
from torch import Tensor

from chainrule.errors import InputError
from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.models.feedforward.linear_regression import LinearRegression
from chainrule.models.feedforward.mlp import MLP
from chainrule.training import Settings, fit_many, outputs

LEVEL = 1e-6
INPUTS, STEPS = 5, 300
SIZES = (30, 100, 300, 1000)
NOISES = (0.01, 0.1, 1.0, 10.0)  # σ² / Var g
PLACED = {"NYSE": (3421.0, 1.42), "IMDB": (25000.0, 0.72), "Default": (6000.0, 0.94)}


def check(draws: int = 12, seed: int = 0) -> Verdict:
    """A target that is half linear.

    Args:
        draws: Independent data sets for each noise and size, at least 4.
    """
    if draws < 4:
        raise InputError(f"`draws` must be at least 4 for a standard error, got {draws}")
    return verdict(draws, seed)


def broken() -> Verdict:
    """A linear target: the network never wins."""
    return verdict(4, 0, curved=0.0)


def near() -> Near:
    """Targets that are almost linear."""
    return {"0.1 % of the variance not linear": lambda: verdict(4, 0, curved=0.001)}


def verdict(draws: int, seed: int, curved: float = 0.5) -> Verdict:
    """Errors over the grid."""
    ratios = torch.stack([log_ratios(n, draws, seed, curved) for n in SIZES])  # n, noise, draw
    log_n = torch.tensor(SIZES).double().log()
    log_noise = torch.tensor(NOISES).double().log()
    falls = -slopes(ratios.mean(1), log_n)
    rises = slopes(ratios.mean(0), log_noise)
    effects = [(s.mean() / s.std() * draws**0.5).item() for s in (falls, rises)]
    mean = ratios.mean(2)
    return Verdict(
        quantity="smaller effect of n and σ² on the ratio of errors, standard errors",
        measured=min(effects),
        relation="≥",
        bound=float(t.isf(LEVEL, draws - 1)),
        conditions={
            "the network wins: many data, little noise": mean[-1, 0].item() < 0,
            "it loses: few data, much noise": mean[0, -1].item() > 0,
        },
        picture=picture(mean),
        details={
            "network / linear error, best cell": mean.min().exp().item(),
            "network / linear error, worst cell": mean.max().exp().item(),
        },
    )


def picture(mean: Tensor) -> Picture:
    """Who wins where, and recorded data sets."""
    cells = {"network has the smaller error": mean < 0, "linear model has it": mean >= 0}
    return Picture(
        title="Networks pay where the signal is strong and the data are many",
        x_label="training examples n",
        y_label="noise / signal, σ² / Var g",
        points={
            name: (
                [float(SIZES[i]) for i, _ in where.nonzero().tolist()],
                [NOISES[j] for _, j in where.nonzero().tolist()],
            )
            for name, where in cells.items()
            if where.any()
        }
        | {
            "recorded, linear as good": (
                [n for n, _ in PLACED.values()],
                [noise for _, noise in PLACED.values()],
            )
        },
        marks=PLACED,
        log="xy",
    )


def slopes(values: Tensor, x: Tensor) -> Tensor:
    """Least-squares slopes against x of each column."""
    centered = x - x.mean()
    return (centered @ values) / centered.square().sum()


def log_ratios(n: int, draws: int, seed: int, curved: float) -> Tensor:
    """(noises, draws): log of network over linear error, all networks trained at once."""
    blocks = len(NOISES) * draws
    with torch.random.fork_rng([]):
        torch.manual_seed(seed * 1000 + n)
        x = torch.randn(blocks * n, INPUTS)
        sigma = torch.tensor(NOISES).sqrt().repeat_interleave(draws).repeat_interleave(n)
        y = target(x, curved) + sigma * torch.randn(len(x))
        x_test = torch.randn(1000, INPUTS)
        models = [MLP(INPUTS, [32], 1) for _ in range(blocks)]
    rows = torch.arange(blocks * n).view(blocks, n)
    size = min(n, 50)
    settings = [
        Settings(seed=k, epochs=STEPS * size // n, batch_size=size, learning_rate=1e-2, threads=1)
        for k in range(blocks)
    ]
    fit_many(models, (x, y[:, None]), None, settings, folds=[(r, r[:1]) for r in rows])
    truth, found = target(x_test, curved), []
    for model, r in zip(models, rows, strict=True):
        linear = LinearRegression(INPUTS)
        linear.solve(x[r], y[r, None])
        errors = [
            (outputs(each, (x_test,)).squeeze(1) - truth).square().mean()
            for each in (model, linear)
        ]
        found.append((errors[0] / errors[1]).log())
    return torch.stack(found).double().view(len(NOISES), draws)


def target(x: Tensor, curved: float) -> Tensor:
    """Variance 1: a linear part, and x₁ x₂ + (|x₃| - E |x₃|) for the rest."""
    linear = x.sum(1) / INPUTS**0.5
    bent = x[:, 0] * x[:, 1] + x[:, 2].abs() - (2 / torch.pi) ** 0.5
    return (1 - curved) ** 0.5 * linear + (curved / (2 - 2 / torch.pi)) ** 0.5 * bent
