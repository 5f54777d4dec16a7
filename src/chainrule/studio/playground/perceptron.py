"""The perceptron, mistake by mistake, and its version space.

    on a mistake, y (wᵀ x + b) ≤ 0:   w ← w + y x,   b ← b + y
    V(S) = {(w, b) | y (wᵀ x + b) > 0 on S}

Up to its length (w, b) is an angle θ and an offset c: w / ‖w‖ = (cos θ, sin θ), c = b / ‖w‖. So
every line with its sides is a point of a map, and the version space is the set where the number of
mistakes is zero.
"""

import math
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from chainrule.data.splits import Split
from chainrule.models.connectionism.perceptron import perceptron_algorithm
from chainrule.studio.activity import Json, raster, rounded
from chainrule.studio.playground.learner import Array, Learner

PASSES = 200
SIDE = 140  # pixels of the map
SHOWN = 200  # last weights on it


class Perceptron(Learner):
    """Algorithm 1 on the training points, with a bias.

    Args:
        train: what is learned from.
        radius: of the square that shows the points.
    """

    def __init__(self, train: Split, radius: float):
        self.train, self.radius = train, radius
        self.course = perceptron_algorithm(*signed(train), passes=PASSES, history=True)

    @property
    def history(self) -> Float[Tensor, "steps weights"]:
        assert self.course.history is not None
        return self.course.history

    def step(self) -> None:
        """The next mistake."""
        if self.steps < self.course.mistakes:
            self.steps += 1
        if self.steps == self.course.mistakes:
            self.ended = self.course.reason

    def score(self, x: Float[Tensor, "points 2"]) -> Float[Tensor, " points"]:
        """wᵀ x + b with the weights of the present step."""
        v = self.history[self.steps]
        return x.double() @ v[:2] + v[2]

    def confidence(self, x: Float[Tensor, "points 2"]) -> Float[np.ndarray, " points"]:
        """One half on the line, 0 and 1 at a third of the radius from it."""
        length = self.history[self.steps, :2].norm().clamp_min(1e-12)
        return (0.5 + 1.5 * self.score(x) / (length * self.radius)).clamp(0, 1).numpy()

    def loss(self, split: Split) -> float | None:
        """The share of mistakes; a point on the line is one."""
        x, y = signed(split)
        return (self.score(x) * y <= 0).double().mean().item()

    def weights(self) -> list[Array]:
        v = self.history[self.steps]
        return [(v[:2] / v.norm().clamp_min(1e-12))[None].numpy()]

    def extras(self) -> Json:
        path = self.history[max(0, self.steps - SHOWN) : self.steps + 1]
        path = path[path[:, :2].norm(dim=1) > 0]
        places = torch.stack([path[:, 1].atan2(path[:, 0]), path[:, 2] / path[:, :2].norm(dim=1)])
        return {
            "mistake": self.last_mistake(),
            "version_space": self.version_space,
            "path": rounded(places.T.numpy()),
        }

    def last_mistake(self) -> list[float] | None:
        """The point that the last step learned from: the difference of the weights is y (x, 1)."""
        if not self.steps:
            return None
        change = self.history[self.steps] - self.history[self.steps - 1]
        return rounded((change[:2] * change[2]).numpy())

    @cached_property
    def version_space(self) -> Json:
        """Mistakes of every line on the training points, angle from -π to π, offset upwards."""
        reach = float(self.train.x.norm(dim=1).max()) / 2  # few lines farther out are good
        wrong = mistakes_of_lines(self.train, SIDE, reach)
        shown = raster(wrong / len(self.train.y), 0, 1)
        return {"mistakes": shown, "fewest": int(wrong.min()), "reach": reach}


def signed(split: Split) -> tuple[Tensor, Tensor]:
    """Labels 0 and 1 as -1 and +1."""
    return split.x, 2.0 * split.y - 1


def mistakes_of_lines(train: Split, side: int, reach: float) -> Int[np.ndarray, "offsets angles"]:
    """How many points every line gets wrong; the largest offset comes first."""
    x, y = (part.double() for part in signed(train))
    step = (2 * torch.arange(side, dtype=torch.float64) + 1) / side - 1
    angle, offset = math.pi * step, -reach * step
    along = x @ torch.stack([angle.cos(), angle.sin()])
    return np.stack([(y[:, None] * (along + c) <= 0).sum(0).numpy() for c in offset])
