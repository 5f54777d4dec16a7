"""The points of the playground: training and held-out points, and the square that shows them."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from chainrule.data.datasets import blobs, circles, moons, spirals, xor
from chainrule.data.readers.arrays import arrays
from chainrule.data.splits import Split, Splits
from chainrule.errors import InputError
from chainrule.studio.playground.settings import Settings

FEWEST_TO_SPLIT = 20  # own points; fewer are all learned from
OWN_RADIUS = 1.2  # of the square in which points are drawn
NOISY = {"moons": moons, "circles": circles, "spirals": spirals, "xor": xor}


@dataclass(frozen=True)
class Plane:
    """The points, and the square around them.

    Args:
        train: what is learned from.
        test: what is held out: the validation and the test split of the data set.
        center: of the square.
        radius: half of its side.
    """

    train: Split
    test: Split
    center: tuple[float, float]
    radius: float

    def grid(self, side: int) -> Float[Tensor, "points 2"]:
        """Centers of side × side pixels, row by row from the top left."""
        step = (2 * torch.arange(side) + 1) / side - 1
        x_1, x_2 = self.center[0] + self.radius * step, self.center[1] - self.radius * step
        return torch.stack([x_1.repeat(side), x_2.repeat_interleave(side)], 1)


def plane(chosen: Settings) -> Plane:
    """The points of an experiment."""
    if chosen.data == "own":
        train, test = own_points(chosen)
        return Plane(train, test, (0.0, 0.0), OWN_RADIUS)
    train, test = two_parts(toy_problem(chosen))
    every = torch.cat([train.x, test.x])
    low, high = every.amin(0), every.amax(0)
    center = ((low + high) / 2).tolist()
    return Plane(train, test, (center[0], center[1]), 0.55 * float((high - low).max()))


def toy_problem(chosen: Settings) -> Splits:
    """A data set of the course."""
    if chosen.data == "blobs":
        return blobs.load(None, chosen.seed, chosen.num_samples, margin=chosen.margin)
    return NOISY[chosen.data].load(None, chosen.seed, chosen.num_samples, chosen.noise)


def two_parts(data: Splits) -> tuple[Split, Split]:
    """The training split, and the two others together."""
    x, y = (torch.cat(pair) for pair in zip(data.validation, data.test, strict=True))
    return data.train, Split(x, y)


def own_points(chosen: Settings) -> tuple[Split, Split]:
    """The user's points; from twenty on some of them are held out."""
    if any(len(point) != 3 or point[2] not in (0, 1) for point in chosen.points):
        raise InputError("expected every entry of `points` as [x1, x2, class] with class 0 or 1")
    if len({point[2] for point in chosen.points}) < 2:
        raise InputError("expected points of both classes; add one of each")
    x, y = [point[:2] for point in chosen.points], [int(point[2]) for point in chosen.points]
    if len(x) >= FEWEST_TO_SPLIT:
        return two_parts(arrays(x, y, chosen.seed))
    return Split(torch.tensor(x), torch.tensor(y)), Split(torch.zeros(0, 2), torch.zeros(0).long())
