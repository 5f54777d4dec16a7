"""Claim: q·k of independent unit normals has variance d, and 1 after division by √d (J 6.1).

    q, k ~ N(0, I_d) independent   ⇒   Var q·k = Σ_i Var q_i k_i = d,     Var (q·k / √d) = 1

Measured: for each d, the mean over independent queries of the unbiased variance of log a_t over the
keys of a row. A log softmax differs from the scores by a constant per row, which the variance
ignores; queries √d times as long undo the division. Distance of the mean from 1 and from d, in
standard errors over the rows.
Bound: Student's quantile that all d together exceed for one seed in 10⁶.
The details show why it matters: at variance d the softmax saturates. Vaswani et al. (2017).
"""

import torch
from scipy.stats import t
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.nn.attention import attention_weights

DIMENSIONS = (4, 16, 64, 256, 1024)
LEVEL = 1e-6


def check(rows: int = 800, keys: int = 24, seed: int = 0) -> Verdict:
    """Independent entries in queries and keys.

    Args:
        rows: Independent queries for each d.
        keys: Keys per query.
    """
    return verdict(rows, keys, seed, independent=True)


def broken() -> Verdict:
    """All entries of a vector are equal, so their products add up instead of canceling."""
    return verdict(400, 24, 0, independent=False)


def near() -> Near:
    """Predictions off by 10 %."""
    return ten_percent("the variance", lambda c: verdict(800, 24, 0, independent=True, scale=c))


def verdict(rows: int, keys: int, seed: int, independent: bool, scale: float = 1.0) -> Verdict:
    """Variances with and without the root."""
    generator = torch.Generator().manual_seed(seed)
    scaled: list[float] = []
    plain: list[float] = []
    distances, largest = [], []
    for d in DIMENSIONS:
        drawn = d if independent else 1
        q = torch.randn(rows, 1, 1, drawn, generator=generator, dtype=torch.float64)
        k = torch.randn(rows, 1, keys, drawn, generator=generator, dtype=torch.float64)
        q, k = q.expand(-1, -1, -1, d), k.expand(-1, -1, -1, d)
        for factor, expected, found in ((1.0, 1.0, scaled), (d**0.5, float(d), plain)):
            A = attention_weights(factor * q, k)
            mean, error = mean_and_error(A.log().var(-1).flatten())
            found.append(mean)
            distances.append(abs(mean - scale * expected) / error)
            largest.append(A.amax(-1).mean().item())
    bound = float(t.isf(LEVEL / len(distances) / 2, rows - 1))
    dimensions = [float(d) for d in DIMENSIONS]
    return Verdict(
        quantity="largest |variance - predicted|, standard errors",
        measured=max(distances),
        relation="≤",
        bound=bound,
        picture=Picture(
            title="Scores spread with the dimension; dividing by √d restores variance 1",
            x_label="dimension d of queries and keys",
            y_label="variance of the scores",
            curves={
                "q·k": ([4.0, 1024.0], [4.0, 1024.0]),
                "q·k / √d": ([4.0, 1024.0], [1.0, 1.0]),
            },
            points={"q·k": (dimensions, plain), "q·k / √d": (dimensions, scaled)},
            log="xy",
        ),
        details={
            f"largest of {keys} weights, d = {DIMENSIONS[-1]}, scaled": largest[-2],
            f"largest of {keys} weights, d = {DIMENSIONS[-1]}, not scaled": largest[-1],
        },
    )


def mean_and_error(x: Tensor) -> tuple[float, float]:
    """The mean of independent values, and its standard error."""
    return x.mean().item(), x.std().item() / len(x) ** 0.5
