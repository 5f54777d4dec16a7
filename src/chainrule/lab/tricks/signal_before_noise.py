"""Claim: a network fits the true labels before the wrong ones, so stopping early helps (J 8.3).

    P(label ≠ class) = 0.4:    at first f fits the right labels, later the wrong ones too, and the
                               test error rises

Measured: networks 64-256-10 on 600 digits, 40 % of their labels exchanged at random; after each
epoch the share of right and of wrong labels that is fitted, and the test error. The final test
error minus the smallest, in standard errors over the networks.
Bound: Student's quantile that a test error without trend exceeds once in 10⁴ times, plus 2 for the
choice of the best epoch. At the best epoch fewer than a fifth of the wrong labels, more than half
of the right ones must be fitted; in the end more than half of the wrong ones.
Zhang et al. (2017), Arpit et al. (2017).
"""

import torch
from scipy.stats import t
from torch import Tensor

from chainrule.data.datasets import digits
from chainrule.errors import InputError
from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.models.feedforward.mlp import MLP
from chainrule.training import Settings, fit_many

LEVEL = 1e-4
IMAGES, CLASSES = 600, 10


def check(networks: int = 10, epochs: int = 50, seed: int = 0) -> Verdict:
    """40 % of the labels are wrong.

    Args:
        networks: Networks, at least 2.
        epochs: Epochs of training, at least 10.
    """
    if networks < 2 or epochs < 10:
        raise InputError(
            f"`networks` must be at least 2 and `epochs` at least 10, got {networks} and {epochs}"
        )
    return verdict(networks, epochs, seed, rate=0.4)


def broken() -> Verdict:
    """90 % of the labels are wrong, as if drawn at random: there is no signal."""
    return verdict(3, 30, 0, rate=0.9)


def near() -> Near:
    """Right labels only, and training that stops before the noise is learned."""
    return {
        "no wrong labels but 1 %": lambda: verdict(3, 30, 0, rate=0.01),
        "ten epochs": lambda: verdict(3, 10, 0, rate=0.4),
    }


def verdict(networks: int, epochs: int, seed: int, rate: float) -> Verdict:
    """Fitted labels and test errors by epoch."""
    data = digits.load(seed=seed)
    x, y = data.train.x[:IMAGES], data.train.y[:IMAGES]
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        wrong = torch.rand(IMAGES) < rate
        given = torch.where(wrong, (y + torch.randint(1, CLASSES, (IMAGES,))) % CLASSES, y)
    each = [
        Settings(seed=seed + k, epochs=epochs, batch_size=50, learning_rate=3e-3, threads=1)
        for k in range(networks)
    ]
    right, memorized = (
        100 - errors_by_epoch(networks, seed, (x, given), (x[chosen], given[chosen]), each)
        for chosen in (~wrong, wrong)
    )
    test = errors_by_epoch(networks, seed, (x, given), tuple(data.test), each)
    right, memorized = right.mean(1), memorized.mean(1)
    best = int(test.mean(1).argmin())
    rise = test[-1] - test[best]
    done = [float(epoch) for epoch in range(1, len(test) + 1)]
    return Verdict(
        quantity="rise of the test error, standard errors",
        measured=(rise.mean() / rise.std().clamp_min(1e-9) * networks**0.5).item(),
        relation="≥",
        bound=float(t.isf(LEVEL, networks - 1)) + 2,
        conditions={
            "right labels come first": right[best].item() > 50 and memorized[best].item() < 20,
            "wrong labels are memorized": memorized[-1].item() > 50,
        },
        picture=Picture(
            title="The signal is learned first, then the noise, and the test error rises",
            x_label="epochs",
            y_label="labels fitted, and test error (%)",
            curves={
                "right labels fitted": (done, right.tolist()),
                "wrong labels fitted": (done, memorized.tolist()),
                "test error": (done, test.mean(1).tolist()),
            },
            marks={"best epoch": done[best]},
        ),
        details={
            "best test error, %": test[best].mean().item(),
            "final test error, %": test[-1].mean().item(),
            "wrong labels fitted at the best epoch, %": memorized[best].item(),
        },
    )


def errors_by_epoch(
    networks: int,
    seed: int,
    train: tuple[Tensor, ...],
    seen: tuple[Tensor, ...],
    each: list[Settings],
) -> Tensor:
    """(epochs, networks): the percentage of these labels that is not fitted."""
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        models = [MLP(64, [256], CLASSES) for _ in range(networks)]
    found = fit_many(models, train, seen, each)
    return 100 * torch.tensor([[r["validation_error"] for r in h] for h in found]).double().T
