"""Claim: attention connects any two positions in one step, a recurrent network in n - 1 (L 8).

    ∂y_n/∂x_1 ≠ 0 after 1 layer of attention, after (n - 1)/r layers of convolution of radius r
    ∂z_n/∂x_1 = U^{n-1} V in a recurrent network at rest:   U → U/2 divides it by 2^{n-1}

Measured: the number of layers through which a signal travels from the first position to the last,
by the gradients of the library's layers; for the recurrent network the number of times U is
applied, log₂ of the factor lost when U is halved. The largest difference from 1, (n - 1)/r and n -
1.
Bound: exactly 0; layers are counted, and halving does not round.
Vaswani et al. (2017), table 1.
"""

import math
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

import torch
from torch import Tensor, nn

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.models.attention.windowed_attention import WindowedAttention
from chainrule.models.recurrent.elman import Elman
from chainrule.nn.attention import SelfAttention
from chainrule.nn.convolution import convolution

RADIUS, WIDTH = 4, 4
LENGTHS = (5, 9, 17, 33, 65)


def check(seed: int = 0) -> Verdict:
    """Every token attends to all tokens."""
    return verdict(lambda: SelfAttention(WIDTH, num_heads=1), seed)


def broken() -> Verdict:
    """Every token attends to two neighbors on each side."""
    return verdict(lambda: WindowedAttention(WIDTH, num_heads=1, window=2), 0)


def near() -> Near:
    """Windows that miss only the farthest token of the longest text; other numbers of steps."""

    def full() -> SelfAttention:
        return SelfAttention(WIDTH, num_heads=1)

    return {
        **{
            name: violation
            for kind in ("recurrent", "convolution", "attention")
            for name, violation in ten_percent(
                f"steps, {kind}", partial(scaled_steps, full, kind)
            ).items()
        },
        "a window of 63 for n = 65": lambda: verdict(
            lambda: WindowedAttention(WIDTH, num_heads=1, window=63), 0
        ),
    }


def scaled_steps(make: Callable[[], nn.Module], kind: str, factor: float) -> Verdict:
    """Another prediction for one kind of layer."""
    return verdict(make, 0, {kind: factor})


def verdict(
    make: Callable[[], nn.Module], seed: int, factors: Mapping[str, float] = MappingProxyType({})
) -> Verdict:
    """Steps from the first position to the last, by length."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        attention, recurrent = make().double(), Elman(WIDTH, WIDTH).double()
        kernel = torch.rand(2 * RADIUS + 1, dtype=torch.float64) + 0.1
        x = torch.randn(max(LENGTHS), WIDTH, dtype=torch.float64)

    def convolved(h: Tensor) -> Tensor:
        return convolution(h[0, :, 0], kernel, "same")[None, :, None]

    found = {
        "recurrent": [times_applied(recurrent, n) for n in LENGTHS],
        "convolution": [layers_needed(convolved, x[None, :n, :1]) for n in LENGTHS],
        "attention": [layers_needed(attention, x[None, :n]) for n in LENGTHS],
    }
    predicted = {
        "recurrent": [n - 1.0 for n in LENGTHS],
        "convolution": [(n - 1) / RADIUS for n in LENGTHS],
        "attention": [1.0 for _ in LENGTHS],
    }
    worst = max(
        abs(steps - factors.get(name, 1.0) * expected)
        for name in found
        for steps, expected in zip(found[name], predicted[name], strict=True)
    )
    n = [float(length) for length in LENGTHS]
    return Verdict(
        quantity="|steps - predicted|",
        measured=worst,
        relation="=",
        bound=0.0,
        picture=Picture(
            title="Attention connects the first and the last position in one step",
            x_label="length n",
            y_label="steps from position 1 to position n",
            curves={name: (n, steps) for name, steps in predicted.items()},
            points={name: (n, steps) for name, steps in found.items()},
            log="xy",
        ),
    )


def layers_needed(layer: Callable[[Tensor], Tensor], x: Tensor) -> float:
    """The smallest number of consecutive layers with ∂y_n/∂x_1 ≠ 0."""
    x = x.clone().requires_grad_()
    h = x
    for number in range(1, x.shape[1] + 1):
        h = layer(h)
        (gradient,) = torch.autograd.grad(h[0, -1].sum(), x, retain_graph=True)
        if gradient[0, 0].any():
            return float(number)
    return math.inf


def times_applied(recurrent: Elman, n: int) -> float:
    """log₂ of the factor that ∂z_n/∂x_1 loses when U is halved, at x = 0, where φ' = 1."""
    x = torch.zeros(1, n, WIDTH, dtype=torch.float64, requires_grad=True)
    sizes = []
    for factor in (0.5, 2.0):
        with torch.no_grad():
            recurrent.U.mul_(factor)
        (gradient,) = torch.autograd.grad(recurrent(x)[0][0, -1].sum(), x)
        sizes.append(gradient[0, 0].abs().max().item())
    return math.log2(sizes[1] / sizes[0])
