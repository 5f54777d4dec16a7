"""A grid world learned by Q-learning, compared with the exact solution.

    Q(s, a) ← Q(s, a) + n(s, a)^(-ω) (r + γ max_a' Q(s', a') - Q(s, a))

The agents know neither the map nor the probability of slipping. Their policies are compared with
the exact solution by value iteration, and with SARSA after as many steps, which evaluates its own
exploring policy instead. Watkins and Dayan (1992). Notes: A 4.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import Tensor

from chainrule.environments.grid_world import GridWorld
from chainrule.errors import InputError
from chainrule.models.reinforcement.q_learning import QLearning, check
from chainrule.models.reinforcement.sarsa import Sarsa
from chainrule.recipes.families.grid_world import (
    GridWorldRecipe,
    agent_means,
    drawn_world,
    optimum,
    quality,
)
from chainrule.runs.recipe import DataSummary, Metrics, Predictions
from chainrule.training import Progress, Record
from chainrule.training.loop import Trainer, run
from chainrule.training.randomness import mix
from chainrule.training.state import State

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class Recipe(GridWorldRecipe):
    """The cells of a map → tables of the value of going up, right, down, left."""

    reference: ClassVar[str] = "A 4"

    seed: int = 0
    """Determines every start, slip and random action."""
    agents: int = 20
    """Number of independent agents, each with its own table."""
    epochs: int = 40
    """Number of epochs; the greedy policies are evaluated after each."""
    epoch_steps: int = 1000
    """Steps of each agent per epoch."""
    epsilon: float = 0.5
    """Probability ε of a random action."""
    power: float = 0.55
    """Exponent ω of the learning rate n^(-ω), in (0.5, 1]."""

    def __post_init__(self) -> None:
        for name in ("agents", "epochs", "epoch_steps"):
            if (value := getattr(self, name)) < 1:
                raise InputError(f"`{name}` must be at least 1, got {value}")
        if not 0 <= self.seed < 2**63:
            raise InputError(f"`seed` must lie between 0 and 2⁶³, got {self.seed}")
        check(self.epsilon, self.power)

    def model(self, summary: DataSummary) -> QLearning:
        return QLearning(self.world(), self.agents)

    def fit(
        self, model: QLearning, data: GridWorld, folder: Path | None, device: str
    ) -> Generator[Progress]:
        return run(QLearningTrainer(model, data, self), folder)

    def record(self, model: QLearning, data: GridWorld, best: Tensor, epoch: int) -> Record:
        """The exact value of each agent's greedy policy at the start."""
        each = [quality(data, Q, best) for Q in model.Q]
        values = torch.tensor([found["value"] for found in each], dtype=torch.float64)
        distance = sum(found["distance"] for found in each) / len(each)
        return {
            "steps": epoch * self.epoch_steps,
            "train_distance": distance,
            **agent_means(values),
        }

    def evaluate(self, predictions: Predictions) -> Metrics:
        assert isinstance(predictions.model, QLearning)
        return {"test": mean_quality(predictions.model, predictions.data)}

    def baselines(self, data: GridWorld) -> dict[str, Metrics]:
        sarsa, best = Sarsa(data, self.agents), optimum(data)
        for epoch in range(1, self.epochs + 1):
            walk(sarsa, data, self, epoch)
        return {
            "SARSA, as many steps": {"test": mean_quality(sarsa, data)},
            "value iteration": {"test": quality(data, best, best)},
        }

    def figures(self, predictions: Predictions) -> "dict[str, Figure]":
        assert isinstance(predictions.model, QLearning)
        Q, title = predictions.model.Q[0], "values that the first agent has learned"
        return {"values": drawn_world(predictions.data, Q, title)}

    def curves(self, history: Sequence[Record]) -> "Figure":
        from chainrule.plots.environments import return_curve

        world = self.world()
        best = optimum(world).amax(-1)[world.start].item()
        return return_curve(history, "value", ("best possible", best))


class QLearningTrainer(Trainer):
    """One step of the loop is a whole epoch of walking."""

    loss_name = "train_distance"
    threads, checkpoint_seconds = 1, 20.0

    def __init__(self, model: QLearning, world: GridWorld, recipe: Recipe):
        self.recipe, self.model, self.world, self.best = recipe, model, world, optimum(world)
        self.device, self.epochs, self.steps = torch.device("cpu"), recipe.epochs, 1
        self.state = State(model, None)

    def start_epoch(self) -> None:
        """Nothing but the tables is needed."""

    def step(self, t: int) -> None:
        walk(self.model, self.world, self.recipe, t + 1)

    def finish_epoch(self) -> Record:
        return self.recipe.record(self.model, self.world, self.best, self.state.epoch + 1)

    def out_of_patience(self) -> str:
        return ""

    def finish(self) -> None:
        """The tables are as they were learned."""


def walk(model: QLearning, world: GridWorld, recipe: Recipe, epoch: int) -> None:
    """One epoch, whose chance follows from (seed, epoch)."""
    generator = torch.Generator().manual_seed(mix(recipe.seed, epoch))
    model.learn(world, recipe.epoch_steps, recipe.epsilon, generator, recipe.power)


def mean_quality(model: QLearning, world: GridWorld) -> dict[str, float]:
    """The figures of a table, averaged over the agents."""
    best = optimum(world)
    each = [quality(world, Q, best) for Q in model.Q]
    return {name: sum(found[name] for found in each) / len(each) for name in each[0]}
