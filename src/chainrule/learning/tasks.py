"""What training minimizes and what is reported: a loss, and metrics beside it."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from torch import Tensor

from chainrule.learning import losses, metrics
from chainrule.learning.losses import Loss
from chainrule.learning.metrics import GREATER_IS_BETTER, SMALLER_IS_BETTER, Metric

Augment = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Objective:
    """Loss and metrics of (output, target …), where a split is a tuple (input …, target …).

    loss: one value per example.
    metrics: one number for a whole split.
    training_loss: minimized in place of `loss` where the training split has other targets than the
        validation split, such as a teacher's answers or weights.
    inputs: how many tensors of a split go into the model; the others are targets.
    augment: changes the first input of a training batch; it draws from torch's generator.
    greater, smaller: the metrics of which more, or less, is better; early stopping must know.
    """

    loss: Loss = losses.cross_entropy
    metrics: Mapping[str, Metric] = field(default_factory=dict)
    training_loss: Loss | None = None
    inputs: int = 1
    augment: Augment | None = None
    greater: frozenset[str] = GREATER_IS_BETTER
    smaller: frozenset[str] = SMALLER_IS_BETTER

    @property
    def minimized(self) -> Loss:
        return self.training_loss or self.loss

    def cost(self, monitor: str, value: float) -> float:
        """The value with its sign turned where more is better; a NaN is never better."""
        if math.isnan(value):
            return math.inf
        return -value if monitor in self.greater else value


CLASSES = Objective(losses.cross_entropy, metrics.CLASSIFICATION)
TWO_CLASSES = Objective(losses.cross_entropy, metrics.TWO_CLASSES)
NUMBERS = Objective(losses.squared, metrics.REGRESSION)
PIXELS = Objective(losses.pixel_cross_entropy, metrics.SEGMENTATION)
