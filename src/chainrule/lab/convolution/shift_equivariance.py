"""Claim: convolving a shifted signal shifts the convolution (J 4.1, lemma 4.5).

    f_δ(t) = f(t + δ)   ⇒   f_δ ∗ h = (f ∗ h)_δ,   φ(f_δ ∗ h) = φ(f ∗ h)_δ   for pointwise φ

Measured: the largest difference between the two sides over random signals on a ring and on a torus,
kernels of all sizes, all shifts δ, for convolution and correlation, with φ = Id and ReLU.
Bound: exactly 0; signals and kernels hold integers, which double precision adds without rounding.
The lemma's proof prints f(t - δ), v = t - δ where its definition says f(t + δ), v = t + δ; with
that sign the two sides differ. Fukushima (1980) and LeCun et al. (1989) for its use.
"""

import torch

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.lab.helpers.integer_signals import integer_signal
from chainrule.nn.activations import identity, relu
from chainrule.nn.convolution import axes, convolution, correlation


def check(size: int = 8, trials: int = 3, seed: int = 0) -> Verdict:
    """f(t + δ) on both sides.

    Args:
        size: Entries of a signal along its first axis.
        trials: Random signals of one and of two dimensions.
    """
    return verdict(size, trials, seed, sign=1)


def broken() -> Verdict:
    """f(t - δ) inside the convolution, as in the proof."""
    return verdict(6, 1, 0, sign=-1)


def near() -> Near:
    """A signal that ends, instead of a ring; weights that are not the same at every position."""
    return {
        "zero padding": lambda: verdict(6, 1, 0, sign=1, mode="same"),
        **ten_percent("weights at one position", lambda factor: verdict(6, 1, 0, 1, first=factor)),
        "one position × 1.000001": lambda: verdict(6, 1, 0, 1, first=1.000001),
    }


def verdict(
    size: int, trials: int, seed: int, sign: int, mode: str = "circular", first: float = 1.0
) -> Verdict:
    """All shifts of random signals; `first` multiplies the kernel where the signal begins."""
    generator = torch.Generator().manual_seed(seed)
    shapes = [[size]] * trials + [[size, max(1, size - 3)]] * trials
    worst = max(difference(shape, sign, mode, first, generator) for shape in shapes)
    t = torch.arange(100, dtype=torch.float64)
    bumps = torch.exp(-((t - 35) ** 2) / 40) + 0.6 * torch.exp(-((t - 55) ** 2) / 15)
    slope = torch.tensor([0.5, 0.0, -0.5], dtype=torch.float64)
    response, places = convolution(bumps, slope, "circular"), t.tolist()
    answer = convolution(bumps.roll(sign * 30), slope, "circular")
    return Verdict(
        quantity="largest |f_δ ∗ h - (f ∗ h)_δ|",
        measured=worst,
        relation="=",
        bound=0.0,
        picture=Picture(
            title="When the signal moves, the output of a slope detector moves with it",
            x_label="position",
            y_label="slope of the signal, per step",
            curves={
                "(f ∗ h) moved by 30": (places, response.roll(30).tolist()),
                "f ∗ h": (places, response.tolist()),
            },
            points={"(f moved by 30) ∗ h": (places[::2], answer.tolist()[::2])},
        ),
    )


def difference(
    shape: list[int], sign: int, mode: str, first: float, generator: torch.Generator
) -> float:
    """Largest entry of φ(f_δ ∗ h) - φ(f ∗ h)_δ over all δ."""
    f, worst = integer_signal(shape, generator), 0.0
    kernel = [int(torch.randint(1, n + 1, (), generator=generator)) for n in shape]
    h = integer_signal(kernel, generator)
    scale = torch.ones_like(f)
    scale.view(-1)[0] = first
    for operation in (convolution, correlation):
        for activation in (identity, relu):
            whole = activation(scale * operation(f, h, mode))
            for shift in torch.cartesian_prod(*map(torch.arange, shape)).view(-1, f.ndim).tolist():
                ahead = [-offset for offset in shift]  # rolling back by δ is f(t + δ)
                f_shifted = f.roll([sign * offset for offset in ahead], axes(f))
                moved = activation(scale * operation(f_shifted, h, mode))
                gap = moved - whole.roll(ahead, axes(f))
                worst = max(worst, gap.abs().max().item())
    return worst
