"""Claim: gradients vanish or explode with depth in plain networks; a shortcut keeps them (J 2.3).

    Var W_ij = 2/n,   z = W h ~ N(0, 2 ‖h‖²/n),   J the Jacobian of a layer,   g independent of it
    plain,     φ(W h):                   E ‖Jᵀg‖² = 2 E φ'(z)² ‖g‖²
    residual,  h + φ(W h) - φ(0):        E ‖Jᵀg‖² = (1 + 2 E φ'(z)²) ‖g‖²
    W / L, as in `ResidualNetwork`:      E ‖Jᵀg‖² = (1 + 2 E φ'(z)² / L²) ‖g‖²,   z / L for z

So gradients vanish in a plain sigmoid network, by a factor of at least 8 per layer, and neither
vanish nor explode in a plain ReLU network, where 2 E φ'² = 1. A shortcut lets no gradient vanish,
but makes it explode, unless W is divided by L. In a deep network g depends on the layers above:
where φ(z) has a mean, as with ReLUs, g aligns with it and grows faster still.
Measured: for every activation of the library, the three networks and 20 and 56 layers, the mean of
‖Jᵀg‖²/‖g‖² over layers and random networks, relative to its prediction, an integral over z.
Bound: 0.05, six standard errors of the mean over 112 layers. Also, for the gradient from the
output to the input: plain sigmoid ≤ 8⁻ᴸ, with a shortcut ≥ ½, with W / L ≤ e².
He et al. (2016), CVPR; Schoenholz et al. (2017), ICLR, for the integrals.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.models.feedforward.mlp import MLP
from chainrule.models.feedforward.residual_network import ResidualLayer, ResidualNetwork
from chainrule.nn.activations import ACTIVATIONS, Activation, activation
from chainrule.nn.initialization import initialize

BOUND = 0.05
DEPTHS = (20, 56)
KINDS = ("plain", "residual", "residual, W / L")
BATCH = 4
SHOWN = (
    ("sigmoid", "plain"),
    ("relu", "plain"),
    ("relu", "residual"),
    ("relu", "residual, W / L"),
)


class Gradients(NamedTuple):
    """‖Jᵀg‖²/‖g‖² of every layer, predicted and measured, and ‖g_l‖²/‖g_L‖² of every h_l."""

    predicted: Tensor
    measured: Tensor
    descent: Tensor

    def wrong(self, factor: float) -> float:
        """Relative difference of the means over layers; a prediction of 0 must be met exactly."""
        predicted = factor * self.predicted.mean()
        return ((self.measured.mean() - predicted).abs() / predicted.clamp(1e-9)).item()


def check(width: int = 128, layers: int = 112, seed: int = 0) -> Verdict:
    """Every activation.

    Args:
        width: Units n of every layer.
        layers: Layers in all networks of one kind and depth together.
    """
    return verdict(tuple(ACTIVATIONS), DEPTHS, width, layers, seed)


def broken() -> Verdict:
    """The slopes of another activation: predicted for the sigmoid, measured with tanh."""
    return verdict(("tanh",), (20,), 128, 112, 0, predicted_for="sigmoid")


def near() -> Near:
    """Factors off by 10 %, and an activation that is almost another."""
    small = partial(verdict, ("relu", "sigmoid"), (20,), 128, 112, 0)
    return {
        **ten_percent("‖Jᵀg‖² / ‖g‖²", lambda factor: small(factor=factor)),
        "GELU, predicted as a ReLU": partial(
            verdict, ("gelu",), (20,), 128, 112, 0, predicted_for="relu"
        ),
    }


def verdict(
    names: Sequence[str],
    depths: Sequence[int],
    width: int,
    layers: int,
    seed: int,
    factor: float = 1.0,
    predicted_for: str = "",
) -> Verdict:
    """Gradients by layer; `factor` and `predicted_for` change the prediction."""
    found: dict[tuple[str, str, int], Gradients] = {}
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        for name in names:
            for kind in KINDS:
                for depth in depths:
                    networks = math.ceil(layers / depth)
                    phi = activation(predicted_for or name)
                    drawn = [gradients(kind, name, width, depth, phi) for _ in range(networks)]
                    means = (torch.stack(part).mean(0) for part in zip(*drawn, strict=True))
                    found[name, kind, depth] = Gradients(*means)
    wrong = {key: gradient.wrong(factor) for key, gradient in found.items()}
    total = {key: gradient.descent[0].item() for key, gradient in found.items()}
    deepest = {key[:2]: g for key, g in found.items() if key[2] == depths[-1]}
    return Verdict(
        quantity="largest relative |‖Jᵀg‖²/‖g‖² - predicted|",
        measured=max(wrong.values()),
        relation="≤",
        bound=BOUND,
        conditions={
            "plain sigmoid: ≤ 8⁻ᴸ": all(
                t <= 8.0 ** -key[2] for key, t in total.items() if key[:2] == ("sigmoid", "plain")
            ),
            "shortcut: ≥ ½": all(t >= 0.5 for key, t in total.items() if key[1] != "plain"),
            "W / L: ≤ e²": all(t <= math.exp(2) for key, t in total.items() if key[1] == KINDS[2]),
        },
        picture=picture({key: deepest[key] for key in SHOWN if key in deepest} or deepest),
        details={
            f"log₁₀ ‖g₀‖²/‖g_L‖², {name}, {kind}, {depths[-1]} layers": math.log10(
                total[name, kind, depths[-1]]
            )
            for name, kind in SHOWN
            if name in names
        },
    )


def picture(found: dict[tuple[str, str], Gradients]) -> Picture:
    """The gradient on its way down, for a few of the networks."""
    depth = len(next(iter(found.values())).predicted)
    below = [float(k) for k in range(depth + 1)]
    return Picture(
        title="Shortcuts keep the gradient; curves: were g independent of the layer",
        x_label="layers below the output",
        y_label="squared gradient ‖g_l‖² / ‖g_L‖²",
        curves={
            ", ".join(key): (below, [1.0, *g.predicted.flip(0).cumprod(0).tolist()])
            for key, g in found.items()
        },
        points={
            ", ".join(key): (below[::8], g.descent.flip(0).tolist()[::8])
            for key, g in found.items()
        },
        log="y",
    )


def layers_of(kind: str, name: str, width: int, depth: int) -> list[Callable[[Tensor], Tensor]]:
    """The layers of a network of that kind with the library's initial weights; the output last."""
    if kind == "plain":
        mlp = MLP(width, [width] * depth, 1, name).double()
        *below, last = mlp.layers
        return [*(partial(plain_layer, mlp.activation, layer) for layer in below), last]
    if kind == "residual":
        single = [ResidualLayer(width, width, name).double() for _ in range(depth)]
        return [*single, initialize(nn.Linear(width, 1), "lecun").double()]
    network = ResidualNetwork(width, width, depth, 1, name).double()
    return [*network.layers, network.output]


def plain_layer(phi: Activation, layer: nn.Module, h: Tensor) -> Tensor:
    return phi(layer(h))


def gradients(kind: str, name: str, width: int, depth: int, phi: Activation) -> Gradients:
    """One network; the prediction is that of φ, given ‖h‖² of every layer."""
    *layers, last = layers_of(kind, name, width, depth)
    h = [torch.randn(BATCH, width, dtype=torch.float64, requires_grad=True)]
    factors = []
    for layer in layers:
        h.append(layer(h[-1]))
        g = torch.randn_like(h[-1])
        (below,) = torch.autograd.grad(h[-1], h[-2], g, retain_graph=True)
        factors.append((below.square().sum(1) / g.square().sum(1)).mean())
    norms = torch.stack(torch.autograd.grad(last(h[-1]).sum(), h)).square().sum(2)
    size = torch.stack(h[:-1]).detach().square().mean(2)
    scale = depth if kind == KINDS[2] else 1
    slope = mean_slope(phi, (2 * size).sqrt() / scale).mean(1)
    predicted = float(kind != "plain") + 2 * slope / scale**2
    return Gradients(predicted, torch.stack(factors), (norms / norms[-1]).mean(1))


def mean_slope(phi: Activation, deviation: Tensor) -> Tensor:
    """E φ'(z)², z ~ N(0, deviation²), by 200 nodes of Gauss and Hermite."""
    nodes, weights = map(torch.from_numpy, np.polynomial.hermite_e.hermegauss(200))
    z = (deviation[..., None] * nodes).requires_grad_()
    (slope,) = torch.autograd.grad(phi(z).sum(), z)
    return slope.square() @ weights / weights.sum()
