"""Claim: a mini-batch gradient is unbiased: its mean is the full gradient (L, J 3.4, A 1.3.8).

    g = 1/B Σ_{i ∈ batch} ∇ℓ_i,   all batches of B equally likely     ⇒     E g = 1/N Σ_i ∇ℓ_i

Measured: the training loop's gradient of every batch of B = 1, 2, 3, 5 out of N = 10 examples, each
taken once; the largest difference between their mean and the full gradient, relative to its largest
entry.
Bound: 1e-12, a few hundred terms in double precision.
The picture draws batches at random: the mean of K of them has an error of σ/√K, σ² = E ‖g - E g‖².
Robbins and Monro (1951).
"""

from itertools import combinations

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.lab.helpers.minibatch import Problem, problem

BOUND = 1e-12
SIZES = (1, 2, 3, 5)
DRAWN = 1000
RUNS = 100


def check(seed: int = 0) -> Verdict:
    """Every example has the same weight."""
    return verdict(problem(7, 3, seed), seed)


def broken() -> Verdict:
    """Classes balanced within each batch: an example's weight depends on the rest of its batch."""
    return verdict(problem(7, 3, 0, class_weights="balanced"), 0)


def near() -> Near:
    """One batch of each size missing, or a gradient off by 10 %."""
    return {
        "one batch left out": lambda: verdict(problem(7, 3, 0), 0, left_out=1),
        **ten_percent("∇R̂", lambda factor: verdict(problem(7, 3, 0), 0, scale=factor)),
    }


def verdict(problem: Problem, seed: int, left_out: int = 0, scale: float = 1.0) -> Verdict:
    """All batches of each size; for the picture, random ones of 2."""
    N = problem.examples
    full = scale * problem.gradient(torch.arange(N))
    batches = {
        B: torch.stack(
            [problem.gradient(torch.tensor(rows)) for rows in combinations(range(N), B)]
        )[left_out:]
        for B in SIZES
    }
    largest = full.abs().max()
    biases = [((g.mean(0) - full).abs().max() / largest).item() for g in batches.values()]
    pairs = batches[2]
    sigma = (pairs - full).square().sum(1).mean().sqrt().item()
    numbers = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]
    x, found = list(map(float, numbers)), errors(pairs, full, seed)
    return Verdict(
        quantity="largest relative |mean of all batches - gradient|",
        measured=max(biases),
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="Batch errors average out: their mean converges to the full gradient",
            x_label="batches K of two examples",
            y_label="distance of their mean from the full gradient",
            curves={"σ/√K": (x, [sigma / K**0.5 for K in x])},
            points={"root mean square of 100 runs": (x, [found[K - 1].item() for K in numbers])},
            log="xy",
        ),
        details={f"B = {B}": bias for B, bias in zip(SIZES, biases, strict=True)},
    )


def errors(gradients: Tensor, full: Tensor, seed: int) -> Tensor:
    """After 1 … 1000 random batches, the distance of their mean from the full gradient."""
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randint(len(gradients), (RUNS, DRAWN), generator=generator)
    means = gradients[drawn].cumsum(1) / torch.arange(1, DRAWN + 1)[:, None]
    return (means - full).square().sum(2).mean(0).sqrt()
