"""Members of an ensemble trained in one program, all of whom must keep finite losses."""

import math
from collections.abc import Generator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from chainrule.errors import DivergenceError
from chainrule.models.feedforward.ensemble import Ensemble
from chainrule.runs.configuration import Configuration
from chainrule.runs.execute import learned
from chainrule.training import iterate_many
from chainrule.training.batched.run import BatchedProgress


def fit_members(
    configuration: Configuration, model: Ensemble, data: Any, folder: Path | None, places: range
) -> Generator[BatchedProgress]:
    """Train these members of an ensemble in place, in one program."""
    recipe = configuration.recipe
    train, task = learned(configuration, data)
    steps = iterate_many(
        [model.members[k] for k in places],
        train,
        tuple(data.validation),
        [replace(recipe.settings, seed=recipe.seed + k) for k in places],
        task,
        folder=folder,
        augment=recipe.augmentation(),
    )
    return unless_diverged(steps, places, recipe.settings.learning_rate)


def unless_diverged(
    steps: Generator[BatchedProgress], places: range, rate: float
) -> Generator[BatchedProgress]:
    """The progress of members, all of whom must keep finite losses."""
    with closing(steps):
        for now in steps:
            each = zip(places, now.members, strict=False)
            lost = [k for k, m in each if not math.isfinite(m["train_loss"])]
            if lost:
                raise DivergenceError(
                    f"members {', '.join(map(str, lost))} of the ensemble diverged; try a smaller "
                    f"`learning_rate` (now {rate:g}) or `clip_norm` 1"
                )
            yield now
