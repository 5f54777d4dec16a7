"""Claim: the network without masks is the geometric mean of all its subnetworks (J 8.4).

    softmax(f(x)) ∝ Π_m softmax(f(x; m))^{p(m)},       f(x; m) = W (m ⊙ h / p) + b,   p = 1 - rate

This is exact if only a softmax follows the dropped layer; scaling the weights by π (J) and dividing
by p in training (here) are the same rule. J's ensemble is the arithmetic mean, of which the rule
misses the second-order term (`drop-connect-ensemble` measures it).
Measured: all 2ᵈ subnetworks of d hidden units; the largest difference of a log-probability.
Bound: 1e-12, the rounding of 2ᵈ terms.
Hinton et al. (2012), Baldi and Sadowski (2013).
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from chainrule.errors import InputError
from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.lab.helpers.masks import MOST, every_mask, given, probabilities
from chainrule.models.feedforward.mlp import MLP

BOUND = 1e-12


def check(units: int = 10, inputs: int = 40, rate: float = 0.5, seed: int = 0) -> Verdict:
    """One hidden layer, dropped before the softmax.

    Args:
        units: Hidden units d; all 2ᵈ masks are formed.
        inputs: Random inputs.
        rate: Dropout rate.
    """
    if units > MOST:
        raise InputError(
            f"`units` must be at most {MOST} because all masks are formed, got {units}"
        )
    return verdict([units], inputs, rate, seed)


def broken() -> Verdict:
    """Two hidden layers: a ReLU follows the first masks."""
    return verdict([4, 4], 10, 0.5, 0)


def near() -> Near:
    """Masks weighted with another probability to be kept, or the arithmetic mean."""
    return {
        **ten_percent("p", lambda factor: verdict([8], 10, 0.5, 0, keep=0.5 * factor)),
        "as printed: the arithmetic mean": lambda: verdict([8], 10, 0.5, 0, printed=True),
    }


def verdict(
    hidden: Sequence[int],
    inputs: int,
    rate: float,
    seed: int,
    keep: float | None = None,
    printed: bool = False,
) -> Verdict:
    """Means over all subnetworks, compared with the whole network."""
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        model = MLP(5, hidden, 3, dropout=rate).double()
        x = 2 * torch.randn(inputs, 5, dtype=torch.float64)
    masks = every_mask(sum(hidden))
    weights = probabilities(masks, 1 - rate if keep is None else keep)[:, None]
    each = [opinions(model, x_i, masks) for x_i in x]
    geometric = torch.stack([(weights * log_p).sum(0) for log_p in each]).log_softmax(1)
    arithmetic = torch.stack([(weights * log_p.exp()).sum(0) for log_p in each])
    with torch.no_grad():
        whole = model.eval()(x).log_softmax(1)
    mean = arithmetic.log() if printed else geometric
    worst = (mean - whole).abs().max().item()
    across = whole.exp()[:, 0].tolist()
    return Verdict(
        quantity="largest |log geometric mean - log softmax(f)|",
        measured=worst,
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title=f"One network stands for {len(masks):,} subnetworks",
            x_label="probability of a class by the network without masks",
            y_label="mean over all subnetworks",
            curves={"equal": ([0.0, 1.0], [0.0, 1.0])},
            points={
                "geometric mean": (across, geometric.exp()[:, 0].tolist()),
                "arithmetic mean": (across, arithmetic[:, 0].tolist()),
            },
        ),
        details={"arithmetic mean": (arithmetic - whole.exp()).abs().max().item()},
    )


@torch.no_grad()
def opinions(model: MLP, x: Tensor, masks: Tensor) -> Tensor:
    """(2ᵈ, classes): log softmax of every subnetwork."""
    with given(masks):
        return model.train()(x.expand(len(masks), -1)).log_softmax(1)
