"""Claim: a ResNet has most of its parameters in convolutions; LeNet and VGG do not (A 2.1).

    share of dense layers = Σ (n + 1) m / all
    ResNet-50: 2049 · 1000 / 25,557,032 = 0.080        VGG-16: 123,642,856 / 138,357,544 = 0.894
    LeNet-5:   (401 · 120 + 121 · 84 + 85 · 10) / 61,706 = 0.958

Measured: the dense layers' share of the parameters of the library's networks, which are built
without allocating weights and counted; the largest relative difference from these fractions, whose
denominators are published.
Bound: exactly 0 up to rounding, 1e-15. ResNets must be below ½, "most", and the others above it.
A says that most parameters of modern models such as ResNets are in the dense layers. That is true
of LeNet and VGG but not of ResNets, whose only dense layer sees features averaged over all pixels.
LeCun et al. (1998); Simonyan and Zisserman (2015), ICLR; He et al. (2016), CVPR.
"""

from functools import partial

import torch
from torch import nn

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.models.convolution.lenet import LeNet
from chainrule.models.convolution.resnet import IMAGENET, ResNet
from chainrule.models.convolution.vgg import DEPTHS, VGG
from chainrule.nn.profile import dense_parameters

BOUND, HALF = 1e-15, 0.5
TOTALS = {
    "LeNet-5": 61_706,
    "VGG-11": 132_863_336,
    "VGG-13": 133_047_848,
    "VGG-16": 138_357_544,
    "VGG-19": 143_667_240,
    "ResNet-18": 11_689_512,
    "ResNet-34": 21_797_672,
    "ResNet-50": 25_557_032,
}
FEATURES = {18: 512, 34: 512, 50: 2048}


def check() -> Verdict:
    """Features averaged over all pixels, as in a ResNet."""
    return verdict()


def broken() -> Verdict:
    """All 7×7 pixels are passed to the dense layer, as in networks before ResNet."""
    return verdict(pixels=49)


def near() -> Near:
    """Totals off by 10 %, and dense layers without biases."""
    return {
        **ten_percent("published totals", lambda factor: verdict(factor=factor)),
        "no biases in the formula": partial(verdict, bias=0),
    }


def verdict(factor: float = 1.0, pixels: int = 1, bias: int = 1) -> Verdict:
    """Dense shares by depth."""
    with torch.device("meta"):
        shares = {"LeNet-5": share(LeNet())}
        shares |= {f"VGG-{depth}": share(VGG(depth)) for depth in DEPTHS}
        shares |= {f"ResNet-{depth}": share(ResNet.imagenet(depth)) for depth in IMAGENET}
    sizes = {name: [512 * 49, 4096, 4096, 1000] for name in TOTALS} | {
        "LeNet-5": [400, 120, 84, 10]
    }
    sizes |= {f"ResNet-{depth}": [n * pixels, 1000] for depth, n in FEATURES.items()}
    expected = {
        name: (dense_parameters(sizes[name]) - (1 - bias) * sum(sizes[name][1:])) / (factor * total)
        for name, total in TOTALS.items()
    }
    layers = {name: float(name.split("-")[1]) for name in TOTALS}
    families = {f: [n for n in TOTALS if n.startswith(f)] for f in ("LeNet", "VGG", "ResNet")}
    return Verdict(
        quantity="largest |share / expected - 1|",
        measured=max(abs(shares[name] / expected[name] - 1) for name in TOTALS),
        relation="≤",
        bound=BOUND,
        conditions={
            f"{name}: {'below' if name.startswith('ResNet') else 'above'} ½": (found < HALF)
            == name.startswith("ResNet")
            for name, found in shares.items()
        },
        picture=Picture(
            title="LeNet's and VGG's parameters are in dense layers, a ResNet's in convolutions",
            x_label="layers with weights",
            y_label="share of parameters in dense layers",
            points={
                family: ([layers[n] for n in names], [shares[n] for n in names])
                for family, names in families.items()
            },
            bounds={"half": ([5.0, 50.0], [HALF, HALF])},
        ),
        details={name: shares[name] for name in ("LeNet-5", "VGG-16", "ResNet-50")},
    )


def share(model: nn.Module) -> float:
    """Of the dense layers' parameters."""
    layers = [m for m in model.modules() if isinstance(m, nn.Linear)]
    dense = sum(p.numel() for layer in layers for p in layer.parameters())
    return dense / sum(p.numel() for p in model.parameters())
