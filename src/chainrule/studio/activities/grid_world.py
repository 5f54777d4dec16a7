"""A grid world: values and policies, planned with the model or learned by walking.

V ← T V,   (T V)(s) = max_a Σ_s' P (R + γ V(s'))                       value iteration
V_π = (I - γ P_π)⁻¹ R_π,   π ← greedy(V_π)                             policy iteration
Q(s, a) ← Q(s, a) + n^(-ω) (r + γ max_a' Q(s', a') - Q(s, a))          Q-learning; SARSA: Q(s', a')
"""

from collections import deque
from collections.abc import Generator
from dataclasses import dataclass
from typing import Annotated, Literal

import torch
from torch import Tensor

from chainrule.environments.grid_world import GridWorld
from chainrule.errors import InputError
from chainrule.models.reinforcement import QLearning, Sarsa
from chainrule.models.reinforcement.mdp import greedy
from chainrule.models.reinforcement.policy_iteration import improve, solve
from chainrule.models.reinforcement.value_iteration import stopping_threshold
from chainrule.studio.activity import Activity, Json, Range, View, read, rounded

LEARNERS = {"q-learning": QLearning, "sarsa": Sarsa}
PRECISION = 1e-4  # value iteration ends when its policy loses less than this in every state
MOST_CELLS = 200
TRAIL = 12  # cells
EPISODES = 500  # the curve shows the last ones


@dataclass(frozen=True)
class Settings:
    """The map and the method.

    Args:
        rows: the map: . ground, # wall, S start, G goal, X pit.
        slip: probability of moving at right angles.
        discount: γ.
        step_reward: of every step.
        method: how the values are found.
        epsilon: probability of a random action.
        power: ω of the learning rate n^(-ω).
        burst: steps of the learner between two views.
        seed: of the walk.
    """

    rows: Annotated[tuple[str, ...], Range(1, 20)]
    slip: Annotated[float, Range(0, 1)] = 0.2
    discount: Annotated[float, Range(0, 0.999)] = 0.95
    step_reward: Annotated[float, Range(-1, 1)] = -0.04
    method: Literal["value-iteration", "policy-iteration", "q-learning", "sarsa"] = (
        "value-iteration"
    )
    epsilon: Annotated[float, Range(0, 1)] = 0.2
    power: Annotated[float, Range(0.51, 1)] = 0.7
    burst: Annotated[int, Range(1, 500)] = 1
    seed: Annotated[int, Range(0, 2**31)] = 0


@dataclass(frozen=True)
class Change:
    """What may be changed while the agent walks."""

    epsilon: Annotated[float | None, Range(0, 1)] = None
    burst: Annotated[int | None, Range(1, 500)] = None


class WatchedWorld(GridWorld):
    """A grid world that remembers its last transition."""

    last: tuple[int, int, float] = (0, 0, 0.0)
    """s, s' and r."""

    def step(
        self, state: Tensor, action: Tensor, generator: torch.Generator
    ) -> tuple[Tensor, Tensor]:
        reached, reward = super().step(state, action, generator)
        self.last = (int(state), int(reached), float(reward))
        return reached, reward


def run(settings: Json) -> Activity:
    chosen = read(Settings, settings)
    if sum(map(len, chosen.rows)) > MOST_CELLS:
        raise InputError(f"a map on this page has at most {MOST_CELLS} cells")
    world = WatchedWorld(chosen.rows, chosen.slip, chosen.discount, chosen.step_reward)
    if chosen.method == "value-iteration":
        yield from value_iteration(world)
    elif chosen.method == "policy-iteration":
        yield from policy_iteration(world)
    else:
        yield from walk(world, chosen)


def value_iteration(world: GridWorld) -> Generator[View, Json | None, None]:
    """One sweep a step."""
    V = torch.zeros(world.num_states, dtype=torch.float64)
    threshold = stopping_threshold(PRECISION, world.discount)
    changes: list[float] = []
    while not changes or changes[-1] >= threshold:
        yield planned(world, V, greedy(world.q(V)), {"changes": rounded(changes)})
        swept = world(V[None])[0]
        changes.append((swept - V).abs().max().item())
        V = swept
    yield planned(world, V, greedy(world.q(V)), {"changes": rounded(changes), "done": True})


def policy_iteration(world: GridWorld) -> Generator[View, Json | None, None]:
    """One policy a step, evaluated exactly."""
    policy = torch.zeros(world.num_states, dtype=torch.int64)
    changed: list[int] = []
    while not changed or changed[-1]:
        V = world.evaluate(policy)
        yield planned(world, V, policy, {"changes": list(changed)})
        better = improve(world.q(V), policy)
        changed.append(int((better != policy).sum()))
        policy = better
    yield planned(world, V, policy, {"changes": changed, "done": True})


def planned(world: GridWorld, V: Tensor, policy: Tensor, more: Json) -> View:
    """Values and arrows of a planner."""
    content = cells(world, world.q(V), V, policy) | more
    return View(content.copy, waiting=True)


def walk(world: WatchedWorld, chosen: Settings) -> Generator[View, Json | None, None]:
    """A learner walks; a step is `burst` of its steps."""
    learner = Walk(world, chosen)
    epsilon, burst = chosen.epsilon, chosen.burst
    while True:
        message = yield View(learner.draw, waiting=True)
        if message is None:
            learner.walk(burst, epsilon)
        else:
            change = read(Change, message)
            epsilon = epsilon if change.epsilon is None else change.epsilon
            burst = burst if change.burst is None else change.burst


class Walk:
    """A learner in its world, and what its episodes earned.

    Args:
        world: where it walks.
        chosen: method, rate and seed.
    """

    def __init__(self, world: WatchedWorld, chosen: Settings):
        self.world, self.power = world, chosen.power
        self.model = LEARNERS[chosen.method](world, start=world.start)
        self.generator = torch.Generator().manual_seed(chosen.seed)
        self.terminal = world.terminal_states().tolist()
        self.optimum = solve(world)[0][world.start]
        self.returns: deque[float] = deque(maxlen=EPISODES)
        self.trail: deque[int] = deque([world.start], maxlen=TRAIL)
        self.episodes, self.steps, self.earned = 0, 0, 0.0

    def walk(self, steps: int, epsilon: float) -> None:
        for _ in range(steps):
            if self.terminal[self.trail[-1]]:
                self.trail = deque([self.world.start], maxlen=TRAIL)
            self.model.learn(self.world, 1, epsilon, self.generator, self.power)
            _, reached, reward = self.world.last
            self.trail.append(reached)
            self.steps, self.earned = self.steps + 1, self.earned + reward
            if self.terminal[reached]:
                self.returns.append(self.earned)
                self.episodes, self.earned = self.episodes + 1, 0.0

    def draw(self) -> Json:
        Q, world = self.model.Q[0], self.world
        value = world.evaluate(greedy(Q))[world.start]
        return cells(world, Q, Q.amax(-1), greedy(Q)) | {
            "trail": [world.cells[s] for s in self.trail],
            "episodes": self.episodes,
            "steps": self.steps,
            "returns": rounded(list(self.returns)),
            "value": rounded(value),
            "optimum": rounded(self.optimum),
        }


def cells(world: GridWorld, Q: Tensor, V: Tensor, policy: Tensor) -> Json:
    """What is known of every cell that is not a wall."""
    return {
        "rows": list(world.rows),
        "cells": world.cells,
        "Q": rounded(Q, 3),
        "V": rounded(V, 3),
        "policy": policy.tolist(),
        "start": rounded(V[world.start]),
    }
