"""Any environment of gymnasium with discrete actions, learned by deep Q-learning.

    chainrule train dqn --env CartPole-v1

Observations must be vectors. The settings are those of `cartpole-dqn`; harder environments need
more epochs and a larger replay buffer. Requires gymnasium, an optional dependency. Notes: A 4.

Mnih et al. (2015), Nature 518; Towers et al. (2024), gymnasium.
"""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from chainrule.environments.gym import GymEnvironments, frames, spaces
from chainrule.recipes.families.dqn import Arena, DQNRecipe
from chainrule.runs.recipe import Predictions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PICTURES = 8  # of an episode


@dataclass(frozen=True, kw_only=True)
class Recipe(DQNRecipe):
    """Observation → hidden layers → the value of every action."""

    reference: ClassVar[str] = "A 4"

    env: str
    """Name of the environment, such as CartPole-v1."""
    copies: int = 8
    updates: int = 2

    def data(self, folder: Path | None) -> Arena:
        observations, actions = spaces(self.env)
        names = tuple(map(str, range(actions)))
        return Arena(partial(GymEnvironments, self.env), observations, names)

    def figures(self, predictions: Predictions) -> "dict[str, Figure]":
        """Frames where the environment can draw itself, else what it showed."""
        from chainrule.plots.environments import evenly_spaced, film_strip, observation_curves

        found = self.episode(predictions)
        title = f"a greedy episode of {self.env}, return {found.earned:g}"
        shown = evenly_spaced(len(found.observations), PICTURES)
        pictures = frames(self.env, int(found.start["seeds"][0]), found.actions, shown)
        if pictures:
            return {"episode": film_strip(pictures, [f"step {t}" for t in shown], title)}
        return {"episode": observation_curves(found.observations.numpy(), title)}
