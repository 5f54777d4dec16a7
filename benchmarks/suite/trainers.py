"""Classifiers by the trainers that people use: Lightning, skorch, fastai, Keras."""

import os
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.suite.classifier import Classifier, epochs
from benchmarks.suite.contract import Ready


def lightning(given: Classifier) -> Ready:
    """A LightningModule under a Trainer without logger, bar and checkpoints."""
    import logging

    import lightning.pytorch as pl

    for name in ("lightning.pytorch", "lightning.fabric"):
        logging.getLogger(name).setLevel(logging.ERROR)

    class Module(pl.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.network = given.plain()

        def training_step(self, batch: tuple[Tensor, Tensor], _: int) -> Tensor:
            return F.cross_entropy(self.network(batch[0]), batch[1])

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return torch.optim.Adam(self.parameters(), given.rate)

        def on_train_epoch_start(self) -> None:
            self.began = time.perf_counter()

        def on_train_epoch_end(self) -> None:
            self.seconds = time.perf_counter() - self.began

    def started(given: Classifier) -> tuple[nn.Module, Callable[[], float]]:
        module = Module()
        dataset = torch.utils.data.TensorDataset(given.data.x, given.data.y)
        loader = torch.utils.data.DataLoader(dataset, given.batch, shuffle=True)

        def epoch() -> float:
            trainer = pl.Trainer(
                max_epochs=1,
                accelerator="cpu",
                logger=False,
                enable_checkpointing=False,
                enable_progress_bar=False,
                enable_model_summary=False,
                default_root_dir=os.devnull,
            )
            trainer.fit(module, loader)
            return module.seconds

        return module.network, epoch

    return epochs(given, started)


def skorch(given: Classifier) -> Ready:
    """NeuralNetClassifier, partial_fit for an epoch."""
    from skorch import NeuralNetClassifier

    def started(given: Classifier) -> tuple[nn.Module, Callable[[], object]]:
        network = NeuralNetClassifier(
            given.plain(),
            criterion=nn.CrossEntropyLoss,
            optimizer=torch.optim.Adam,
            lr=given.rate,
            batch_size=given.batch,
            max_epochs=1,
            train_split=None,
            iterator_train__shuffle=True,
            verbose=0,
        ).initialize()
        return network.module_, lambda: network.partial_fit(given.data.x, given.data.y)

    return epochs(given, started)


def fastai(given: Classifier) -> Ready:
    """A Learner on PyTorch's loaders; its training part alone, without the validation after it."""
    from fastai.callback.core import Callback
    from fastai.data.core import DataLoaders
    from fastai.learner import Learner
    from fastai.optimizer import Adam

    class Watch(Callback):
        def before_train(self) -> None:
            self.began = time.perf_counter()

        def after_train(self) -> None:
            self.seconds = time.perf_counter() - self.began

    def started(given: Classifier) -> tuple[nn.Module, Callable[[], float]]:
        dataset = torch.utils.data.TensorDataset(given.data.x, given.data.y)
        loader = torch.utils.data.DataLoader(dataset, given.batch, shuffle=True)
        first = torch.utils.data.TensorDataset(given.data.x[:1], given.data.y[:1])
        one = torch.utils.data.DataLoader(first)
        model, watch = given.plain(), Watch()
        learner = Learner(
            DataLoaders(loader, one),
            model,
            nn.CrossEntropyLoss(),
            opt_func=partial(Adam, sqr_mom=0.999, eps=1e-8),
            wd=0.0,
            cbs=[watch],
        )

        def epoch() -> float:
            with learner.no_logging():
                learner.fit(1, given.rate)
            return watch.seconds

        return model, epoch

    return epochs(given, started)


def keras(given: Classifier) -> Ready:
    """Sequential.fit on arrays; images with channels last, as Keras likes them."""
    import keras as k

    assert given.keras is not None
    data = given.data

    def arrays(x: Tensor) -> Any:
        return (x.permute(0, 2, 3, 1) if given.images else x).contiguous().numpy()

    x, y = arrays(data.x), data.y.numpy()

    class Watch(k.callbacks.Callback):
        def on_epoch_begin(self, epoch: int, logs: object = None) -> None:
            self.began = time.perf_counter()

        def on_epoch_end(self, epoch: int, logs: object = None) -> None:
            self.seconds = time.perf_counter() - self.began

    def started() -> Any:
        model = given.keras()
        loss = k.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(k.optimizers.Adam(given.rate), loss)
        for weight, value in zip(model.trainable_weights, given.plain().parameters(), strict=True):
            weight.assign(in_keras(value.detach()).numpy())
        return model

    model = started()

    def unit() -> float:
        watch = Watch()
        few = slice(given.count)
        model.fit(x[few], y[few], given.batch, epochs=1, verbose=0, callbacks=[watch])
        return watch.seconds

    def quality(seed: int) -> float:
        k.utils.set_random_seed(seed)  # of torch, too
        fresh = started()
        fresh.fit(x, y, given.learned.batch, epochs=1, verbose=0)
        return float(fresh.evaluate(arrays(data.held_x), data.held_y.numpy(), verbose=0))

    trained = sum(
        int(w.value.numel() if hasattr(w.value, "numel") else w.value.size)
        for w in model.trainable_weights
    )
    return Ready(unit, quality, trained)


def in_keras(weight: Tensor) -> Tensor:
    """A matrix or a kernel of filters with the outputs last."""
    axes = {2: (1, 0), 4: (2, 3, 1, 0)}.get(weight.ndim, (0,))
    return weight.permute(axes).contiguous()
