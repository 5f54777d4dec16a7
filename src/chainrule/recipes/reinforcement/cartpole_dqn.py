"""Cart-pole balancing by deep Q-learning.

Deep double Q-learning with a replay buffer and a target network, in many copies of gymnasium's
CartPole-v1 at once. An episode that is truncated at 500 steps is not terminal: its last state is
bootstrapped. Notes: A 4.

Mnih et al. (2015), Nature 518; van Hasselt, Guez and Silver (2016), AAAI.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from chainrule.environments.cart_pole import ACTIONS, NAMES, TAU, CartPoles
from chainrule.recipes.families.dqn import Arena, DQNRecipe
from chainrule.runs.recipe import Predictions, Published

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class Recipe(DQNRecipe):
    """Position, speed, angle and its speed → 128 → 128 → the values of left and right."""

    reference: ClassVar[str] = "A 4"
    published: ClassVar[tuple[Published, ...]] = (
        Published("test return", 500.0, "RL Baselines3 Zoo, DQN, 50k steps, one run"),
    )

    def data(self, folder: Path | None) -> Arena:
        return Arena(CartPoles, len(NAMES), ACTIONS)

    def figures(self, predictions: Predictions) -> "dict[str, Figure]":
        from chainrule.plots.environments import cart_pole_strip

        found = self.episode(predictions)
        title = f"a greedy episode, return {found.earned:g}"
        return {"episode": cart_pole_strip(found.observations.numpy(), TAU, title)}
