"""Claim: deeper plain networks fit training data worse; residual ones do not (A 2.2, J 2.3).

    plain   h_{l+1} = φ(N(w_l ∗ h_l)),      residual   h_{l+1} = φ(h_l + F_l(h_l))
    rise = L(20 layers) - L(8 layers),      rise_plain > 0,      rise_residual ≤ ½ rise_plain

Measured: networks of 8, 14 and 20 layers with the same convolutions, trained on digits by the same
steps of momentum; L is the mean loss of the second epoch. The ratio of the rises, infinite if the
plain one is not positive.
Bound: ½, far from both: over 24 seeds the plain rise was 0.58 ± 0.09 and the residual one -0.52 ±
0.13, six standard deviations from failing.
With few steps this shows the speed of fitting; He et al. (2016), CVPR, fig. 1, with many steps and
more layers, show the final level.
"""

import math

import torch
from torch import Tensor

from chainrule.data.datasets.digits import load
from chainrule.lab.claim import Picture, Verdict
from chainrule.models.convolution.resnet import ResNet
from chainrule.training import Settings, fit

DEPTHS = (8, 14, 20)
BATCH, RATE = 32, 0.02


def check(steps: int = 6, seed: int = 0) -> Verdict:
    """Plain and residual networks.

    Args:
        steps: Batches per epoch, of which there are two.
    """
    return verdict(steps, seed, shortcuts=True)


def broken() -> Verdict:
    """Plain networks twice: without shortcuts, depth hurts both."""
    return verdict(6, 0, shortcuts=False)


def verdict(steps: int, seed: int, shortcuts: bool) -> Verdict:
    """Training losses by depth."""
    data = load(seed=seed).train
    examples = (data.x[: steps * BATCH], data.y[: steps * BATCH])
    plain, residual = (
        [loss(depth, kind, examples, seed) for depth in DEPTHS] for kind in (False, shortcuts)
    )
    rise, other = plain[-1] - plain[0], residual[-1] - residual[0]
    ratio = other / rise if rise > 0 else math.inf
    depths = [float(depth) for depth in DEPTHS]
    return Verdict(
        quantity="rise of the loss with depth, residual / plain",
        measured=ratio,
        relation="≤",
        bound=0.5,
        picture=Picture(
            title=f"After {2 * steps} steps depth has helped residual networks and hurt plain ones",
            x_label="layers",
            y_label="training loss, in nats",
            points={"plain": (depths, plain), "residual": (depths, residual)},
            bounds={"chance": ([depths[0], depths[-1]], [math.log(10)] * 2)},
        ),
        details={"plain rise": rise, "residual rise": other},
    )


def loss(depth: int, shortcuts: bool, examples: tuple[Tensor, Tensor], seed: int) -> float:
    """Mean loss of the second epoch, each batch before its step."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = ResNet.cifar(depth, classes=10, channels=1, shortcuts=shortcuts)
    settings = Settings(
        seed=seed, epochs=2, batch_size=BATCH, optimizer="momentum", learning_rate=RATE, threads=1
    )
    return float(fit(model, examples, settings=settings, device="cpu")[-1]["train_loss"])
