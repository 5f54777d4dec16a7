"""Environments of gymnasium with discrete actions and observations that are vectors.

    episode = function of (its seed, its actions)

gymnasium cannot save an environment, but that is its contract: so a checkpoint holds the seeds and
actions of the episodes that are under way, and restoring plays them again. gymnasium is an extra of
this package and imported in this file only. Towers et al. (2024).
"""

import difflib
import warnings
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from chainrule.environments.environment import Transition
from chainrule.errors import InputError

SEEDS = 2**31


class GymEnvironments:
    """Copies of one gymnasium environment, stepped one after another."""

    def __init__(self, name: str, copies: int, generator: torch.Generator):
        self.copies = [make(name) for _ in range(copies)]
        self.first = int(self.copies[0].action_space.start)
        self.seeds = self.draw(generator)
        self.actions: list[list[int]] = [[] for _ in range(copies)]
        self.shown = np.stack([self.begin(i) for i in range(copies)])

    @property
    def observation(self) -> Float[Tensor, "copies n"]:
        return torch.from_numpy(self.shown.copy())

    def step(self, action: Int[Tensor, " copies"], generator: torch.Generator) -> Transition:
        found = np.empty_like(self.shown)
        outcome = np.empty((len(self.copies), 3), np.float32)
        fresh = self.draw(generator)
        for i, choice in enumerate(action.tolist()):
            found[i], *outcome[i] = self.play(i, choice)
            if outcome[i, 1:].any():
                self.seeds[i], self.actions[i] = fresh[i], []
                self.shown[i] = self.begin(i)
            else:
                self.shown[i] = found[i]
        reward, terminated, truncated = torch.from_numpy(outcome).unbind(1)
        return Transition(torch.from_numpy(found), reward, terminated > 0, truncated > 0)

    def draw(self, generator: torch.Generator) -> list[int]:
        """A seed for each copy, should it begin anew."""
        return torch.randint(SEEDS, (len(self.copies),), generator=generator).tolist()

    def begin(self, i: int) -> np.ndarray:
        """The first observation of an episode."""
        return np.asarray(self.copies[i].reset(seed=self.seeds[i])[0], np.float32)

    def play(self, i: int, action: int) -> tuple[np.ndarray, float, bool, bool]:
        """One action of one copy, noted down."""
        self.actions[i].append(action)
        observation, reward, terminated, truncated, _ = self.copies[i].step(action + self.first)
        return np.asarray(observation, np.float32), float(reward), terminated, truncated

    def state(self) -> dict[str, Tensor]:
        longest = max(map(len, self.actions))
        padded = [row + [-1] * (longest - len(row)) for row in self.actions]
        return {"seeds": torch.tensor(self.seeds), "actions": torch.tensor(padded).long()}

    def restore(self, state: dict[str, Tensor]) -> None:
        self.seeds = state["seeds"].tolist()
        for i, row in enumerate(state["actions"].tolist()):
            self.actions[i], self.shown[i] = [], self.begin(i)
            for action in row[: row.index(-1) if -1 in row else len(row)]:
                self.shown[i], *_ = self.play(i, action)


def make(name: str, **options: Any) -> Any:
    """One gymnasium environment that a value network can learn, or a reason why not."""
    try:
        import gymnasium
    except ImportError:
        raise InputError(
            "environments need the package gymnasium; install it with: pip install 'chainrule[rl]'"
        ) from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a newer version of an environment exists
            world = gymnasium.make(name, **options)
    except gymnasium.error.UnregisteredEnv:
        raise InputError(unknown(name, list(gymnasium.registry))) from None
    except (gymnasium.error.Error, ImportError) as error:
        raise InputError(f"gymnasium cannot make the environment {name!r}: {error}") from None
    check_spaces(world, name)
    return world


def check_spaces(world: Any, name: str) -> None:
    """Discrete actions, observations of one axis."""
    from gymnasium.spaces import Box, Discrete

    if not isinstance(world.action_space, Discrete):
        raise InputError(
            f"{name} wants actions from {world.action_space}; a value network chooses among "
            "finitely many, so take an environment whose action space is Discrete"
        )
    observed = world.observation_space
    if not isinstance(observed, Box) or len(observed.shape) != 1:
        raise InputError(
            f"{name} shows {observed}; expected a vector of numbers (a Box with one axis)"
        )


def unknown(name: str, known: list[str]) -> str:
    """One sentence for a name that does not exist; gymnasium knows too many to list."""
    lower = {one.lower(): one for one in known}
    near = difflib.get_close_matches(name.lower(), lower, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(lower[one] for one in near)}?" if near else "try CartPole-v1"
    return f"gymnasium has no environment named {name!r}; {hint}"


def spaces(name: str) -> tuple[int, int]:
    """Numbers in an observation, and how many actions there are."""
    world = make(name)
    sizes = world.observation_space.shape[0], int(world.action_space.n)
    world.close()
    return sizes


def frames(name: str, seed: int, actions: list[int], shown: list[int]) -> list[np.ndarray]:
    """Pictures of an episode at the given steps; none where the environment cannot draw itself."""
    try:
        world = make(name, render_mode="rgb_array")
        world.reset(seed=seed)
        drawn = [world.render()]
        for action in actions:
            world.step(action + int(world.action_space.start))
            drawn.append(world.render())
    except Exception:  # whatever the drawing needs is not here: a library, a screen
        return []
    world.close()
    return [np.asarray(drawn[t]) for t in shown]
