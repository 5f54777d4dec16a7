"""Gradients of mini-batches as the training loop computes them."""

from typing import NamedTuple

import torch
from torch import Tensor

from chainrule.data.datasets.moons import sample
from chainrule.learning.tasks import CLASSIFICATION
from chainrule.models.feedforward.mlp import MLP
from chainrule.training import Settings
from chainrule.training.sources import Rows
from chainrule.training.trainer import NetworkTrainer, prepare


class Problem(NamedTuple):
    """A small network and its training problem, in double precision."""

    trainer: NetworkTrainer
    train: Rows

    def gradient(self, rows: Tensor) -> Tensor:
        """∇ of the mean loss of these examples, as a step of training computes it."""
        model, batch = self.trainer.state.model, self.train.gather(rows)
        model.zero_grad()
        self.trainer.accumulate_loss(batch, batch)
        return torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])

    def each(self) -> Tensor:
        """The gradients of single examples, one per row."""
        return torch.stack([self.gradient(row) for row in torch.arange(self.examples).split(1)])

    @property
    def examples(self) -> int:
        return len(self.train)


def problem(first: int, second: int, seed: int, class_weights: str = "none") -> Problem:
    """Two moons with that many examples of each class, before the first step."""
    points, labels = sample(max(20, 2 * first, 2 * second), 0.3, seed)
    rows = torch.cat([(labels == 0).nonzero()[:first, 0], (labels == 1).nonzero()[:second, 0]])
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = MLP(2, [4], 2, activation="tanh").double()
    train = Rows((points[rows].double(), labels[rows]))
    settings = Settings(seed=seed, class_weights=class_weights)
    spec = prepare(model, train, None, settings, CLASSIFICATION, torch.device("cpu"))
    return Problem(NetworkTrainer(model, spec), train)
