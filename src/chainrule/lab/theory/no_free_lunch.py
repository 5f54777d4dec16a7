"""Claim: averaged over all functions, every learner errs on half of the unseen points (A 5).

    Σ_f err(A(f on S), f outside S) / 2^|X| = ½      any learner A, training set S ⊂ X = {0, 1}³

Measured: for the perceptron, the nearest neighbor, the majority and the minority of the labels, and
training sets of 3 to 6 of the 8 inputs, the mean error on the other inputs over all 256 labelings;
its largest distance from ½.
Bound: exactly 0. Given the labels of S, all labelings of the rest occur once; means of these whole
numbers are not rounded visibly, so 1e-12 is allowed.
Wolpert (1996), Neural Computation 8. Notes: A 1.3.12, A 5.
"""

from collections.abc import Callable
from functools import partial
from itertools import combinations, product

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.models.connectionism.perceptron import perceptron_algorithm

ROUNDING = 1e-12
X = torch.tensor(list(product([-1.0, 1.0], repeat=3)), dtype=torch.float64)
EVERY = torch.tensor(list(product([-1.0, 1.0], repeat=len(X))), dtype=torch.float64)
Learner = Callable[[Tensor, Tensor, Tensor], Tensor]  # x, y, other x ↦ ±1


def check(sets: int = 6, seed: int = 0) -> Verdict:
    """All labelings, each counted once.

    Args:
        sets: Training sets of each size.
    """
    return verdict(sets, seed, torch.ones(len(EVERY)))


def broken() -> Verdict:
    """Only labelings that change with one input at most: the world is simple."""
    simple = torch.tensor([any(abs(f @ X[:, i]) == 8 for i in range(3)) for f in EVERY])
    return verdict(2, 0, simple.double())


def near() -> Near:
    """Labelings that are not all equally likely, or errors that count seen points."""
    agree = (EVERY @ X[:, 0]).div(8)  # correlation with the first input
    return {
        "smooth labelings 10 % more often": lambda: verdict(2, 0, 1 + 0.1 * agree.abs()),
        "linear labelings 10 % more often": lambda: verdict(2, 0, 1 + 0.1 * agree),
        "seen points counted": lambda: verdict(2, 0, torch.ones(len(EVERY)), seen=True),
    }


def verdict(sets: int, seed: int, weights: Tensor, seen: bool = False) -> Verdict:
    """Mean errors outside the training set, weighted by how often a labeling occurs."""
    generator = torch.Generator().manual_seed(seed)
    means: dict[str, list[float]] = {name: [] for name in LEARNERS}
    sizes = range(3, 7)
    worst = 0.0
    for size in sizes:
        every = torch.tensor(list(combinations(range(len(X)), size)))
        chosen = every[torch.randperm(len(every), generator=generator)[:sets]]
        for name, learner in LEARNERS.items():
            found = [mean_error(learner, S, weights, seen) for S in chosen]
            means[name].append(sum(found) / len(found))
            worst = max(worst, *(abs(error - 0.5) for error in found))
    axis = [float(size) for size in sizes]
    return Verdict(
        quantity="largest |mean error on unseen points - ½|",
        measured=worst,
        relation="≤",
        bound=ROUNDING,
        picture=Picture(
            title="Over all labelings of eight points, no learner beats a coin",
            x_label="training examples of 8 inputs",
            y_label="mean error on the other inputs",
            points={name: (axis, values) for name, values in means.items()},
            bounds={"½": ([3.0, 6.0], [0.5, 0.5])},
        ),
        details={"labelings": float(len(EVERY)), "training sets": float(sets * len(sizes))},
    )


def mean_error(learner: Learner, S: Tensor, weights: Tensor, seen: bool) -> float:
    """The error outside S over all labelings; equal labels of S give equal answers."""
    rest = torch.arange(len(X)) if seen else torch.tensor([i for i in range(len(X)) if i not in S])
    labels, group = EVERY[:, S].unique(dim=0, return_inverse=True)
    answers = torch.stack([learner(X[S], y, X[rest]) for y in labels])
    wrong = (answers[group] != EVERY[:, rest]).double().mean(1)
    return float((weights.double() * wrong).sum() / weights.double().sum())


def perceptron(x: Tensor, y: Tensor, other: Tensor) -> Tensor:
    """Ten passes of algorithm 1."""
    found = perceptron_algorithm(x, y, passes=10, patience=None)
    return torch.where(other @ found.w + found.b > 0, 1.0, -1.0).double()


def nearest(x: Tensor, y: Tensor, other: Tensor) -> Tensor:
    """The label of the nearest example, the first of equally near ones."""
    return y[torch.cdist(other, x).round(decimals=6).argmin(1)]


def majority(x: Tensor, y: Tensor, other: Tensor, sign: float = 1.0) -> Tensor:
    """The more frequent label everywhere."""
    return torch.full((len(other),), sign if y.sum() >= 0 else -sign, dtype=torch.float64)


LEARNERS: dict[str, Learner] = {
    "perceptron": perceptron,
    "nearest neighbor": nearest,
    "majority": majority,
    "minority": partial(majority, sign=-1.0),
}
