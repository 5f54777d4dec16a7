"""Claim: no line separates XOR; a hidden layer of two ReLU units does (L exercise 10.1, J 1.2).

    a₁ = (x₁ + x₂ - 1.5)₊,   a₂ = (0.5 - x₁ - x₂)₊,   f = 1 - 4 a₁ - 4 a₂

Measured: the largest |f(x) - y| over the four points, y = -1 where the inputs are equal, else +1.
Bound: exactly 0; multiples of a half are not rounded. A linear program must also find no line for
XOR, a line for the points (a₁, a₂), and lines for exactly 14 of the 16 labelings, as Cover's count
2 Σ_{i<3} C(3, i) predicts.
"""

from itertools import product

import torch

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.models.connectionism.perceptron import separating_hyperplane
from chainrule.models.feedforward.mlp import MLP, xor_network


@torch.random.fork_rng()
def check() -> Verdict:
    """The network of the exercise."""
    return verdict(xor_network())


def broken() -> Verdict:
    """The same hidden units with one output weight of the wrong sign."""
    return weakened(-1.0)


def near() -> Near:
    """One output weight slightly too small or too large; signs alone would not show it."""
    return ten_percent("one output weight", weakened)


@torch.random.fork_rng()
def weakened(factor: float) -> Verdict:
    """The same network with its first output weight multiplied."""
    network = xor_network()
    with torch.no_grad():
        network.layers[1].weight[0, 0] *= factor  # type: ignore[index, operator]
    return verdict(network)


def verdict(network: MLP) -> Verdict:
    """The outputs against the labels; look for lines before and after the hidden layer."""
    x = torch.tensor(list(product([0.0, 1.0], repeat=2)))
    y = torch.tensor([-1.0, 1.0, 1.0, -1.0])
    with torch.no_grad():
        hidden = network.layers[0](x).relu()
        distance = (network(x)[:, 0] - y).abs().max().item()
    labelings = torch.tensor(list(product([-1.0, 1.0], repeat=4)))
    lines = sum(separating_hyperplane(x, labels) is not None for labels in labelings)
    before, after = (
        separating_hyperplane(x, y) is not None,
        separating_hyperplane(hidden, y) is not None,
    )
    same, different = hidden[y < 0], hidden[y > 0]
    return Verdict(
        quantity="largest |f(x) - y|",
        measured=distance,
        relation="=",
        bound=0.0,
        conditions={
            "14 of 16 labelings are linear": lines == 14,
            "XOR is not linear in x": not before,
            "XOR is linear in the hidden units": after,
        },
        picture=Picture(
            title="XOR in the space of the hidden units",
            x_label="a₁ = (x₁ + x₂ - 1.5)₊",
            y_label="a₂ = (0.5 - x₁ - x₂)₊",
            points={
                "equal": (same[:, 0].tolist(), same[:, 1].tolist()),
                "different": (different[:, 0].tolist(), different[:, 1].tolist()),
            },
            bounds={"1 - 4a₁ - 4a₂ = 0": ([0.0, 0.25], [0.25, 0.0])},
            marks={"(0,1) and (1,0)": (0.0, 0.0), "(0,0)": (0.0, 0.5), "(1,1)": (0.5, 0.0)},
        ),
        details={"linear labelings": float(lines)},
    )
