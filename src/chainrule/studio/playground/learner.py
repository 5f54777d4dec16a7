"""What every model of the playground can do."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float
from torch import Tensor

from chainrule.data.splits import Split
from chainrule.studio.activity import Json

Array = np.ndarray


class Learner(ABC):
    """A model that learns step by step, or is fitted at once.

    Args:
        steps: made so far.
        ended: why there are no more, or empty.
    """

    steps: int = 0
    ended: str = ""

    @abstractmethod
    def step(self) -> None:
        """One step of learning; none after the last."""

    @abstractmethod
    def confidence(self, x: Float[Tensor, "points 2"]) -> Float[np.ndarray, " points"]:
        """From 0, surely class 0, to 1, surely class 1; for most models a probability."""

    def loss(self, split: Split) -> float | None:
        """What learning lowers, on a whole split; None where there is no such number."""
        return None

    def units(self, x: Float[Tensor, "points 2"]) -> Sequence[Array]:
        """The outputs of the hidden units, one array (points, units) per layer."""
        return ()

    def weights(self) -> Sequence[Array]:
        """The connections between the layers, each (units above, units below)."""
        return ()

    def extras(self) -> Json:
        """What only this kind of model has to show."""
        return {}

    def wrong(self, split: Split) -> Bool[np.ndarray, " points"]:
        """Which points are on the wrong side."""
        return (self.confidence(split.x) > 0.5) != split.y.numpy().astype(bool)
