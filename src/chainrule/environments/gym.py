"""Environments of gymnasium with discrete actions and vector observations.

    episode = function of (its seed, its actions)

gymnasium cannot save an environment, but an episode is determined by its seed and actions. So a
checkpoint holds those of the current episodes, and restoring replays them. gymnasium is an optional
dependency, imported in this file only. Towers et al. (2024).
"""

import difflib
import warnings
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from chainrule.arguments import Count, checked
from chainrule.environments.environment import Transition
from chainrule.errors import InputError

MAX_SEED = 2**31


@checked
class GymEnvironments:
    """Copies of one gymnasium environment, stepped one after another.

        episode = function of (its seed, its actions)

    Args:
        name: Name of the environment in gymnasium's registry.
        num_envs: Number of copies.
        generator: Source of the episodes' seeds.

    >>> import torch
    >>> from chainrule.environments import GymEnvironments
    >>> environments = GymEnvironments("CartPole-v1", 2, torch.Generator())
    >>> environments.observation.shape
    torch.Size([2, 4])
    """

    def __init__(self, name: str, num_envs: Count, generator: torch.Generator):
        self.envs = [make(name) for _ in range(num_envs)]
        self.first_action = int(self.envs[0].action_space.start)
        self.seeds = self.draw_seeds(generator)
        self.actions: list[list[int]] = [[] for _ in range(num_envs)]
        self.current = np.stack([self.reset(i) for i in range(num_envs)])

    @property
    def observation(self) -> Float[Tensor, "envs n"]:
        return torch.from_numpy(self.current.copy())

    def step(self, action: Int[Tensor, " envs"], generator: torch.Generator) -> Transition:
        found = np.empty_like(self.current)
        outcome = np.empty((len(self.envs), 3), np.float32)
        new_seeds = self.draw_seeds(generator)
        for i, choice in enumerate(action.tolist()):
            found[i], *outcome[i] = self.play(i, choice)
            if outcome[i, 1:].any():
                self.seeds[i], self.actions[i] = new_seeds[i], []
                self.current[i] = self.reset(i)
            else:
                self.current[i] = found[i]
        reward, terminated, truncated = torch.from_numpy(outcome).unbind(1)
        return Transition(torch.from_numpy(found), reward, terminated > 0, truncated > 0)

    def draw_seeds(self, generator: torch.Generator) -> list[int]:
        """A seed for the next episode of each copy."""
        return torch.randint(MAX_SEED, (len(self.envs),), generator=generator).tolist()

    def reset(self, i: int) -> np.ndarray:
        """The first observation of an episode."""
        return np.asarray(self.envs[i].reset(seed=self.seeds[i])[0], np.float32)

    def play(self, i: int, action: int) -> tuple[np.ndarray, float, bool, bool]:
        """One action of one copy, recorded for checkpoints."""
        self.actions[i].append(action)
        observation, reward, terminated, truncated, _ = self.envs[i].step(
            action + self.first_action
        )
        return np.asarray(observation, np.float32), float(reward), terminated, truncated

    def state(self) -> dict[str, Tensor]:
        longest = max(map(len, self.actions))
        padded = [row + [-1] * (longest - len(row)) for row in self.actions]
        return {"seeds": torch.tensor(self.seeds), "actions": torch.tensor(padded).long()}

    def restore(self, state: dict[str, Tensor]) -> None:
        self.seeds = state["seeds"].tolist()
        for i, row in enumerate(state["actions"].tolist()):
            self.actions[i], self.current[i] = [], self.reset(i)
            for action in row[: row.index(-1) if -1 in row else len(row)]:
                self.current[i], *_ = self.play(i, action)


def make(name: str, **options: Any) -> Any:
    """One gymnasium environment that a value network can learn; an error says why it cannot."""
    try:
        import gymnasium
    except ImportError:
        raise InputError(
            "this environment needs the package gymnasium: pip install 'chainrule[rl]'"
        ) from None
    if ":" in name:  # gymnasium would import the module before the colon
        raise InputError(unknown(name, list(gymnasium.registry)))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # gymnasium warns if a newer version exists
            world = gymnasium.make(name, **options)
    except gymnasium.error.UnregisteredEnv:
        raise InputError(unknown(name, list(gymnasium.registry))) from None
    except (gymnasium.error.Error, ImportError) as error:
        raise InputError(f"gymnasium cannot make the environment {name!r}: {error}") from None
    check_spaces(world, name)
    return world


def check_spaces(world: Any, name: str) -> None:
    """Raise an error unless actions are discrete and observations are vectors."""
    from gymnasium.spaces import Box, Discrete

    if not isinstance(world.action_space, Discrete):
        raise InputError(
            f"{name} takes actions from {world.action_space}; a value network chooses among "
            "finitely many, so use an environment with a Discrete action space"
        )
    observed = world.observation_space
    if not isinstance(observed, Box) or len(observed.shape) != 1:
        raise InputError(
            f"{name} has observations {observed}; expected a vector of numbers, a Box with one axis"
        )


def unknown(name: str, known: list[str]) -> str:
    """The message for a name that does not exist; gymnasium has too many to list."""
    lower = {one.lower(): one for one in known}
    near = difflib.get_close_matches(name.lower(), lower, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(lower[one] for one in near)}?" if near else "try CartPole-v1"
    return f"gymnasium has no environment named {name!r}; {hint}"


def spaces(name: str) -> tuple[int, int]:
    """The size of an observation and the number of actions."""
    world = make(name)
    sizes = world.observation_space.shape[0], int(world.action_space.n)
    world.close()
    return sizes


def frames(name: str, seed: int, actions: list[int], shown: list[int]) -> list[np.ndarray]:
    """Rendered images of an episode at the given steps; none if the environment cannot render."""
    try:
        world = make(name, render_mode="rgb_array")
        world.reset(seed=seed)
        images = [world.render()]
        for action in actions:
            world.step(action + int(world.action_space.start))
            images.append(world.render())
    except Exception:  # rendering may lack a library or a display
        return []
    world.close()
    return [np.asarray(images[t]) for t in shown]
