"""Claim: deeper plain networks fit training data worse; residual ones do not (A 2.2, J 2.3).

    plain   h_{l+1} = φ(N(w_l ∗ h_l)),      residual   h_{l+1} = φ(S h_l + F_l(h_l))
    rise = L(56 layers) - L(20 layers),     rise_plain > 0,      rise_residual ≪ rise_plain

Measured: the networks of He et al. with a quarter of their filters, trained on digits by equally
many full gradient steps with momentum; L is the mean training loss of the last steps. The ratio of
the rises, infinite if the plain one is below ½ nat.
Bound: 0.05. Over seeds 0 … 39 the ratio was between -0.0021 and 0.0001, and the plain rise
1.6 ± 0.3 nats. The shallow plain network must be below ½ nat too; seed 23 comes nearest, with 0.39.
Three of the four networks have reached their plateau by then: they fit all digits. The deep plain
one is far from it, but 64 digits are so few that time can make up for it: with `--steps 600` it
fits them for seeds 1, 3 and 4, not for 0 and 2. With 256 digits in batches of 64 it stood at 1.1
nats after 960 steps. He et al. (2016), CVPR, figure 6, find the same order after 64,000 steps on
CIFAR-10, and argue that vanishing gradients, which A names, are not the reason: batch normalization
keeps the signals of plain networks alive.
"""

import math
from collections.abc import Sequence
from functools import cache, partial

import torch
from torch import Tensor, nn

from chainrule.data.datasets.digits import load
from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.models.convolution.resnet import (
    BasicBlock,
    ResNet,
    Shortcut,
    cifar_blocks,
    convolution,
    no_shortcut,
    padded_shortcut,
)
from chainrule.training import Settings, fit

DEPTHS = (20, 56)
FILTERS, IMAGES, RATE = 4, 64, 0.05
LAST = 5  # steps whose mean is the final loss
HALF_A_NAT = 0.5
BOUND = 0.05


def check(steps: int = 60, seed: int = 0) -> Verdict:
    """Plain and residual networks.

    Args:
        steps: Gradient steps of each network.
    """
    return verdict(steps, seed, padded_shortcut)


def broken() -> Verdict:
    """Plain networks twice: without shortcuts, depth hurts both."""
    return verdict(60, 0, no_shortcut)


def near() -> Near:
    """Shortcuts that lose half in every block, or are missing in a third of them."""
    return {
        "shortcuts × 0.5": partial(verdict, 60, 0, halved),
        "no shortcuts at full size": partial(verdict, 60, 0, only_small),
    }


class Halved(nn.Module):
    """½ S h."""

    def __init__(self, shortcut: nn.Module):
        super().__init__()
        self.shortcut = shortcut

    def forward(self, h: Tensor) -> Tensor:
        return self.shortcut(h) / 2


def halved(inputs: int, outputs: int, stride: int) -> nn.Module:
    return Halved(padded_shortcut(inputs, outputs, stride))


def only_small(inputs: int, outputs: int, stride: int) -> nn.Module | None:
    """No shortcuts in the first stage."""
    return None if outputs == FILTERS else padded_shortcut(inputs, outputs, stride)


def verdict(steps: int, seed: int, shortcut: Shortcut) -> Verdict:
    """Training losses by depth."""
    curves = {
        (name, depth): losses(depth, kind, steps, seed)
        for name, kind in (("plain", no_shortcut), ("residual", shortcut))
        for depth in DEPTHS
    }
    final = {key: sum(curve[-LAST:]) / LAST for key, curve in curves.items()}
    shallow, deep = DEPTHS
    rise, other = (final[name, deep] - final[name, shallow] for name in ("plain", "residual"))
    return Verdict(
        quantity="rise of the loss with depth, residual / plain",
        measured=other / rise if rise >= HALF_A_NAT else math.inf,
        relation="≤",
        bound=BOUND,
        conditions={"20 plain layers fit the data": final["plain", shallow] < HALF_A_NAT},
        picture=Picture(
            title="Only the deep plain network does not fit its training data",
            x_label="gradient steps",
            y_label="training loss, in nats",
            points={
                f"{name}, {depth} layers": (
                    [float(t) for t in range(1, steps + 1, 2)],
                    list(curve[::2]),
                )
                for (name, depth), curve in curves.items()
            },
            bounds={"chance": ([1.0, float(steps)], [math.log(10)] * 2)},
        ),
        details={"plain rise": rise, "residual rise": other},
    )


@cache
def losses(depth: int, shortcut: Shortcut, steps: int, seed: int) -> Sequence[float]:
    """The loss before each step."""
    data = load(seed=seed).train
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        stem, blocks = convolution(1, FILTERS, kernel=3), cifar_blocks(depth)
        model = ResNet(stem, nn.Identity(), BasicBlock, blocks, 10, shortcut)
    settings = Settings(
        seed=seed,
        epochs=steps,
        batch_size=IMAGES,
        optimizer="momentum",
        learning_rate=RATE,
        threads=1,
    )
    history = fit(model, (data.x[:IMAGES], data.y[:IMAGES]), settings=settings, device="cpu")
    return tuple(float(record["train_loss"]) for record in history)
