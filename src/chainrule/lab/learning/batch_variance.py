"""Claim: a batch gradient's variance is σ²/B, times (N - B)/(N - 1) without replacement (L, J 3.4).

    E ‖g_B - ∇R̂‖²  =  σ²/B        or   σ²/B · (N - B)/(N - 1),         σ² = 1/N Σ_i ‖∇ℓ_i - ∇R̂‖²

Measured: the mean of ‖g_B - ∇R̂‖² over *all* batches of a small network's gradients: every subset of
B = 1 … N examples, and every sequence of up to `longest` with replacement; the largest relative
difference from the formulas.
Bound: 1e-10, up to 10⁴ terms in double precision.
The training loop's own random batches, the first B of an epoch's order, must agree too: within the
Student quantile, in standard errors, that all B together exceed for one seed in 10⁷.
By the second factor the whole data set, B = N, has no variance. Bottou, Curtis and Nocedal (2018).
"""

from itertools import combinations, product

import torch
from scipy.stats import t
from torch import Tensor

from chainrule.errors import InputError
from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.lab.helpers.minibatch import problem
from chainrule.training.randomness import permutation, with_replacement

BOUND = 1e-10
LEVEL = 1e-7
WAYS = {"with replacement": with_replacement, "without": permutation}


def check(examples: int = 10, longest: int = 4, epochs: int = 4000, seed: int = 0) -> Verdict:
    """Each formula for its own way of drawing.

    Args:
        examples: Training examples N, from 4 to 14.
        longest: Largest batch drawn with replacement of which all are enumerated.
        epochs: Random orders whose first B examples are a batch.
    """
    return verdict(examples, longest, epochs, seed)


def broken() -> Verdict:
    """σ²/B for both."""
    return verdict(10, 3, 500, 0, finite=False)


def near() -> Near:
    """Another variance or power of B, and a population counted with N for N - 1."""
    return {
        **ten_percent("σ²", lambda factor: verdict(10, 3, 500, 0, scale=factor)),
        **ten_percent("B's power", lambda factor: verdict(10, 3, 500, 0, power=factor)),
        "(N - B)/N": lambda: verdict(10, 3, 500, 0, less=0),
    }


def verdict(
    N: int,
    longest: int,
    epochs: int,
    seed: int,
    scale: float = 1.0,
    power: float = 1.0,
    less: int = 1,
    finite: bool = True,
) -> Verdict:
    """Mean squared distances from the full gradient by B."""
    if not 4 <= N <= 14 or longest > 5 or epochs < 100:
        raise InputError(
            "`examples` must be from 4 to 14 and `longest` at most 5, so that all batches can be "
            "listed, and `epochs` at least 100 for a standard error; "
            f"got {N}, {longest} and {epochs}"
        )
    G = problem(N // 2, N - N // 2, seed).each()
    G = G - G.mean(0)
    variance = G.square().sum(1).mean().item()

    def formula(way: str, B: float | int) -> float:
        factor = (N - B) / (N - less) if way == "without" and finite else 1.0
        return scale * factor / B**power

    every = {
        "with replacement": [list(product(range(N), repeat=B)) for B in range(1, longest + 1)],
        "without": [list(combinations(range(N), B)) for B in range(1, N)],
    }
    exact = {
        way: [squares(G, torch.tensor(rows)).mean().item() / variance for rows in batches]
        for way, batches in every.items()
    }
    off = max(
        abs(found / formula(way, B) - 1)
        for way, values in exact.items()
        for B, found in enumerate(values, 1)
    )
    drawn = {way: sampled(G, way, epochs, seed) / variance for way in WAYS}
    errors = max(
        (abs(x.mean() - formula(way, B)) * epochs**0.5 / x.std()).item()
        for way, columns in drawn.items()
        for B, x in enumerate(columns, 1)
    )
    limit = float(t.isf(LEVEL / 2 / (2 * N - 2), epochs - 1))
    sizes = [float(B) for B in range(1, N)]
    fine = [1 + step * (N - 1.05) / 100 for step in range(101)]
    return Verdict(
        quantity="largest relative |variance over all batches - formula|",
        measured=off,
        relation="≤",
        bound=BOUND,
        conditions={"the training loop's batches agree": errors <= limit},
        picture=Picture(
            title="The noise of a mini-batch falls like 1/B, and without replacement to 0",
            x_label=f"batch size B, of N = {N}",
            y_label="variance of the gradient, in units of σ²",
            curves={way: (fine, [formula(way, B) for B in fine]) for way in WAYS},
            points={
                "with replacement, all": (sizes[:longest], exact["with replacement"]),
                "without, all": (sizes, exact["without"]),
                **{
                    f"{way}, {epochs} of the training loop": (sizes, x.mean(1).tolist())
                    for way, x in drawn.items()
                },
            },
            marks={"B = N": float(N)},
            log="xy",
        ),
        details={"training loop, standard errors": errors, "allowed": limit},
    )


def squares(G: Tensor, rows: Tensor) -> Tensor:
    """‖g_B - ∇R̂‖² of every batch."""
    return G[rows].mean(1).square().sum(1)


def sampled(G: Tensor, way: str, epochs: int, seed: int) -> Tensor:
    """‖g_B - ∇R̂‖² of the first B of each epoch's order, for B = 1 … N - 1."""
    orders = torch.stack([WAYS[way](len(G), seed, epoch) for epoch in range(epochs)])
    return torch.stack([squares(G, orders[:, :B]) for B in range(1, len(G))])
