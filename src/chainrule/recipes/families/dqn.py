"""What the recipes of deep Q-learning share: an arena to learn in, figures and pictures."""

from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.models.feedforward.mlp import MLP
from chainrule.recipes.families.dqn_settings import DeepQSettings
from chainrule.recipes.families.dqn_training import (
    HORIZON,
    TEST,
    VALIDATION,
    Make,
    Policy,
    greedily,
    learn,
    play,
)
from chainrule.runs.recipe import Experiment, Facts, Figures, Record, Task
from chainrule.training import Progress
from chainrule.training.randomness import mix

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROLL_OUT = 3  # mixed into the seed of the episode that is drawn


@dataclass(frozen=True)
class Arena:
    """How to make copies of an environment, what they show, what one can do in them."""

    make: Make
    observations: int
    actions: tuple[str, ...]


@dataclass(frozen=True)
class Episode:
    """One episode of one copy: how it began, all it showed, what was done and earned."""

    start: dict[str, Tensor]
    observations: Tensor
    actions: list[int]
    earned: float


@dataclass(frozen=True, kw_only=True)
class Playing(DeepQSettings, Experiment[nn.ModuleList, Arena]):
    """Agents with a network each; a recipe says in which arena they learn."""

    def facts(self, data: Arena) -> Facts:
        examples = {
            "train": self.epochs * self.epoch_steps,
            "validation": self.episodes,
            "test": self.test_episodes,
        }
        return Facts(Task((data.observations,), data.actions), examples)

    def network(self, task: Task) -> nn.Module:
        """One agent's values; recipes with another network say so here."""
        return MLP(task.inputs, self.hidden, task.outputs)

    def model(self, task: Task) -> nn.ModuleList:
        return nn.ModuleList(self.network(task) for _ in range(self.agents))

    def learn(
        self, model: nn.ModuleList, data: Arena, folder: Path | None, device: str
    ) -> Generator[Progress]:
        if device not in ("auto", "cpu"):
            raise InputError(f"deep Q-learning runs on the CPU; leave out --device {device}")
        return learn(list(model), data.make, self, folder)

    def measure(self, model: nn.ModuleList, data: Arena) -> Figures:
        policy = greedily(list(model))
        return {
            "validation": figures(self.returns(policy, data, VALIDATION)),
            "test": figures(self.returns(policy, data, TEST)),
        }

    def returns(self, policy: Policy, data: Arena, split: int) -> Tensor:
        """(agents, episodes) of a split, whose episodes are its own."""
        episodes = self.test_episodes if split == TEST else self.episodes
        return play(policy, data.make, self.agents, episodes, mix(self.seed, -1 - split))

    def compare(self, data: Arena) -> dict[str, Figures]:
        generator = torch.Generator().manual_seed(self.seed)

        def at_random(observation: Tensor) -> Tensor:
            shape = observation.shape[:-1]
            return torch.randint(len(data.actions), shape, generator=generator)

        return {"random actions": {"test": figures(self.returns(at_random, data, TEST))}}

    def compare_model(self, model: nn.ModuleList, data: Arena) -> dict[str, Figures]:
        """Every agent by itself, where there are several."""
        if len(model) == 1:
            return {}
        found = self.returns(greedily(list(model)), data, TEST)
        return {f"agent {k + 1}": {"test": figures(row[None])} for k, row in enumerate(found)}

    def curves(self, history: list[Record]) -> "Figure":
        from chainrule.plots.environments import return_curve

        return return_curve(history, "return")

    def episode(self, model: nn.ModuleList, data: Arena) -> Episode:
        """A greedy episode of the first agent, from the start that is drawn."""
        return roll_out(model[0], data.make, mix(self.seed, -1 - ROLL_OUT))


def figures(returns: Tensor) -> dict[str, float]:
    """Mean over all episodes, and their standard deviation."""
    return {"return": returns.mean().item(), "deviation": returns.std(correction=0).item()}


@torch.no_grad()
def roll_out(network: nn.Module, make: Make, seed: int) -> Episode:
    """One greedy episode, sight by sight."""
    generator = torch.Generator().manual_seed(seed)
    worlds, policy = make(1, generator), greedily([network])
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
