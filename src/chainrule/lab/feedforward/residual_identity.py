"""Claim: a residual layer with zero weights is the identity (J 2.3).

    F[W, b](x) = x + φ(Wx + b) - φ(0)      ⇒      F[0, 0] = Id,    ‖F[W, b](x) - x‖ ≤ ‖Wx + b‖

The inequality needs |φ'| ≤ 1. With a projection, F[V, 0, 0](x) = Vx.
Measured: for every activation, the largest |F[0, 0](x) - x| and |F[V, 0, 0](x) - Vx| over random
inputs.
Bound: 1e-14, the rounding of (x + φ(0)) - φ(0). A layer from n to m must also have a bias of m
entries (J 2.2 prints b ∈ ℝⁿ), and the inequality must hold for weights of all sizes.
"""

import torch
import torch.nn.functional as F

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.models.feedforward.residual_network import ResidualLayer
from chainrule.nn.activations import ACTIVATIONS

ROUNDING = 1e-14
SCALES = tuple(10 ** (k / 2) for k in range(-6, 3))
DRAWN = ("relu", "tanh", "sigmoid")


def check(width: int = 20, examples: int = 200, seed: int = 0) -> Verdict:
    """The residual layer.

    Args:
        width: Units of the layer.
        examples: Random inputs.
    """
    return verdict(width, examples, seed, shortcut=1.0)


def broken() -> Verdict:
    """The layer without its shortcut: zero weights lose the input."""
    return verdict(20, 200, 0, shortcut=0.0)


def near() -> Near:
    """A shortcut that scales its input."""
    return ten_percent("the shortcut", lambda factor: verdict(20, 200, 0, shortcut=factor))


@torch.random.fork_rng()
@torch.no_grad()
def verdict(width: int, examples: int, seed: int, shortcut: float) -> Verdict:
    """Zero weights, then growing ones."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(examples, width, generator=generator, dtype=torch.float64)
    W = torch.randn(width, width, generator=generator, dtype=torch.float64) / width**0.5
    b = torch.randn(width, generator=generator, dtype=torch.float64)
    sizes = [(scale * (x @ W.T + b)).norm(dim=1).mean().item() for scale in SCALES]
    worst, moved, within, shapes = 0.0, {}, True, True
    for name in ACTIVATIONS:
        layer, wider = square(width, name), projecting(width, name)
        V = wider.projection.weight  # type: ignore[union-attr]
        shapes &= wider.linear.bias.shape == (width + 3,)
        worst = max(worst, (wider(x) - F.linear(x, V)).abs().max().item())
        worst = max(worst, (layer(x) - (1 - shortcut) * x - x).abs().max().item())
        changes = []
        for scale in SCALES:
            layer.linear.weight.copy_(scale * W)
            layer.linear.bias.copy_(scale * b)
            change = (layer(x) - x).norm(dim=1)
            changes.append(change.mean().item())
            if name in DRAWN:
                within &= bool((change <= (1 + 1e-9) * (scale * (x @ W.T + b)).norm(dim=1)).all())
        moved[name] = changes
    return Verdict(
        quantity="largest |F[0, 0](x) - x|",
        measured=worst,
        relation="≤",
        bound=ROUNDING,
        conditions={"‖F(x) - x‖ ≤ ‖Wx + b‖": within, "the bias has m entries": shapes},
        picture=Picture(
            title="A residual layer moves its input by at most ‖Wx + b‖",
            x_label="size of the weights ‖Wx + b‖, mean over x",
            y_label="distance moved ‖F(x) - x‖, mean over x",
            points={name: (sizes, moved[name]) for name in DRAWN},
            bounds={"‖Wx + b‖": (sizes, sizes)},
            log="xy",
        ),
        details={"activations": float(len(ACTIVATIONS))},
    )


def square(width: int, activation: str) -> ResidualLayer:
    """F[0, 0]."""
    return zeroed(ResidualLayer(width, width, activation))


def projecting(width: int, activation: str) -> ResidualLayer:
    """F[V, 0, 0] with three more outputs than inputs."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return zeroed(ResidualLayer(width, width + 3, activation))


def zeroed(layer: ResidualLayer) -> ResidualLayer:
    layer.linear.weight.zero_()
    layer.linear.bias.zero_()
    return layer.double()
