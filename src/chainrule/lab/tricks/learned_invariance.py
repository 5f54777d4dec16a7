"""Claim: a network trained on shifted images becomes invariant under shifts (J 8.7).

    {(x, y)} ↦ {(τ(x), y)}   ⇒   s = P(f(τ(x)) ≠ f(x)) falls

An MLP has no invariance built in: it has to learn it from the transformed examples.
Measured: networks 64-32-10 on the digits, trained with and without random shifts by one pixel, from
the same initial weights in the same order; the share of test digits whose class changes when they
are shifted by one pixel in a random direction. The paired difference, without minus with shifts, in
standard errors over the networks.
Bound: Student's quantile that equal networks exceed once in 10⁴ times.
Simard, Steinkraus and Platt (2003).
"""

import torch
from scipy.stats import t
from torch import Tensor

from chainrule.data.datasets import digits
from chainrule.errors import InputError
from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.learning.augmentation import Augment, shift
from chainrule.models.feedforward.mlp import MLP
from chainrule.training import Settings, fit_many, outputs

LEVEL = 1e-4
SIDE = 8
EPOCHS = (2, 5, 10, 20)


def check(networks: int = 8, epochs: int = 20, seed: int = 0) -> Verdict:
    """Shifts by one pixel.

    Args:
        networks: Networks with and without shifts, at least 2.
        epochs: Epochs of training.
    """
    if networks < 2:
        raise InputError(f"`networks` must be at least 2 for a standard error, got {networks}")
    return verdict(networks, epochs, seed, pixels=1)


def broken() -> Verdict:
    """No shift."""
    return verdict(3, 5, 0, pixels=0)


def near() -> Near:
    """Mirrored images in place of shifted ones, which teach another invariance."""
    return {"mirrored, not shifted": lambda: verdict(4, 5, 0, pixels=0, mirrored=True)}


def verdict(networks: int, epochs: int, seed: int, pixels: int, mirrored: bool = False) -> Verdict:
    """Changed decisions of both kinds of networks."""
    augment: Augment = mirror if mirrored else on_images(shift(pixels))
    stages = sorted({*(n for n in EPOCHS if n < epochs), epochs})
    plain = [changed(networks, n, seed, None) for n in stages]
    taught = [changed(networks, n, seed, augment) for n in stages]
    gain = plain[-1] - taught[-1]
    spread = max((gain.std() / networks**0.5).item(), 1e-9)
    done = [float(n) for n in stages]
    return Verdict(
        quantity="gain in invariance, standard errors",
        measured=gain.mean().item() / spread,
        relation="≥",
        bound=float(t.isf(LEVEL, networks - 1)),
        picture=Picture(
            title="A network learns to ignore the shifts that it is shown",
            x_label="epochs",
            y_label="test digits whose class a shift changes (%)",
            curves={
                "without shifts, mean": (done, [e.mean().item() for e in plain]),
                "with shifts, mean": (done, [e.mean().item() for e in taught]),
            },
            points={
                "without shifts": ([n for n in done for _ in range(networks)], flat(plain)),
                "with shifts": ([n for n in done for _ in range(networks)], flat(taught)),
            },
        ),
        details={
            "changed without shifts, %": plain[-1].mean().item(),
            "changed with shifts, %": taught[-1].mean().item(),
        },
    )


def changed(networks: int, epochs: int, seed: int, augment: Augment | None) -> Tensor:
    """The percentage of test digits whose class a shift changes, for every network."""
    data = digits.load(seed=seed)
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        models = [MLP(SIDE**2, [32], 10) for _ in range(networks)]
        x = data.test.x
        moved = on_images(shift(1))(x)
    each = [
        Settings(seed=seed + k, epochs=epochs, batch_size=50, learning_rate=1e-2, threads=1)
        for k in range(networks)
    ]
    fit_many(models, tuple(data.train), None, each, augment=augment)
    before, after = (torch.stack([outputs(m, (z,)).argmax(1) for m in models]) for z in (x, moved))
    return 100 * (before != after).double().mean(1)


def on_images(augment: Augment) -> Augment:
    """An augmentation of images, on digits of any shape with 64 pixels."""
    return lambda x: augment(x.reshape(-1, 1, SIDE, SIDE)).reshape(x.shape)


def mirror(x: Tensor) -> Tensor:
    """Left and right exchanged in every second image."""
    chosen = torch.rand(x.shape[0], *[1] * (x.ndim - 1)) < 0.5
    return torch.where(chosen, x.reshape(-1, SIDE, SIDE).flip(-1).reshape(x.shape), x)


def flat(shares: list[Tensor]) -> list[float]:
    return torch.cat(shares).tolist()
