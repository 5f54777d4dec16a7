"""A grid world solved by value iteration.

    V ← max_a Σ_s' P(s' | s, a) (R(s, a, s') + γ V(s'))

until the bound guarantees that the greedy policy loses less than ε. The result is checked against
policy iteration. Bellman (1957). Notes: A 4.
"""

from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from chainrule.environments.grid_world import DIRECTIONS, GridWorld
from chainrule.models.reinforcement import policy_iteration, value_iteration
from chainrule.models.reinforcement.value_iteration import ValueIteration
from chainrule.recipes.families.grid_world import GridWorldRecipe, drawn_world, optimum, quality
from chainrule.runs.recipe import DataSummary, Metrics, Predictions, one_step
from chainrule.training import Progress

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class Recipe(GridWorldRecipe):
    """The cells of a map → the value of going up, right, down, left."""

    reference: ClassVar[str] = "A 4"

    seed: int = 0
    """Without effect: the algorithm is deterministic."""
    epsilon: float = 1e-6
    """Largest loss of the greedy policy in any cell."""

    def model(self, summary: DataSummary) -> ValueIteration:
        return ValueIteration(summary.inputs, len(DIRECTIONS))

    def fit(
        self, model: ValueIteration, data: GridWorld, folder: Path | None, device: str
    ) -> Generator[Progress]:
        changes = model.solve(data, self.epsilon)
        found = quality(data, model.Q, optimum(data)) | {"sweeps": float(len(changes))}
        yield one_step(found, f"the bound was met after {len(changes)} sweeps")

    def evaluate(self, predictions: Predictions) -> Metrics:
        model, data = predictions.model, predictions.data
        assert isinstance(model, ValueIteration)
        return {"test": quality(data, model.Q, optimum(data))}

    def baselines(self, data: GridWorld) -> dict[str, Metrics]:
        V, _, rounds = policy_iteration.solve(data)
        Q = data.q(V)
        return {"policy iteration": {"test": quality(data, Q, Q) | {"rounds": float(rounds)}}}

    def figures(self, predictions: Predictions) -> "dict[str, Figure]":
        from chainrule.plots.environments import contraction

        model, data = predictions.model, predictions.data
        assert isinstance(model, ValueIteration)
        _, changes = value_iteration.solve(data, self.epsilon)
        return {
            "values": drawn_world(data, model.Q, "value of every cell, and the best way"),
            "contraction": contraction(np.array(changes), data.discount),
        }
