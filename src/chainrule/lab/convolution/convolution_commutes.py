"""Claim: convolution commutes, cross-correlation does not (J 4.1, lemma 4.4).

    f ∗ h = h ∗ f,          (f ⋆ h)[u] = (h ⋆ f)[-u]

Measured: the largest |f ∗ h - h ∗ f| over random signals of one, two and three dimensions and
different sizes in full mode, and of equal sizes in circular mode.
Bound: exactly 0; the signals hold integers up to 9, whose sums of products double precision adds
without rounding.
LeCun et al. (1998) for layers that are called convolutions and compute ⋆.
"""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.lab.helpers.integer_signals import integer_signal
from chainrule.nn.convolution import convolution, correlation


def check(trials: int = 10, seed: int = 0) -> Verdict:
    """Convolution in both orders.

    Args:
        trials: Random pairs of signals for each dimension.
    """
    return verdict(convolution, trials, seed)


def broken() -> Verdict:
    """Correlation in both orders."""
    return verdict(correlation, 2, 0)


def near() -> Near:
    """Convolution with a little correlation in it, or with one weight of the kernel changed."""

    def mixed(share: float, f: Tensor, h: Tensor, mode: str = "full") -> Tensor:
        return convolution(f, h, mode) + share * correlation(f, h, mode)

    def lopsided(factor: float, f: Tensor, h: Tensor, mode: str = "full") -> Tensor:
        first = torch.ones(h.numel(), dtype=h.dtype)
        first[0] = factor
        return convolution(f, h * first.view(h.shape), mode)

    shares = (1e-3, 1e-9)
    return {
        **{
            f"f ∗ h + {share} f ⋆ h": partial(verdict, partial(mixed, share), 2, 0)
            for share in shares
        },
        **ten_percent("h[0]", lambda factor: verdict(partial(lopsided, factor), 2, 0)),
    }


def verdict(operation: Callable[..., Tensor], trials: int, seed: int) -> Verdict:
    """The same operation with signal and kernel exchanged."""
    generator = torch.Generator().manual_seed(seed)
    worst = max(difference(operation, generator) for _ in range(trials))
    box = torch.zeros(60, dtype=torch.float64)
    box[:25] = 0.1
    decay = torch.exp(-torch.arange(40, dtype=torch.float64) / 10)
    places = [float(u) for u in range(99)]
    return Verdict(
        quantity="largest |f ∗ h - h ∗ f|",
        measured=worst,
        relation="=",
        bound=0.0,
        picture=Picture(
            title="Convolution commutes; correlation is reversed",
            x_label="position u",
            y_label="value",
            curves={
                "f ∗ h": (places, operation(box, decay).tolist()),
                "h ⋆ f": (places, correlation(box, decay).tolist()),
            },
            points={
                "h ∗ f": (places[::3], operation(decay, box).tolist()[::3]),
                "f ⋆ h": (places[::3], correlation(decay, box).tolist()[::3]),
            },
        ),
    )


def difference(operation: Callable[..., Tensor], generator: torch.Generator) -> float:
    """Largest entry of operation(f, h) - operation(h, f), in one to three dimensions."""
    worst = 0.0
    for dimension in (1, 2, 3):
        n, m = torch.randint(2, 6, (2, dimension), generator=generator).tolist()
        f, h, g = (integer_signal(size, generator) for size in (n, m, n))
        full = operation(f, h) - operation(h, f)
        circular = operation(f, g, "circular") - operation(g, f, "circular")
        worst = max(worst, full.abs().max().item(), circular.abs().max().item())
    return worst
