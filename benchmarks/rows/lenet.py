"""LeNet-5 on images of 28 × 28, batch 128, Adam."""

from typing import Any

from torch import nn

from benchmarks.suite import classifiers
from benchmarks.suite.classifiers import Classifier
from benchmarks.suite.contract import Quality, Race
from benchmarks.suite.synthetic import images


def build(count: int, learned: int, batch: int) -> Classifier:
    return Classifier(images(learned, (1, 28, 28), noise=4.0), count, ours, plain, keras, batch)


def ours() -> nn.Module:
    from chainrule.models.convolution.lenet import LeNet

    return LeNet()


def plain() -> nn.Module:
    return nn.Sequential(
        *(nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()),
        *(nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10)),
    )


def keras() -> Any:
    from keras import Sequential, layers

    convolutions = [
        *(layers.Conv2D(6, 5, padding="same", activation="relu"), layers.MaxPooling2D()),
        *(layers.Conv2D(16, 5, activation="relu"), layers.MaxPooling2D(), layers.Flatten()),
    ]
    dense = [layers.Dense(120, "relu"), layers.Dense(84, "relu"), layers.Dense(10)]
    return Sequential([layers.Input((28, 28, 1)), *convolutions, *dense])


ROW = Race(
    unit="2,560 images",
    contenders=classifiers.contenders(build),
    cases={"": {"count": 2560, "learned": 5120, "batch": 128}},
    tiny={"count": 64, "learned": 128, "batch": 64},
    quality=Quality("cross-entropy of held images after 5,120, three seeds", 0.15, seeds=3),
    work=classifiers.work(build),
)
