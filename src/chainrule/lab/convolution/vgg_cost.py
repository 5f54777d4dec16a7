"""Claim: ResNet-34 needs less than a fifth of VGG-19's multiply-adds and parameters (A 2.2.2).

    a layer of c → m channels with k×k kernels and p output pixels; dense layers have k = p = 1:
    (c k² + r) m parameters,     c k² m p multiply-adds,     r = 1 for a bias, 2 for a batch norm
    VGG-16: 138,357,544 parameters     VGG-19: 19.6 · 10⁹ multiply-adds     ResNet-34: 3.66 · 10⁹

Measured: parameters and multiply-adds of the library's networks, built without allocating weights
and run on the shapes of a 224×224 image; the largest relative difference from the sums of the
formulas over the papers' tables of layers, and from the published parameters.
Bound: exactly 0; counts are whole numbers. The multiply-adds must also round to those published.
A compares VGG-19 "with 128, 256 or 512 filters" to ResNet-34 "with 64 or 128". Both have 64 to 512;
ResNet-34 is cheaper because it halves its images sooner and ends in one dense layer. Simonyan and
Zisserman (2015), ICLR; He et al. (2016), CVPR, figure 3.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import NamedTuple

import torch
from torch import nn

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.models.convolution.resnet import ResNet
from chainrule.models.convolution.vgg import VGG
from chainrule.nn.profile import profile

SIDE, CLASSES = 224, 1000
PUBLISHED = {
    "VGG-11": 132_863_336,
    "VGG-13": 133_047_848,
    "VGG-16": 138_357_544,
    "VGG-19": 143_667_240,
    "ResNet-18": 11_689_512,
    "ResNet-34": 21_797_672,
}
CONVOLUTIONS = {11: (1, 1, 2, 2, 2), 13: (2, 2, 2, 2, 2), 16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}
BLOCKS = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3)}
FILTERS = (64, 128, 256, 512)
FIFTH = 0.2


class Layer(NamedTuple):
    """c → m channels, k×k kernels, p output pixels, r parameters besides the kernel."""

    c: int
    m: int
    k: int = 1
    p: int = 1
    r: int = 1


class Cost(NamedTuple):
    """Of one image."""

    parameters: int
    multiply_adds: int


def check() -> Verdict:
    """The tables of the two papers."""
    return verdict()


def broken() -> Verdict:
    """VGG's dense layers behind an average over all pixels, as in a ResNet."""
    return verdict(pixels=1)


def near() -> Near:
    """Published numbers off by 10 % or by one, larger kernels, the filters as printed in A."""
    return {
        **ten_percent("published", lambda factor: verdict(dict.fromkeys(PUBLISHED, factor))),
        "published + 1": partial(verdict, {n: 1 + 1 / count for n, count in PUBLISHED.items()}),
        "kernels of 5×5": partial(verdict, kernel=5),
        "ResNet-34 with 64 or 128 filters": partial(verdict, filters=(64, 64, 128, 128)),
    }


def verdict(
    factors: Mapping[str, float] | None = None,
    pixels: int = (SIDE // 32) ** 2,
    kernel: int = 3,
    filters: tuple[int, ...] = FILTERS,
) -> Verdict:
    """Counted, against the formulas and the papers."""
    with torch.device("meta"):
        counts = {f"VGG-{depth}": counted(VGG(depth)) for depth in CONVOLUTIONS}
        counts |= {f"ResNet-{depth}": counted(ResNet.imagenet(depth)) for depth in BLOCKS}
    sums = {f"VGG-{depth}": cost(vgg(depth, pixels, kernel)) for depth in CONVOLUTIONS}
    sums |= {f"ResNet-{depth}": cost(resnet(depth, filters)) for depth in BLOCKS}
    gaps = [
        abs(a / b - 1) for name in counts for a, b in zip(counts[name], sums[name], strict=True)
    ]
    papers = {name: round((factors or {}).get(name, 1.0) * n) for name, n in PUBLISHED.items()}
    gaps += [abs(counts[name].parameters / n - 1) for name, n in papers.items()]
    shares = [a / b for a, b in zip(counts["ResNet-34"], counts["VGG-19"], strict=True)]
    billions = {name: found.multiply_adds / 1e9 for name, found in counts.items()}
    return Verdict(
        quantity="largest |counted / expected - 1|",
        measured=max(gaps),
        relation="=",
        bound=0.0,
        conditions={
            "less than a fifth": max(shares) < FIFTH,
            "VGG-19: 19.6 · 10⁹ multiply-adds": round(billions["VGG-19"], 1) == 19.6,
            "ResNet-34: 3.66 · 10⁹ multiply-adds": round(billions["ResNet-34"], 2) == 3.66,
        },
        picture=drawn(counts, sums),
        details={"share of multiply-adds": shares[1], "share of parameters": shares[0]},
    )


def drawn(counts: Mapping[str, Cost], sums: Mapping[str, Cost]) -> Picture:
    """One family beside the other."""
    families = {name: [n for n in counts if n.startswith(name)] for name in ("VGG", "ResNet")}

    def series(costs: Mapping[str, Cost], names: list[str]) -> tuple[list[float], list[float]]:
        found = [costs[name] for name in names]
        return [c.parameters / 1e6 for c in found], [c.multiply_adds / 1e9 for c in found]

    return Picture(
        title="ResNet-34 has 15 more layers than VGG-19 and costs less than a fifth",
        x_label="parameters, millions",
        y_label="multiply-adds for one image, 10⁹",
        curves={family: series(sums, names) for family, names in families.items()},
        points={family: series(counts, names) for family, names in families.items()},
        marks={name: (c.parameters / 1e6, c.multiply_adds / 1e9) for name, c in counts.items()},
    )


def counted(model: nn.Module) -> Cost:
    """By building and running the network."""
    layers = profile(model, torch.empty(1, 3, SIDE, SIDE))
    return Cost(sum(x.parameters for x in layers), sum(x.multiply_adds for x in layers))


def cost(layers: Iterator[Layer]) -> Cost:
    """Σ (c k² + r) m and Σ c k² m p."""
    each = list(layers)
    return Cost(
        sum((x.c * x.k**2 + x.r) * x.m for x in each), sum(x.c * x.k**2 * x.m * x.p for x in each)
    )


def vgg(depth: int, pixels: int, kernel: int) -> Iterator[Layer]:
    """Five stages, each of half the side of the one before, and three dense layers."""
    channels, side = 3, SIDE
    for number, width in zip(CONVOLUTIONS[depth], (*FILTERS, FILTERS[-1]), strict=True):
        for _ in range(number):
            yield Layer(channels, width, kernel, side**2)
            channels = width
        side //= 2
    for inputs, units in ((channels * pixels, 4096), (4096, 4096), (4096, CLASSES)):
        yield Layer(inputs, units)


def resnet(depth: int, filters: tuple[int, ...]) -> Iterator[Layer]:
    """A stem, four stages of blocks of two layers, with projections between them, one dense."""
    channels, side = filters[0], SIDE // 2
    yield Layer(3, channels, 7, side**2, 2)
    for number, width in zip(BLOCKS[depth], filters, strict=True):
        side //= 2
        if width != channels:
            yield Layer(channels, width, 1, side**2, 2)
        for _ in range(2 * number):
            yield Layer(channels, width, 3, side**2, 2)
            channels = width
    yield Layer(channels, CLASSES)
