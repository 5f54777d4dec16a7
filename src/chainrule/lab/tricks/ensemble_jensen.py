"""Claim: for a convex loss, an ensemble's loss is at most its members' mean loss (L "Tuning").

    p̄ = 1/K Σ_k p_k   ⇒   ℓ(p̄) ≤ 1/K Σ_k ℓ(p_k)         ℓ convex: Jensen's inequality (1906)
    ½ ‖p̄ - e_y‖² over all ensembles of K:   mean = C + (D - C)/K

D is the mean of ½ rᵀr over the members' residuals r = p - e_y, C that of ½ rᵀr' over pairs of them.
Measured: for all ensembles of up to M networks trained on digits: the largest excess of ensemble
over mean member on any test example, for the squared loss and the cross-entropy, and the largest
relative distance of the mean squared loss from C + (D - C)/K.
Bound: 1e-12, about a thousand times the rounding of double precision. The gain must be visible: C
at most 0.97 D.
The error rate is not convex: an ensemble can misclassify an example that most members classify
correctly. Notes: L 10, "Tuning and Model Selection". Hansen and Salamon (1990), Krogh and Vedelsby
(1995).
"""

from collections.abc import Mapping
from itertools import combinations

import torch
from torch import Tensor

from chainrule.data.datasets import digits
from chainrule.errors import InputError
from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.learning.losses import Loss, cross_entropy, squared
from chainrule.models.feedforward.ensemble import log_mean_probability
from chainrule.models.feedforward.mlp import MLP
from chainrule.training import Settings, fit_many, outputs

BOUND = 1e-12
CLASSES = 10


def check(members: int = 7, images: int = 200, seed: int = 0) -> Verdict:
    """Two convex losses.

    Args:
        members: Networks M, 2 to 12; all ensembles are formed.
        images: Training images.
    """
    if not 2 <= members <= 12:
        raise InputError(
            f"`members` must be 2 to 12 because all ensembles are formed, got {members}"
        )
    return verdict(members, images, seed, {"squared": brier, "cross-entropy": cross_entropy})


def broken() -> Verdict:
    """The error rate, which is not convex."""
    return verdict(3, 100, 0, {"squared": brier, "wrong": wrong})


def near() -> Near:
    """Losses that are almost convex, and other gains than (D - C)/K."""

    def root(log_p: Tensor, y: Tensor) -> Tensor:
        return brier(log_p, y) ** 0.45

    squares = {"squared": brier}
    return {
        "‖p - e_y‖^0.9": lambda: verdict(3, 100, 0, {"root": root}),
        **ten_percent("1/K", lambda factor: verdict(3, 100, 0, squares, gain=factor)),
        "the same network K times": lambda: verdict(3, 100, 0, squares, same=True),
    }


def verdict(
    members: int,
    images: int,
    seed: int,
    losses: Mapping[str, Loss],
    gain: float = 1.0,
    same: bool = False,
) -> Verdict:
    """All ensembles of the members, on every test example."""
    log_p, y = opinions(members, images, seed)
    if same:
        log_p = log_p[:1].expand_as(log_p)
    excess, means = -float("inf"), []
    for K in range(1, members + 1):
        chosen = [list(k) for k in combinations(range(members), K)]
        together = [log_mean_probability(log_p[k]) for k in chosen]
        for loss in losses.values():
            alone = torch.stack([loss(f, y).double() for f in log_p])
            for k, f in zip(chosen, together, strict=True):
                excess = max(excess, (loss(f, y) - alone[k].mean(0)).max().item())
        means.append(torch.stack([brier(f, y) for f in together]).mean().item())
    C, D = products(log_p, y)
    predicted = [D] + [C + gain * (D - C) / K for K in range(2, members + 1)]
    off = max(abs(found / formula - 1) for found, formula in zip(means, predicted, strict=True))
    sizes = [float(K) for K in range(1, members + 1)]
    fine = [1 + step / 60 * (members - 1) for step in range(61)]
    return Verdict(
        quantity="largest excess over the mean member, error of C + (D - C)/K",
        measured=max(excess, off),
        relation="≤",
        bound=BOUND,
        conditions={"the members differ: C ≤ 0.97 D": C <= 0.97 * D},
        picture=Picture(
            title="Every ensemble beats the mean of its members",
            x_label="members K",
            y_label="squared loss on the test digits",
            curves={"C + (D - C)/K": (fine, [C + (D - C) / K for K in fine])},
            points={"mean over all ensembles": (sizes, means)},
            bounds={"mean member D": ([1.0, sizes[-1]], [D, D])},
        ),
        details={"ensembles": 2.0**members - 1, "C / D": C / D},
    )


def opinions(members: int, images: int, seed: int) -> tuple[Tensor, Tensor]:
    """(members, test digits, classes): log-probabilities of trained networks; and the labels."""
    data = digits.load(seed=seed)
    x, y = data.train
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        models = [MLP(64, [16], CLASSES) for _ in range(members)]
    each = [
        Settings(seed=seed + k, epochs=15, batch_size=50, learning_rate=1e-2, threads=1)
        for k in range(members)
    ]
    fit_many(models, (x[:images], y[:images]), None, each)
    found = torch.stack([outputs(model, (data.test.x,)) for model in models])
    return found.double().log_softmax(-1), data.test.y


def products(log_p: Tensor, y: Tensor) -> tuple[float, float]:
    """C and D: mean of ½ rᵀr' over pairs of different members, and over the members."""
    residuals = (log_p.exp() - one_hot(y)).flatten(1)
    gram = 0.5 * residuals @ residuals.T / len(y)
    D, number = gram.diag().mean().item(), len(gram)
    return ((gram.sum().item() - number * D) / (number * (number - 1))), D


def one_hot(y: Tensor) -> Tensor:
    return torch.eye(CLASSES, dtype=torch.float64)[y]


def brier(log_p: Tensor, y: Tensor) -> Tensor:
    """½ ‖p - e_y‖²."""
    return squared(log_p.exp(), one_hot(y))


def wrong(log_p: Tensor, y: Tensor) -> Tensor:
    """1 where the most probable class is not y."""
    return (log_p.argmax(1) != y).double()
