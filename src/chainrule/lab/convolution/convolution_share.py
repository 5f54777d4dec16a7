"""Claim: a ResNet has most of its parameters in convolutions; LeNet does not (A 2.1).

    share of dense layers = Σ (n + 1) m / all     ResNet-50: 2049 · 1000 / 25,557,032 = 0.08

Measured: the dense layers' share of the parameters of the library's networks, which are built and
counted; the largest share among ResNet-18, 34 and 50 and those of 8 to 56 layers for small images.
Bound: ½, "most". LeNet-5, with 59,134 of 61,706, must be above it.
A says that most parameters of modern models such as ResNets are in the dense layers. That is true
of LeNet but not of ResNets, whose only dense layer sees features averaged over all pixels. LeCun et
al. (1998); He et al. (2016), CVPR.
"""

import torch
from torch import nn

from chainrule.lab.claim import Picture, Verdict
from chainrule.models.convolution.lenet import LeNet
from chainrule.models.convolution.resnet import IMAGENET, ResNet

HALF = 0.5
SMALL = (8, 14, 20, 32, 56)


def check(classes: int = 1000) -> Verdict:
    """Features averaged over all pixels, as in a ResNet.

    Args:
        classes: Classes of the ImageNet-style ResNets.
    """
    return verdict(classes, pixels=1)


def broken() -> Verdict:
    """All 7×7 pixels are passed to the dense layer, as in networks before ResNet."""
    return verdict(1000, pixels=49)


def verdict(classes: int, pixels: int) -> Verdict:
    """Dense shares by depth."""
    with torch.random.fork_rng(devices=[]):
        large = [share(ResNet.imagenet(depth, classes), pixels) for depth in IMAGENET]
        small = [share(ResNet.cifar(depth, 10), pixels) for depth in SMALL]
        lenet = share(LeNet(), 1)
    worst = max(*large, *small)
    depths = [float(depth) for depth in IMAGENET]
    return Verdict(
        quantity="largest share of dense parameters, ResNets",
        measured=worst,
        relation="≤",
        bound=HALF,
        conditions={"LeNet-5's share is above ½": lenet > HALF},
        picture=Picture(
            title="LeNet's parameters are in dense layers, a ResNet's in convolutions",
            x_label="layers with weights",
            y_label="share of parameters in dense layers",
            points={
                f"ResNets for large images, {classes} classes": (depths, large),
                "ResNets for small images, 10 classes": ([float(d) for d in SMALL], small),
                "LeNet-5": ([5.0], [lenet]),
            },
            bounds={"half": ([5.0, 56.0], [HALF, HALF])},
        ),
        details={"ResNet-50": large[-1], "LeNet-5": lenet},
    )


def share(model: nn.Module, pixels: int) -> float:
    """Share of dense parameters, if dense layers see `pixels` pixels of each feature."""
    layers = [m for m in model.modules() if isinstance(m, nn.Linear)]
    dense = sum((pixels * m.in_features + 1) * m.out_features for m in layers)
    others = sum(p.numel() for p in model.parameters()) - sum(
        (m.in_features + 1) * m.out_features for m in layers
    )
    return dense / (dense + others)
