"""Claim: a batch gradient's variance is σ²/B, times (N - B)/(N - 1) without replacement (L, J 3.4).

    E ‖g_B - ∇R̂‖²  =  σ²/B        or   σ²/B · (N - B)/(N - 1),         σ² = 1/N Σ_i ‖∇ℓ_i - ∇R̂‖²

Measured: ‖g_B - ∇R̂‖² averaged over random batches of a network's gradients, drawn with replacement
and as the first B of an epoch's order; the largest distance from the formulas, in standard errors.
Bound: Student's quantile that all sizes together exceed for one seed in 10⁷.
By the second factor the whole data set, B = N, has no variance. Bottou, Curtis and Nocedal (2018).
"""

from collections.abc import Callable

import torch
from scipy.stats import t
from torch import Tensor

from chainrule.errors import InputError
from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.lab.helpers.minibatch import problem
from chainrule.training.randomness import permutation

LEVEL = 1e-7
SIZES = (1, 2, 4, 8, 16, 32, 48)


def check(examples: int = 60, batches: int = 2000, seed: int = 0) -> Verdict:
    """Each formula for its own way of drawing.

    Args:
        examples: Training examples N.
        batches: Random batches of each size.
    """
    return verdict(examples, batches, seed, finite)


def broken() -> Verdict:
    """σ²/B for both."""
    return verdict(60, 2000, 0, lambda N, B: 1.0)


def near() -> Near:
    """Other variances, and a population counted with N for N - 1."""

    def scaled(factor: float) -> Verdict:
        return verdict(60, 2000, 0, lambda N, B: factor * finite(N, B))

    return {
        **ten_percent("the variance", scaled),
        "(N - B)/N": lambda: verdict(60, 2000, 0, lambda N, B: (N - B) / N),
    }


def finite(N: int, B: float) -> float:
    """(N - B)/(N - 1)."""
    return (N - B) / (N - 1)


def verdict(N: int, batches: int, seed: int, correction: Callable[[int, float], float]) -> Verdict:
    """Mean squared distances from the full gradient by B."""
    if SIZES[-1] >= N or batches < 100:
        raise InputError(
            f"`examples` must be above {SIZES[-1]}, the largest batch, and `batches` at least "
            f"100 for a standard error, got {N} and {batches}"
        )
    G = problem(N // 2, N - N // 2, seed).each()
    G = G - G.mean(0)
    variance = G.square().sum(1).mean().item()
    generator = torch.Generator().manual_seed(seed)
    orders = {
        "with replacement": torch.randint(N, (batches, N), generator=generator),
        "without": torch.stack([permutation(N, seed, epoch) for epoch in range(batches)]),
    }
    found = {name: squares(G, order) for name, order in orders.items()}

    def formula(name: str, B: float) -> float:
        return variance / B * (correction(N, B) if name == "without" else 1)

    worst = max(
        (abs(x.mean() - formula(name, float(B))) * batches**0.5 / x.std()).item()
        for name, columns in found.items()
        for B, x in zip(SIZES, columns, strict=True)
    )
    bound = float(t.isf(LEVEL / 2 / len(SIZES) / 2, batches - 1))
    sizes, fine = list(map(float, SIZES)), list(map(float, range(1, N)))
    return Verdict(
        quantity="largest |variance - formula|, standard errors",
        measured=worst,
        relation="≤",
        bound=bound,
        picture=Picture(
            title="The noise of a mini-batch falls like 1/B, and without replacement to 0",
            x_label=f"batch size B, of N = {N}",
            y_label="variance of the gradient, in units of σ²",
            curves={name: (fine, [formula(name, B) / variance for B in fine]) for name in orders},
            points={
                name: (sizes, [x.mean().item() / variance for x in columns])
                for name, columns in found.items()
            },
            marks={"B = N": float(N)},
            log="xy",
        ),
        details={"batches": float(2 * len(SIZES) * batches)},
    )


def squares(G: Tensor, order: Tensor) -> list[Tensor]:
    """‖g_B - ∇R̂‖² of every batch, for each B: the first B of each row."""
    return [G[order[:, :B]].mean(1).square().sum(1) for B in SIZES]
