"""Claim: random networks become a Gaussian process as their width grows (A 5).

    E f(x) f(x') → K(x, x'),    excess kurtosis of f(x) = 3 ((1 + 5/n)ᴸ - 1) ~ 15 L/n     for ReLU

for L hidden layers of n units, weights of variance σ_w²/n and the kernel K of `infinite-network`.
Measured: covariances of the outputs of random networks with two hidden layers of relu, step or erf
units, for five inputs and five widths, extrapolated to n = ∞ linearly in 1/n; the largest distance
from K, in standard errors over the networks. 10 % of σ_w² are more than 15 of them.
Bound: the normal quantile that all covariances together exceed for one seed in 10⁶. The excess
kurtosis of ReLU networks, by the variance q of the outputs of a network 3 E q² / (E q)² - 3, must
also be within 20 % of the law on average over the widths, where sampling is 3.3 %, and fall more
like 1/n than like 1/√n: its slope against n in logarithms is below -0.7, 4.5 of its deviations.
Given the layers before the last, f is exactly Gaussian, of variance q; for ReLU one layer
multiplies q by a mean of n independent factors of mean 1 and variance 5. Neal (1996), Lee et al.
(2018).
"""

from typing import NamedTuple

import numpy as np
import torch
from scipy.stats import norm
from torch import Tensor

from chainrule.errors import InputError
from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.models.feedforward.mlp import MLP
from chainrule.models.theory.infinite_network import kernel

LEVEL = 1e-6
DEPTH, INPUTS, OUTPUTS = 2, 6, 32
WIDTHS = (16, 24, 40, 80, 160)
VARIANCES = {"relu": 2.0, "step": 2.0, "erf": 1.0}  # σ_w² of the initial weights


class Moments(NamedTuple):
    """Over networks of one activation: means and variances of means, by width."""

    covariance: Tensor  # (widths, pairs)
    variance: Tensor
    excess: Tensor  # (widths,): excess kurtosis for the first input


def check(networks: int = 400, seed: int = 0) -> Verdict:
    """Weights as drawn by the library.

    Args:
        networks: Random networks of each width and activation, at least 50.
    """
    if networks < 50:
        raise InputError(f"`networks` must be at least 50 for a standard error, got {networks}")
    return verdict(networks, seed)


def broken() -> Verdict:
    """The kernel of one hidden layer, for networks of two."""
    return verdict(100, 0, depth=1)


def near() -> Near:
    """Another variance of the weights."""
    return ten_percent("σ_w²", lambda factor: verdict(100, 0, factor=factor))


def verdict(networks: int, seed: int, factor: float = 1.0, depth: int = DEPTH) -> Verdict:
    """Covariances extrapolated to infinite width, and fourth moments by width."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(5, INPUTS, generator=generator)
    rows, columns = torch.triu_indices(5, 5)
    distances, excess = {}, torch.empty(0)
    for name, variance in VARIANCES.items():
        K = kernel(x, x, depth, name, factor * variance)
        found = moments(name, x, networks, seed)
        distances[name] = extrapolated(found, K[rows, columns])
        excess = found.excess if name == "relu" else excess
    widths = torch.tensor(WIDTHS).double()
    predicted = 3 * ((1 + 5 / widths) ** depth - 1)
    ratio = (excess / predicted).mean().item()
    slope = float(np.polyfit(widths.log(), excess.log(), 1)[0])
    every = torch.cat(list(distances.values())).abs()
    axis = widths.tolist()
    return Verdict(
        quantity="largest |covariance - K|, standard errors",
        measured=every.max().item(),
        relation="≤",
        bound=float(norm.isf(LEVEL / (2 * len(every)))),
        conditions={
            "excess kurtosis within 20 %": abs(ratio - 1) <= 0.2,
            "it falls like 1/n": slope < -0.7,
        },
        picture=Picture(
            title="The wider a random ReLU network, the more Gaussian its output",
            x_label="width n of two hidden layers",
            y_label="excess kurtosis of the output",
            curves={"3 (1 + 5/n)² - 3": (axis, predicted.tolist())},
            points={"random networks": (axis, excess.tolist())},
            bounds={"30/n": (axis, [15 * DEPTH / n for n in axis])},
            log="xy",
        ),
        details={f"{name}, largest distance": d.abs().max().item() for name, d in distances.items()}
        | {"excess kurtosis / predicted": ratio, "slope of the excess kurtosis": slope},
    )


def extrapolated(found: Moments, K: Tensor) -> Tensor:
    """Distances of the limits of a weighted line in 1/n from K, in standard errors."""
    design = torch.stack([torch.ones(len(WIDTHS)), 1 / torch.tensor(WIDTHS)], 1).double()
    distances = []
    for mean, variance, limit in zip(found.covariance.T, found.variance.T, K, strict=True):
        weighted = design.T / variance
        spread = torch.linalg.inv(weighted @ design)
        distances.append(((spread @ weighted @ mean)[0] - limit) / spread[0, 0].sqrt())
    return torch.stack(distances)


def moments(name: str, x: Tensor, networks: int, seed: int) -> Moments:
    """Means over networks, and the variance of each mean."""
    rows, columns = torch.triu_indices(len(x), len(x))
    found = []
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        for n in WIDTHS:
            f = torch.stack([outputs(name, n, x) for _ in range(networks)]).double()
            covariances = (f @ f.mT / OUTPUTS)[:, rows, columns]
            mean, variance = covariances.mean(0), covariances.var(0) / networks
            found.append((mean, variance, excess_kurtosis(f[:, 0])))
    return Moments(*map(torch.stack, zip(*found, strict=True)))


def excess_kurtosis(f: Tensor) -> Tensor:
    """3 E q² / (E q)² - 3 of (networks, outputs).

    Distinct outputs of a network are independent given q, so E f_j² f_k² = E q² for j ≠ k.
    """
    squares = f.square()
    q2 = (squares.sum(1) ** 2 - squares.square().sum(1)) / (OUTPUTS * (OUTPUTS - 1))
    return 3 * (q2.mean() / squares.mean() ** 2 - 1)


@torch.no_grad()
def outputs(name: str, width: int, x: Tensor) -> Tensor:
    """(inputs, outputs) of a random network."""
    scheme = "lecun" if name == "erf" else "kaiming"
    built = "step" if name == "step" else "relu"
    network = MLP(INPUTS, [width] * DEPTH, OUTPUTS, built, initialization=scheme)
    if name == "erf":
        network.activation = torch.erf
    return network(x)
