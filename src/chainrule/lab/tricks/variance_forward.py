"""Claim: a ReLU layer multiplies the variance by ½ n σ², which is 1 for Kaiming weights (J 8.1).

    Var x = γ²   ⇒   Var z_1 = n σ² γ²,    Var z_{l+1} = ½ n σ² Var z_l,        z_l = W_l h_{l-1}

for n inputs and independent weights of variance σ²: 2/n (Kaiming), 1/n (LeCun), 2/(n + m) (Xavier).
Measured: Var z_l over random networks of nine initializations, 32 inputs each; the largest distance
of a mean over the networks from the prediction, in standard errors. 10 % are more than 20 of them.
Bound: Student's quantile that all layers and initializations together exceed for one seed in 10⁶.
J calls γ the standard deviation of x and finds Var z = γ, for which γ must be the variance. LeCun
et al. (1998), Glorot and Bengio (2010), He et al. (2015).
"""

from itertools import pairwise

import torch
from torch import Tensor

from chainrule.errors import InputError
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


def check(networks: int = 40, std: float = 3.0, seed: int = 0) -> Verdict:
    """Inputs of standard deviation γ.

    Args:
        networks: Random networks of each initialization, at least 10.
        std: Standard deviation γ of the inputs.
    """
    if std <= 0:
        raise InputError(f"`std` must be above 0, got {std}")
    return verdict(networks, std, seed, variance=std**2)


def broken() -> Verdict:
    """γ, as printed, for the variance of inputs with standard deviation γ."""
    return verdict(20, 3.0, 0, variance=3.0)


def near() -> Near:
    """Another variance of the inputs, or of every layer."""
    return {
        **ten_percent("γ²", lambda factor: verdict(30, 3.0, 0, variance=9 * factor)),
        **ten_percent("½ n σ²", lambda factor: verdict(30, 3.0, 0, variance=9.0, gain=factor)),
    }


def verdict(
    networks: int, deviation: float, seed: int, variance: float, gain: float = 1.0
) -> Verdict:
    """Variances by layer, for all initializations."""

    def signals(model: MLP) -> list[Tensor]:
        x = deviation * torch.randn(INPUTS, WIDTHS[0]).sign()
        return [x, *pre_activations(model, x)]

    measured = mean_squares(signals, networks, seed)
    predicted = predictions(list(pairwise(WIDTHS)), lambda n, m: gain * n, variance)
    worst, bound = distance(measured, predicted)
    return Verdict(
        quantity="largest |Var z - predicted|, standard errors",
        measured=worst,
        relation="≤",
        bound=bound,
        picture=Picture(
            title="Forward, Kaiming weights keep the variance of a ReLU network constant",
            x_label="layers passed",
            y_label="variance of z, mean over networks",
            curves=by_layer(predicted),
            points=by_layer({name: v.mean(0) for name, v in measured.items()}),
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
