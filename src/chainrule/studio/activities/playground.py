"""The playground: a model learns to tell two classes of points apart, before one's eyes."""

import time
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Float

from chainrule.data.splits import Split
from chainrule.models.feedforward import MLP
from chainrule.nn.regions import plane_regions
from chainrule.studio.activity import Activity, Json, View, raster, read, rounded
from chainrule.studio.playground.learner import Learner
from chainrule.studio.playground.networks import Networks, Phase
from chainrule.studio.playground.perceptron import Perceptron
from chainrule.studio.playground.points import Plane, plane
from chainrule.studio.playground.script import as_command, as_python
from chainrule.studio.playground.settings import Change, Settings

SIDE = 120  # pixels of the decision surface
UNIT_SIDE = 30  # pixels of the map of a hidden unit
MOST_RECORDS = 300  # points of a curve
NETWORKS = ("logistic-regression", "mlp", "residual-network", "ensemble")


def run(settings: Json) -> Activity:
    chosen = read(Settings, settings)
    experiment = Experiment(chosen)
    while True:
        idle = not experiment.playing or bool(experiment.learner.ended)
        message = yield View(experiment.draw, waiting=idle)
        if message is None:
            experiment.step()
        else:
            experiment.change(read(Change, message))


class Experiment:
    """A model, its points, its curves, and how fast it is shown.

    Args:
        chosen: the settings of the page.
    """

    def __init__(self, chosen: Settings):
        self.chosen, self.plane = chosen, plane(chosen)
        self.learner = learner(chosen, self.plane)
        self.playing, self.speed, self.regions = chosen.playing, chosen.speed, chosen.regions
        self.stepped = 0.0
        self.curves = Curves(self.learner, self.plane)

    def step(self) -> None:
        """One step, not before it is due."""
        if self.speed:
            time.sleep(max(0.0, min(1.0, self.stepped + 1 / self.speed - time.monotonic())))
        self.stepped = time.monotonic()
        self.learner.step()
        self.curves.record()

    def change(self, wanted: Change) -> None:
        """What the page changed; another optimizer, rate or decay acts on the present weights."""
        for name in ("playing", "speed", "regions"):
            if (value := getattr(wanted, name)) is not None:
                setattr(self, name, value)
        if isinstance(self.learner, Networks):
            now = self.learner.phases[-1]
            given = {
                name: getattr(wanted, name) for name in Phase.__annotations__ if name != "steps"
            }
            phase = replace(now, **{k: v for k, v in given.items() if v is not None})
            if phase != now:
                self.learner.change(replace(phase, steps=0))

    def draw(self) -> Json:
        learner, plane = self.learner, self.plane
        return {
            "step": learner.steps,
            "epoch": self.epoch,
            "ended": learner.ended,
            "center": list(plane.center),
            "radius": plane.radius,
            "train": points(plane.train, learner),
            "test": points(plane.test, learner),
            "surface": raster(self.surface(), 0, 1),
            "units": self.unit_maps(),
            "weights": [rounded(matrix, 3) for matrix in learner.weights()],
            "curves": self.curves.drawn(),
            "losses": [self.curves.loss(split) for split in (plane.train, plane.test)],
            "regions": self.polygons(),
            "python": as_python(self.chosen, learner),
            "command": as_command(self.chosen, learner),
            **learner.extras(),
        }

    def surface(self) -> Float[np.ndarray, "rows columns"]:
        """The confidence in every pixel of the square."""
        return self.learner.confidence(self.plane.grid(SIDE)).reshape(SIDE, SIDE)

    @property
    def epoch(self) -> float | None:
        """Passes over the training points; None for models without batches."""
        if not isinstance(self.learner, Networks):
            return None
        return round(self.learner.steps / self.learner.steps_per_epoch, 2)

    def unit_maps(self) -> list[Json]:
        """Every hidden unit on the square, zero in the middle of the scale."""
        maps = []
        for layer in self.learner.units(self.plane.grid(UNIT_SIDE)):
            largest = np.abs(layer).max(0, keepdims=True).clip(1e-9)
            shown = (layer / largest).T.reshape(-1, UNIT_SIDE, UNIT_SIDE)
            maps.append(raster(shown, -1, 1))
        return maps

    def polygons(self) -> list[Any] | None:
        """The corners of every linear region of a ReLU network; None where there are none."""
        model = getattr(self.learner, "model", None)
        if not (self.regions and isinstance(model, MLP) and self.chosen.activation == "relu"):
            return None
        origin, directions = torch.tensor(self.plane.center), torch.eye(2)
        found = plane_regions(list(model.layers), origin, directions, self.plane.radius)  # type: ignore[arg-type]
        return [rounded((polygon + origin).numpy().ravel(), 3) for polygon in found.polygons]


class Curves:
    """Losses by step; where there are too many, every second one is dropped.

    Args:
        learner: what learns.
        plane: its points.
    """

    def __init__(self, learner: Learner, plane: Plane):
        self.learner, self.plane = learner, plane
        self.every, self.records = 1, [(0, self.loss(plane.train), self.loss(plane.test))]

    def loss(self, split: Split) -> float | None:
        return self.learner.loss(split) if len(split.y) else None

    def record(self) -> None:
        step = self.learner.steps
        if step % self.every or step <= self.records[-1][0]:
            return
        self.records.append((step, self.loss(self.plane.train), self.loss(self.plane.test)))
        if len(self.records) > MOST_RECORDS:
            self.every *= 2
            self.records = [record for record in self.records if record[0] % self.every == 0]

    def drawn(self) -> list[list[Any]]:
        """Steps, training losses, test losses."""
        steps, train, test = zip(*self.records, strict=True)
        return [list(steps), short(train), short(test)]


def short(values: tuple[float | None, ...]) -> list[float | None]:
    return [None if value is None else float(f"{value:.4g}") for value in values]


def learner(chosen: Settings, plane: Plane) -> Learner:
    """The model of the experiment."""
    if chosen.model == "perceptron":
        return Perceptron(plane.train, plane.radius)
    if chosen.model in NETWORKS:
        return Networks(chosen, plane.train)
    from chainrule.studio.playground.reference import Reference  # scikit-learn is slow to import

    return Reference(chosen, plane.train)


def points(split: Split, learner: Learner) -> Json:
    """Coordinates, classes, and which points are on the wrong side."""
    wrong = learner.wrong(split) if len(split.y) else np.zeros(0, bool)
    return {
        "x": rounded(split.x.numpy(), 3),
        "y": split.y.tolist(),
        "wrong": wrong.nonzero()[0].tolist(),
    }
