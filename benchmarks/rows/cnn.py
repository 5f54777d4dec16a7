"""A CNN of six convolutions with batch normalization and dropout, 28 × 28, batch 128, Adam."""

from itertools import pairwise
from typing import Any

from torch import nn

from benchmarks.suite import classifiers
from benchmarks.suite.classifiers import Classifier
from benchmarks.suite.contract import Quality, Race
from benchmarks.suite.synthetic import images

FILTERS, DROPOUT = (16, 32, 64), 0.1  # the network of mnist-cnn


def build(count: int, learned: int, batch: int) -> Classifier:
    return Classifier(images(learned, (1, 28, 28), noise=4.0), count, ours, plain, keras, batch)


def ours() -> nn.Module:
    from chainrule.models.convolution.cnn import CNN

    stages = [(width, width) for width in FILTERS]
    return CNN((1, 28, 28), stages, 10, dropout=DROPOUT, norm="batch")


def plain() -> nn.Module:
    layers: list[nn.Module] = []
    for inputs, width in pairwise((1, *FILTERS)):
        for channels in (inputs, width):
            layers += [nn.Conv2d(channels, width, 3, padding=1, bias=False)]
            layers += [nn.BatchNorm2d(width), nn.ReLU(inplace=True)]
        layers += [nn.MaxPool2d(2), nn.Dropout(DROPOUT)]
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(9 * FILTERS[-1], 10))


def keras() -> Any:
    from keras import Sequential, layers

    stack: list[Any] = [layers.Input((28, 28, 1))]
    for width in FILTERS:
        for _ in range(2):
            stack += [layers.Conv2D(width, 3, padding="same", use_bias=False)]
            stack += [layers.BatchNormalization(momentum=0.9, epsilon=1e-5), layers.ReLU()]
        stack += [layers.MaxPooling2D(), layers.Dropout(DROPOUT)]
    return Sequential([*stack, layers.Flatten(), layers.Dense(10)])


ROW = Race(
    unit="768 images",
    contenders=classifiers.contenders(build),
    cases={"": {"count": 768, "learned": 1280, "batch": 128}},
    tiny={"count": 32, "learned": 64, "batch": 32},
    quality=Quality("cross-entropy of held images after 1,280, three seeds", 0.2, seeds=3),
    work=classifiers.work(build),
)
