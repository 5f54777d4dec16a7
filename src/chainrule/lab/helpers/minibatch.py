"""Gradients of mini-batches as the training loop computes them."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from chainrule.data.datasets.moons import sample
from chainrule.learning.tasks import CLASSES
from chainrule.models.feedforward.mlp import MLP
from chainrule.training import Settings
from chainrule.training.loop import share_of_loss
from chainrule.training.spec import Job, prepare


class Problem(NamedTuple):
    """A small network and its training problem, in double precision."""

    model: nn.Module
    job: Job

    def gradient(self, rows: Tensor) -> Tensor:
        """∇ of the mean loss of these examples, as a step of training computes it."""
        self.model.zero_grad()
        share_of_loss(self.job, rows, rows)
        return torch.cat([p.grad.flatten() for p in self.model.parameters() if p.grad is not None])

    def each(self) -> Tensor:
        """The gradients of single examples, one per row."""
        return torch.stack([self.gradient(row) for row in torch.arange(self.examples).split(1)])

    @property
    def examples(self) -> int:
        return len(self.job.train[0])


def problem(first: int, second: int, seed: int, class_weights: str = "none") -> Problem:
    """Two moons with that many examples of each class, before the first step."""
    points, labels = sample(max(20, 2 * first, 2 * second), 0.3, seed)
    rows = torch.cat([(labels == 0).nonzero()[:first, 0], (labels == 1).nonzero()[:second, 0]])
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = MLP(2, [4], 2, activation="tanh").double()
    train = (points[rows].double(), labels[rows])
    settings = Settings(seed=seed, class_weights=class_weights)
    return Problem(model, prepare(model, train, None, settings, CLASSES, torch.device("cpu")))
