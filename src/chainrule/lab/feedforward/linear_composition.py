"""Claim: linear layers are closed under composition, so depth adds nothing to them (J 2.3).

    f(x) = W_L(… W_2(W_1 x + b_1) + b_2 …) + b_L  =  W x + b
    W = W_L ⋯ W_1,   b = Σ_l W_L ⋯ W_{l+1} b_l,   rank W = min of all widths

Measured: over deep networks with the identity as activation, the largest difference between their
outputs and those of the single layer, relative to the largest output.
Bound: 1e-12, a few hundred roundings. The rank must be that of the narrowest layer, which random
weights reach with probability 1: depth can only take maps away.
"""

from functools import partial

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.models.feedforward.linear_regression import LinearRegression
from chainrule.models.feedforward.mlp import MLP
from chainrule.nn.activations import Activation, identity

ROUNDING = 1e-12
WIDTHS = ((), (7,), (12, 4), (9, 3, 9), (12, 6, 10, 8, 12))
INPUTS, OUTPUTS = 8, 6


def check(examples: int = 200, seed: int = 0) -> Verdict:
    """The identity between the layers.

    Args:
        examples: Random inputs.
    """
    return verdict(examples, seed)


def broken() -> Verdict:
    """ReLUs between the layers."""
    return verdict(200, 0, torch.relu)


def near() -> Near:
    """An activation that is almost linear, the biases or the last layer off by 10 %."""
    return {
        "slope 0.99 for negative z": partial(
            verdict, 200, 0, lambda z: torch.where(z > 0, z, 0.99 * z)
        ),
        **ten_percent("b", lambda factor: verdict(200, 0, bias=factor)),
    }


@torch.no_grad()
def verdict(examples: int, seed: int, phi: Activation = identity, bias: float = 1.0) -> Verdict:
    """Deep networks against the layer that they are; `bias` times its b."""
    wrong, ranks, shown = [], True, (torch.zeros(0), torch.zeros(0))
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        x = torch.randn(examples, INPUTS, dtype=torch.float64)
        for hidden in WIDTHS:
            network = MLP(INPUTS, list(hidden), OUTPUTS, "identity").double()
            network.activation = phi
            for layer in network.layers:
                layer.bias.normal_()  # type: ignore[operator]
            single = composed(network, bias)
            f, g = network(x), single(x)
            wrong.append(((f - g).abs().max() / f.abs().max()).item())
            rank = int(torch.linalg.matrix_rank(single.weight))
            ranks &= rank == min(INPUTS, *hidden, OUTPUTS)
            shown = (f[:40, 0], g[:40, 0])
    return Verdict(
        quantity="largest relative |deep network - one layer|",
        measured=max(wrong),
        relation="≤",
        bound=ROUNDING,
        conditions={"rank W is the narrowest width": ranks},
        picture=Picture(
            title=f"{len(WIDTHS[-1]) + 1} linear layers are one",
            x_label="output of the single layer W x + b",
            y_label="output of the deep network",
            curves={"equal": ([shown[1].min().item(), shown[1].max().item()],) * 2},
            points={"random inputs": (shown[1].tolist(), shown[0].tolist())},
        ),
        details={"networks": float(len(WIDTHS))},
    )


def composed(network: MLP, bias: float) -> LinearRegression:
    """W = W_L ⋯ W_1 and b = Σ_l W_L ⋯ W_{l+1} b_l as one layer."""
    W, b = torch.eye(INPUTS, dtype=torch.float64), torch.zeros(INPUTS, dtype=torch.float64)
    for layer in network.layers:
        weight: Tensor = layer.weight  # type: ignore[assignment]
        W, b = weight @ W, weight @ b + layer.bias  # type: ignore[operator]
    single = LinearRegression(INPUTS, OUTPUTS).double()
    single.weight.copy_(W)
    single.bias.copy_(bias * b)  # type: ignore[union-attr]
    return single
