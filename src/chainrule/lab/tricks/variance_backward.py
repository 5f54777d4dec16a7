"""Claim: a ReLU layer multiplies squared gradients by ½ m σ²: m outputs, not n inputs (J 8.1).

    δ_l = ∂ℓ/∂h_l   ⇒   E δ_{L-1}² = m σ² E δ_L²,    E δ_{l-1}² = ½ m σ² E δ_l²

for m outputs and independent weights of variance σ². Where widths alternate, Xavier's 2/(n + m) is
a compromise between n and m.
Measured: E δ_l² by autograd over random networks of nine initializations, 32 inputs each; the
largest distance of a mean over the networks from the prediction, in standard errors. 10 % are more
than 20 of them.
Bound: Student's quantile that all layers and initializations together exceed for one seed in 10⁶.
Glorot and Bengio (2010), He et al. (2015).
"""

from collections.abc import Callable
from itertools import pairwise

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.lab.helpers.signals import (
    INPUTS,
    WIDTHS,
    by_layer,
    distance,
    mean_squares,
    predictions,
)
from chainrule.models.feedforward.mlp import MLP


def check(networks: int = 40, seed: int = 0) -> Verdict:
    """The number of outputs m.

    Args:
        networks: Random networks of each initialization, at least 10.
    """
    return verdict(networks, seed, lambda n, m: m)


def broken() -> Verdict:
    """The factor of the forward pass, the number of inputs n."""
    return verdict(20, 0, lambda n, m: n)


def near() -> Near:
    """Factors that are off in every layer."""
    return ten_percent("½ m σ²", lambda factor: verdict(30, 0, lambda n, m: factor * m))


def verdict(networks: int, seed: int, count: Callable[[int, int], float]) -> Verdict:
    """Mean squares by layer, from the output down, for all initializations."""
    measured = mean_squares(gradients, networks, seed)
    predicted = predictions(list(pairwise(WIDTHS))[::-1], count, start=1.0)
    worst, bound = distance(measured, predicted)
    return Verdict(
        quantity="largest |E δ² - predicted|, standard errors",
        measured=worst,
        relation="≤",
        bound=bound,
        picture=Picture(
            title="Backward, gradients grow or vanish with the variance of the weights",
            x_label="layers passed, from the output",
            y_label="mean square of ∂ℓ/∂h",
            curves=by_layer(predicted),
            points=by_layer({name: v.mean(0) for name, v in measured.items()}),
            log="y",
        ),
        details={"networks of each kind": float(networks)},
    )


def gradients(model: MLP) -> list[Tensor]:
    """δ_L, δ_{L-1}, …, δ_0 for a random sign at every output."""
    h = [torch.randn(INPUTS, WIDTHS[0], requires_grad=True)]
    *hidden, last = model.layers
    for layer in hidden:
        h.append(model.activation(layer(h[-1])))
    direction = torch.randn(INPUTS, WIDTHS[-1]).sign()
    return [direction, *torch.autograd.grad(last(h[-1]), h[::-1], direction)]
