"""A multilayer perceptron, 784-256-128-10, batch 128, Adam."""

from typing import Any

import torch
from torch import nn

from benchmarks.suite import classifiers
from benchmarks.suite.classifiers import Classifier
from benchmarks.suite.contract import Contender, Quality, Race, Ready
from benchmarks.suite.synthetic import Labeled, images

HIDDEN = (256, 128)


def build(count: int, learned: int, batch: int) -> Classifier:
    """Images of MNIST's size, flat."""
    x, y, held_x, held_y = images(learned, (1, 28, 28), noise=4.0)
    data = Labeled(x.flatten(1), y, held_x.flatten(1), held_y)
    return Classifier(data, count, ours, plain, keras, batch)


def ours() -> nn.Module:
    from chainrule.models.feedforward.mlp import MLP

    return MLP(784, list(HIDDEN), 10)


def plain() -> nn.Module:
    first, second = HIDDEN
    return nn.Sequential(
        nn.Linear(784, first), nn.ReLU(), nn.Linear(first, second), nn.ReLU(), nn.Linear(second, 10)
    )


def keras() -> Any:
    from keras import Sequential, layers

    hidden = [layers.Dense(width, "relu") for width in HIDDEN]
    return Sequential([layers.Input((784,)), *hidden, layers.Dense(10)])


def scikit_learn(count: int, learned: int, batch: int) -> Ready:
    """MLPClassifier, partial_fit for an epoch; Adam without a penalty."""
    import numpy as np
    from sklearn.neural_network import MLPClassifier

    data = build(count, learned, batch).data
    x, y, classes = data.x.numpy(), data.y.numpy(), np.arange(10)

    def started(seed: int) -> Any:
        """With the initial weights of the others, once it has weights at all."""
        model = MLPClassifier(HIDDEN, alpha=0.0, batch_size=batch, random_state=seed)
        model.partial_fit(x[:batch], y[:batch], classes=classes)
        torch.manual_seed(seed)
        linear = [part for part in plain() if isinstance(part, nn.Linear)]
        for k, part in enumerate(linear):
            model.coefs_[k][:] = part.weight.detach().T.numpy()
            model.intercepts_[k][:] = part.bias.detach().numpy()
        return model

    model = started(0)

    def quality(seed: int) -> float:
        fresh = started(seed).partial_fit(x, y)
        chances = torch.as_tensor(fresh.predict_proba(data.held_x.numpy()))
        return float(-chances[torch.arange(len(chances)), data.held_y].log().mean())

    trained = sum(part.size for part in (*model.coefs_, *model.intercepts_))
    return Ready(lambda: model.partial_fit(x[:count], y[:count]), quality, trained)


ROW = Race(
    unit="12,000 images",
    contenders=classifiers.contenders(build)
    | {"scikit-learn": Contender(scikit_learn, ("scikit-learn",))},
    cases={"": {"count": 12_000, "learned": 15_000, "batch": 128}},
    tiny={"count": 128, "learned": 256, "batch": 64},
    quality=Quality("cross-entropy of held images after 15,000 images, three seeds", 0.1, seeds=3),
    work=classifiers.work(build),
)
