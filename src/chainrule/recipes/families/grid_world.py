"""Shared by the recipes on grid worlds: the map, exact metrics, and figures."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import Tensor

from chainrule.environments.grid_world import DIRECTIONS, MAP, GridWorld
from chainrule.models.reinforcement.mdp import MDP, greedy
from chainrule.runs.recipe import BaseRecipe, DataSummary, only_gradients

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class GridWorldRecipe(BaseRecipe):
    """The map and its rewards."""

    unsupported: ClassVar[Mapping[str, str]] = only_gradients("learns a table of values") | {
        "predict": "its table holds the values of one map"
    }

    rows: tuple[str, ...] = MAP
    """Rows of the map: . ground, # wall, S start, G goal (+1), X trap (-1)."""
    slip: float = 0.2
    """Probability of slipping to either side of the intended direction."""
    discount: float = 0.97
    """Discount factor γ, below 1."""
    cost: float = -0.01
    """Reward of every step."""

    def world(self) -> GridWorld:
        return GridWorld(self.rows, self.slip, self.discount, self.cost)

    def data(self, folder: Path | None) -> GridWorld:
        return self.world()

    def summarize(self, data: GridWorld) -> DataSummary:
        return DataSummary(
            (data.num_states,), tuple(DIRECTIONS), examples={"states": data.num_states}
        )


def quality(world: GridWorld, Q: Tensor, best: Tensor) -> dict[str, float]:
    """Exact value of the greedy policy at the start, its regret, and ‖Q - Q*‖∞."""
    value = world.evaluate(greedy(Q))[world.start].item()
    return {
        "value": value,
        "regret": best.amax(-1)[world.start].item() - value,
        "distance": (Q - best).abs().max().item(),
    }


def optimum(process: MDP) -> Tensor:
    """Q*, by policy iteration."""
    from chainrule.models.reinforcement.policy_iteration import solve

    return process.q(solve(process)[0])


def drawn_world(world: GridWorld, Q: Tensor, title: str) -> "Figure":
    """The map with V(s) = max_a Q(s, a) and the greedy actions."""
    from chainrule.plots.environments import grid_values

    ways = world.on_map(greedy(Q).double()).nan_to_num(0.0).long()
    return grid_values(world.rows, world.on_map(Q.amax(-1)).numpy(), ways.numpy(), title)


def agent_means(values: Tensor) -> dict[str, int | float]:
    """Mean over the agents, and their 10 % and 90 % quantiles."""
    low, high = values.quantile(torch.tensor([0.1, 0.9], dtype=values.dtype)).tolist()
    return {
        "validation_value": values.mean().item(),
        "validation_low": low,
        "validation_high": high,
    }
