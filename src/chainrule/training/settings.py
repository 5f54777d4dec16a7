"""Settings of a training run, whose fields are also the flags of the command line."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from torch.optim import Optimizer

from chainrule.arguments import checked
from chainrule.errors import InputError
from chainrule.learning.optimizers import check_optimizer
from chainrule.learning.schedules import check_schedule
from chainrule.registry import unknown

MOST_PARTS = 2**31 - 1  # in which a batch can be processed


@checked
@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything about a training run except model, data and task.

    >>> import chainrule as cr
    >>> settings = cr.Settings(epochs=2, optimizer="momentum", learning_rate=0.1)
    >>> history = cr.fit(
    ...     cr.models.MLP(2, [8], 2), cr.data.moons(), settings=settings, progress=False
    ... )
    >>> len(history)
    2
    """

    seed: int = 0
    """Seed of the initial weights, the order of the examples and every dropout mask."""
    epochs: int = 20
    """Passes over the training data."""
    batch_size: int = 128
    """Examples per update; the optimizer gd takes all of them."""
    sampling: str = "shuffle"
    """shuffle: every example once per epoch; replacement: each batch drawn independently."""
    optimizer: str | Callable[..., Optimizer] = "adam"
    """gd, sgd, momentum, nesterov, adagrad, rmsprop, adam, adamw or lion; in Python also a class of
    torch.optim or a factory that takes parameter groups."""
    learning_rate: float = 1e-3
    """Step size η, the peak of the schedule."""
    schedule: str | Callable[[int, int], float] = "constant"
    """constant, step, exponential, cosine, warm-up, warm-up-cosine, inverse-sqrt or one-cycle; in
    Python also a function (step, steps) that returns a factor of the learning rate."""
    final_rate: float = 0.0
    """Fraction of the learning rate that remains when the schedule has come down to zero."""
    beta2: float = 0.0
    """Decay of Adam's mean of squared gradients; 0: the optimizer's own default."""
    weight_decay: float = 0.0
    """μ of the ridge penalty ½ μ ‖W‖² on weights, not biases; decoupled for adamw and lion."""
    lasso: float = 0.0
    """λ of the lasso penalty λ ‖W‖₁ on weights, not biases."""
    ema_decay: float = 0.0
    """Decay of an exponential moving average of the weights, which is then kept; 0: none."""
    layer_decay: float = 1.0
    """Factor of the learning rate from each layer to the one before it; 1: one rate for all."""
    unfreeze_every: int = 0
    """Epochs after which one more layer learns, from the last to the first; 0: all from the
    start."""
    clip_norm: float = 0.0
    """Largest norm of the gradient; 0: no clipping."""
    accumulate: int = 1
    """Parts in which each batch is processed, to save memory."""
    class_weights: str = "none"
    """none, or balanced: every class has the same weight, however rare it is."""
    label_smoothing: float = 0.0
    """Share ε of each label that is spread evenly over all classes."""
    patience: int = 0
    """Stop after this many epochs without a better `monitor`, with the best weights; 0: never."""
    monitor: str = "loss"
    """What early stopping watches on the validation split: loss or a metric."""
    precision: str = "full"
    """full; mixed: bfloat16 products; or auto: mixed where device and network gain by it."""
    compile: bool = False
    """Compile the model with torch.compile: a minute of waiting, then faster steps."""
    threads: int = 0
    """CPU threads; 0 leaves the choice to the library."""
    checkpoint_seconds: float = 20.0
    """Longest time between two checkpoints."""

    def __post_init__(self) -> None:
        check_numbers(self, LEAST)
        for field in ("label_smoothing", "ema_decay", "beta2"):
            if getattr(self, field) >= 1:
                raise InputError(f"`{field}` must be below 1, got {getattr(self, field)}")
        if self.accumulate > MOST_PARTS:
            raise InputError(f"`accumulate` must be at most {MOST_PARTS}, got {self.accumulate}")
        if not 0 < self.layer_decay <= 1:
            raise InputError(
                f"`layer_decay` must be above 0 and at most 1, got {self.layer_decay:g}"
            )
        if self.final_rate > 1:
            raise InputError(f"`final_rate` must be at most 1, got {self.final_rate}")
        for what, name, known in (
            ("precision", self.precision, ("full", "mixed", "auto")),
            ("kind of class weights", self.class_weights, ("none", "balanced")),
            ("kind of sampling", self.sampling, ("shuffle", "replacement")),
        ):
            if name not in known:
                raise InputError(unknown(what, name, list(known)))
        check_optimizer(self.optimizer)
        check_schedule(self.schedule)


LEAST: Mapping[str, int] = {
    "seed": 0,
    "epochs": 1,
    "batch_size": 1,
    "accumulate": 1,
    "final_rate": 0,
    "beta2": 0,
    "weight_decay": 0,
    "lasso": 0,
    "ema_decay": 0,
    "clip_norm": 0,
    "unfreeze_every": 0,
    "label_smoothing": 0,
    "patience": 0,
    "threads": 0,
    "checkpoint_seconds": 0,
}


def check_numbers(settings: Any, least: Mapping[str, int | float]) -> None:
    """Refuse fields below their least value, a rate of zero and a seed of more than 63 bits."""
    for field, smallest in least.items():
        value = getattr(settings, field)
        if not (math.isfinite(value) and value >= smallest):
            raise InputError(f"`{field}` must be at least {smallest}, got {value}")
    rate = getattr(settings, "learning_rate", 1.0)
    if not (math.isfinite(rate) and rate > 0):
        raise InputError(f"`learning_rate` must be above 0, got {rate}")
    if getattr(settings, "seed", 0) >= 2**63:
        raise InputError(f"`seed` must be below 2⁶³, got {settings.seed}")
