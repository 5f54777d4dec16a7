"""Claim: a ReLU layer multiplies the variance by ½ n σ², which is 1 for Kaiming weights (J 8.1).

    Var x = γ²   ⇒   Var z_1 = n σ² γ²,    Var z_{l+1} = ½ n σ² Var z_l,        z_l = W_l h_{l-1}

for n inputs and independent weights of variance σ²: 2/n (Kaiming), 1/n (LeCun), 2/(n + m) (Xavier).
Measured: Var z_l over random networks of nine initializations; the largest distance from the
prediction, in standard errors.
Bound: 8, which these skewed means exceed for one seed in 10⁶.
J calls γ the standard deviation of x and finds Var z = γ, for which γ must be the variance. LeCun
et al. (1998), Glorot and Bengio (2010), He et al. (2015).
"""

from functools import partial
from itertools import pairwise

import torch
from torch import Tensor

from chainrule.errors import InputError
from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.lab.helpers.signals import (
    ERRORS,
    WIDTHS,
    by_layer,
    distance,
    mean_squares,
    predictions,
)
from chainrule.models.feedforward.mlp import MLP


def check(networks: int = 30, std: float = 3.0, seed: int = 0) -> Verdict:
    """Inputs of standard deviation γ.

    Args:
        networks: Random networks of each initialization.
        std: Standard deviation γ of the inputs.
    """
    if std <= 0:
        raise InputError(f"`std` must be above 0, got {std}")
    return verdict(networks, std, seed, variance=std**2)


def broken() -> Verdict:
    """γ, as printed, for the variance of inputs with standard deviation γ."""
    return verdict(20, 3.0, 0, variance=3.0)


def near() -> Near:
    """Another variance of the inputs."""
    return {
        f"γ² × {factor}": partial(verdict, 30, 3.0, 0, variance=9 * factor)
        for factor in (0.8, 0.9, 1.1, 1.2)
    }


def verdict(networks: int, deviation: float, seed: int, variance: float) -> Verdict:
    """Variances by layer, for all initializations."""

    def signals(model: MLP) -> list[Tensor]:
        x = deviation * torch.randn(1, WIDTHS[0]).sign()
        return [x, *pre_activations(model, x)]

    measured = mean_squares(signals, networks, seed)
    predicted = predictions(list(pairwise(WIDTHS)), lambda n, m: n, variance)
    worst = distance(measured, predicted, networks)
    return Verdict(
        quantity="largest |Var z - predicted|, standard errors",
        measured=worst,
        relation="≤",
        bound=ERRORS,
        picture=Picture(
            title="Forward, Kaiming weights keep the variance of a ReLU network constant",
            x_label="layers passed",
            y_label="variance of z, mean over networks",
            curves=by_layer(predicted),
            points=by_layer(measured),
            log="y",
        ),
        details={"networks of each kind": float(networks)},
    )


@torch.no_grad()
def pre_activations(model: MLP, x: Tensor) -> list[Tensor]:
    """z_1, …, z_L."""
    found = []
    for layer in model.layers:
        found.append(layer(x))
        x = model.activation(found[-1])
    return found
