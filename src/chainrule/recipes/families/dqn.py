"""Shared by the recipes of deep Q-learning: environments, metrics and figures."""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.models.feedforward.mlp import MLP
from chainrule.recipes.families.dqn_settings import DQNSettings
from chainrule.recipes.families.dqn_training import (
    HORIZON,
    TEST,
    VALIDATION,
    DQNTrainer,
    Make,
    Policy,
    greedy_policy,
    play,
)
from chainrule.runs.recipe import EVERYTHING, BaseRecipe, DataSummary, Metrics, Predictions
from chainrule.training import Progress, Record
from chainrule.training.loop import run
from chainrule.training.randomness import mix

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROLL_OUT = 3  # mixed into the seed of the episode that is drawn


@dataclass(frozen=True)
class Arena:
    """A constructor of environments, the size of their observations, the names of their actions."""

    make: Make
    observations: int
    actions: tuple[str, ...]


@dataclass(frozen=True)
class Episode:
    """One episode: its initial state, observations, actions and return."""

    start: dict[str, Tensor]
    observations: Tensor
    actions: list[int]
    earned: float


@dataclass(frozen=True, kw_only=True)
class DQNRecipe(DQNSettings, BaseRecipe):
    """Agents with a network each, in an environment that the recipe chooses."""

    unsupported: ClassVar[Mapping[str, str]] = dict.fromkeys(
        (*EVERYTHING, "predict"), "its agents learn by trial in an environment, not from a data set"
    )

    def summarize(self, data: Arena) -> DataSummary:
        examples = {
            "train": self.epochs * self.epoch_steps,
            "validation": self.episodes,
            "test": self.test_episodes,
        }
        return DataSummary((data.observations,), data.actions, examples=examples)

    def agent(self, summary: DataSummary) -> nn.Module:
        """The network of one agent."""
        return MLP(summary.inputs, self.hidden, summary.outputs)

    def model(self, summary: DataSummary) -> nn.ModuleList:
        return nn.ModuleList(self.agent(summary) for _ in range(self.agents))

    def fit(
        self, model: nn.ModuleList, data: Arena, folder: Path | None, device: str
    ) -> Generator[Progress]:
        if device not in ("auto", "cpu"):
            raise InputError(f"deep Q-learning runs on the CPU; leave out `device` {device}")
        return run(DQNTrainer(list(model), data.make, self), folder)

    def evaluate(self, predictions: Predictions) -> Metrics:
        model, data = predictions.model, predictions.data
        assert isinstance(model, nn.ModuleList)
        policy = greedy_policy(list(model))
        return {
            "validation": return_metrics(self.returns(policy, data, VALIDATION)),
            "test": return_metrics(self.test_returns(predictions)),
        }

    def test_returns(self, predictions: Predictions) -> Tensor:
        """(agents, episodes): returns of the test episodes, played once."""
        model, data = predictions.model, predictions.data
        assert isinstance(model, nn.ModuleList)
        policy = greedy_policy(list(model))
        return predictions.once("returns", lambda: self.returns(policy, data, TEST))

    def returns(self, policy: Policy, data: Arena, split: int) -> Tensor:
        """(agents, episodes): returns of the episodes of a split."""
        episodes = self.test_episodes if split == TEST else self.episodes
        return play(policy, data.make, self.agents, episodes, mix(self.seed, -1 - split))

    def baselines(self, data: Arena) -> dict[str, Metrics]:
        generator = torch.Generator().manual_seed(self.seed)

        def at_random(observation: Tensor) -> Tensor:
            shape = observation.shape[:-1]
            return torch.randint(len(data.actions), shape, generator=generator)

        return {"random actions": {"test": return_metrics(self.returns(at_random, data, TEST))}}

    def breakdown(self, predictions: Predictions) -> dict[str, Metrics]:
        """Every agent by itself, where there are several."""
        found = self.test_returns(predictions)
        if len(found) == 1:
            return {}
        return {
            f"agent {k + 1}": {"test": return_metrics(row[None])} for k, row in enumerate(found)
        }

    def curves(self, history: Sequence[Record]) -> "Figure":
        from chainrule.plots.environments import return_curve

        return return_curve(history, "return")

    def episode(self, predictions: Predictions) -> Episode:
        """A greedy episode of the first agent."""
        model, make = predictions.model, predictions.data.make
        assert isinstance(model, nn.ModuleList)
        return roll_out(model[0], make, mix(self.seed, -1 - ROLL_OUT))


def return_metrics(returns: Tensor) -> dict[str, float]:
    """Mean over all episodes, and their standard deviation."""
    return {"return": returns.mean().item(), "deviation": returns.std(correction=0).item()}


@torch.no_grad()
def roll_out(network: nn.Module, make: Make, seed: int) -> Episode:
    """One greedy episode with all its observations."""
    generator = torch.Generator().manual_seed(seed)
    worlds, policy = make(1, generator), greedy_policy([network])
    start, seen = worlds.state(), [worlds.observation[0]]
    actions: list[int] = []
    earned = 0.0
    for _ in range(HORIZON):
        action = policy(worlds.observation[None])
        actions.append(int(action))
        step = worlds.step(action.flatten(), generator)
        seen.append(step.observation[0])
        earned += step.reward.item()
        if step.ended.item():
            break
    return Episode(start, torch.stack(seen), actions, earned)
