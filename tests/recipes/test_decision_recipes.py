"""Recipes that learn by trying: they learn, they can be killed, and the clock is no end."""

import json
import subprocess
import sys
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from chainrule.environments.cart_pole import CartPoles
from chainrule.environments.environment import Transition
from chainrule.environments.gym import GymEnvironments
from chainrule.errors import InputError
from chainrule.models.feedforward.residual_network import ResidualNetwork
from chainrule.models.reinforcement.dqn import Batch
from chainrule.recipes.families.dqn import roll_out
from chainrule.recipes.families.dqn_training import (
    TEST,
    VALIDATION,
    DQNTrainer,
    act,
    greedy_policy,
    initial_state,
    play,
)
from chainrule.recipes.reinforcement import (
    cartpole_dqn,
    dqn,
    gridworld_q_learning,
    gridworld_value_iteration,
)
from chainrule.registry import find
from chainrule.runs.configuration import Configuration
from chainrule.runs.predictions import Predictions
from chainrule.runs.recipe import DataSummary
from chainrule.runs.run import Run
from chainrule.training.loop import run as run_loop
from chainrule.training.randomness import mix

CARTS = DataSummary((4,), ("left", "right"))

QUICK: dict[str, Any] = {
    "hidden": (16,),
    "epochs": 3,
    "epoch_steps": 320,
    "warm_up": 100,
    "batch_size": 32,
    "episodes": 4,
    "test_episodes": 5,
    "checkpoint_seconds": 0.0,
}
RECIPES: dict[str, Any] = {
    "cartpole-dqn": cartpole_dqn.Recipe(agents=2, **QUICK),
    "dqn": dqn.Recipe(env="CartPole-v1", **QUICK),
    "gridworld-q-learning": gridworld_q_learning.Recipe(agents=3, epochs=4, epoch_steps=50),
    "gridworld-value-iteration": gridworld_value_iteration.Recipe(),
}


class Corridor:
    """Three cells in a row; stepping right (1) pays 1 and ends after the last, left pays nothing.

    With `ending` the end is a real one, else only the clock's.
    """

    def __init__(self, ending: bool, copies: int, generator: torch.Generator):
        self.ending, self.place = ending, torch.zeros(copies, dtype=torch.int64)

    @property
    def observation(self) -> Tensor:
        return torch.eye(4)[self.place]

    def step(self, action: Tensor, generator: torch.Generator) -> Transition:
        moved = self.place + action
        over = moved == 3
        self.place = torch.where(over, 0, moved)
        nothing = torch.zeros_like(over)
        ended = (over, nothing) if self.ending else (nothing, over)
        return Transition(torch.eye(4)[moved], action.float(), *ended)

    def state(self) -> dict[str, Tensor]:
        return {"place": self.place}

    def restore(self, state: dict[str, Tensor]) -> None:
        self.place = state["place"]


def trained(folder: Path, name: str, recipe: Any, broken_off: int = 0) -> bytes:
    """The weights of a run, which may be broken off after so many reports and resumed."""
    run = Run.create(find("recipes", name), Configuration(recipe), folder)
    if broken_off:
        steps = run.train("cpu")
        list(islice(steps, broken_off))
        steps.close()
        run = Run.load(folder)
    list(run.train("cpu"))
    return (folder / "model.safetensors").read_bytes()


@pytest.mark.parametrize("name", RECIPES)
def test_a_run_broken_off_ends_in_the_same_weights(name: str, tmp_path: Path) -> None:
    pytest.importorskip("gymnasium")
    straight = trained(tmp_path / "straight", name, RECIPES[name])
    for reports in (1, 2):
        folder = tmp_path / f"broken-{reports}"
        assert trained(folder, name, RECIPES[name], reports) == straight
    lines = [
        (tmp_path / f / "metrics.jsonl").read_text().splitlines() for f in ("straight", folder)
    ]
    figures = [[without_time(json.loads(line)) for line in each] for each in lines]
    assert figures[0] == figures[1]


def without_time(record: dict[str, float]) -> dict[str, float]:
    return {name: value for name, value in record.items() if name != "seconds"}


def test_a_killed_process_ends_in_the_same_weights(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "chainrule.cli.main"]
    flags = "--hidden 16 --epochs 4 --epoch-steps 480 --warm-up 100 --episodes 3 --test-episodes 3"
    train = ["train", "cartpole-dqn", *flags.split(), "--checkpoint-seconds", "0", "--quiet"]
    subprocess.run([*command, *train, "--out", str(tmp_path / "straight")], check=True)
    process = subprocess.Popen([*command, *train, "--out", str(tmp_path / "killed")])
    last = tmp_path / "killed" / "checkpoints" / "last.safetensors"
    while not last.exists() and process.poll() is None:
        pass
    process.kill()
    assert process.wait() != 0, "the run ended before it could be killed"
    subprocess.run([*command, "resume", str(tmp_path / "killed"), "--quiet"], check=True)
    ours, theirs = (tmp_path / f / "model.safetensors" for f in ("killed", "straight"))
    assert ours.read_bytes() == theirs.read_bytes()


@pytest.mark.parametrize("ending", [True, False])
def test_the_clock_is_no_end_of_the_future(ending: bool) -> None:
    """What is remembered as terminated decides what is bootstrapped."""
    settings = cartpole_dqn.Recipe(**QUICK)
    network = settings.agent(CARTS)
    trial = initial_state([network], partial(Corridor, ending), settings)
    for t in range(60):
        act(trial, settings, t, torch.Generator().manual_seed(t))
    remembered = Batch(*(part[:, : len(trial.memory)] for part in trial.memory.storage))
    last = remembered.next_observation.argmax(-1) == 3
    assert last.any() and torch.equal(remembered.terminated, last & ending)
    future = trial.dqn.targets(remembered, 0.5) - remembered.reward
    assert (future[last] == 0).all() == ending


def test_deep_q_learning_learns_the_values_of_a_corridor() -> None:
    settings = cartpole_dqn.Recipe(
        hidden=(32,), epochs=6, epoch_steps=960, warm_up=100, discount=0.5, exploration=1.0
    )
    for method in ("dqn", "double-dqn"):
        torch.manual_seed(0)
        network = settings.agent(CARTS)
        chosen = replace(settings, method=method)
        for _ in run_loop(DQNTrainer([network], partial(Corridor, True), chosen), None):
            pass
        values = network(torch.eye(4)[:3]).detach() / (1 - 0.5)
        exact = torch.tensor([[0.875, 1.75], [0.75, 1.5], [0.5, 1.0]])
        torch.testing.assert_close(values, exact, rtol=0, atol=0.1)


def test_another_network_of_the_library_learns_as_well() -> None:
    settings = cartpole_dqn.Recipe(**QUICK | {"agents": 2})
    networks = [ResidualNetwork(4, 16, 2, 2) for _ in range(2)]
    before = networks[0].output.weight.clone()
    steps = run_loop(DQNTrainer(networks, CartPoles, settings), None)
    records = [p.record for p in steps if p.record]
    assert len(records) == 3 and not torch.equal(networks[0].output.weight, before)


def test_the_best_weights_are_kept_and_measured_on_other_episodes() -> None:
    recipe = cartpole_dqn.Recipe(**QUICK | {"epochs": 6})
    arena = recipe.data(None)
    model = recipe.model(recipe.summarize(arena))
    found = [p.record for p in recipe.fit(model, arena, None, "cpu") if p.record]
    best = max(record["validation_return"] for record in found)
    metrics = recipe.evaluate(Predictions(recipe, model, arena))
    assert metrics["validation"]["return"] == pytest.approx(best)
    assert mix(0, -1 - VALIDATION) != mix(0, -1 - TEST)
    policy = greedy_policy(list(model))
    splits = [play(policy, arena.make, 1, 5, mix(0, -1 - s)) for s in (VALIDATION, TEST)]
    assert not torch.equal(*splits)


def test_several_agents_are_shown_one_by_one(tmp_path: Path) -> None:
    trained(tmp_path / "run", "cartpole-dqn", RECIPES["cartpole-dqn"])
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    each = [result["compared"][f"agent {k}"]["test"]["return"] for k in (1, 2)]
    assert result["metrics"]["test"]["return"] == pytest.approx(sum(each) / 2)
    assert 8 < result["compared"]["random actions"]["test"]["return"] < 60
    assert Run.load(tmp_path / "run").evaluate() == result["metrics"]
    pictures = {path.name for path in (tmp_path / "run").glob("*.png")}
    assert pictures == {"episode.png", "learning.png"}


def test_a_roll_out_is_one_greedy_episode() -> None:
    class Right(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x[..., :2] * 0 + torch.tensor([0.0, 1.0])

    found = roll_out(Right(), partial(Corridor, True), seed=0)
    assert found.actions == [1, 1, 1] and found.earned == 3
    assert found.observations.argmax(-1).tolist() == [0, 1, 2, 3]


def test_gymnasiums_carts_and_ours_are_learned_alike() -> None:
    pytest.importorskip("gymnasium")
    policy = greedy_policy([cartpole_dqn.Recipe(**QUICK).agent(CARTS)])
    makers = (CartPoles, partial(GymEnvironments, "CartPole-v1"))
    ours, theirs = (play(policy, make, 1, 200, 0).mean() for make in makers)
    assert abs(ours - theirs) < 0.2 * ours


def test_q_learning_comes_close_to_the_best_value() -> None:
    recipe = gridworld_q_learning.Recipe(
        rows=("S..G", ".#.X", "...."), agents=10, epochs=8, epoch_steps=1500
    )
    world = recipe.data(None)
    model = recipe.model(recipe.summarize(world))
    records = [p.record for p in recipe.fit(model, world, None, "cpu") if p.record]
    metrics = recipe.evaluate(Predictions(recipe, model, world))["test"]
    assert 0 <= metrics["regret"] < 0.01 and metrics["distance"] < 0.3
    assert records[-1]["validation_value"] == pytest.approx(metrics["value"])
    assert records[0]["train_distance"] > records[-1]["train_distance"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"discount": 1.0}, r"γ, must lie in \[0, 1\)"),
        ({"method": "triple-dqn"}, "no method named 'triple-dqn'"),
        ({"epsilon": 1.5}, "`epsilon` is a share from 0 to 1"),
        ({"memory": 3}, "`memory` must hold a step of every copy"),
        ({"agents": 0}, "`agents` must be at least 1"),
        ({"learning_rate": 0.0}, "`learning_rate` must be above 0"),
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        cartpole_dqn.Recipe(**wrong)


def test_another_device_is_refused() -> None:
    recipe = cartpole_dqn.Recipe(**QUICK)
    arena = recipe.data(None)
    model = recipe.model(recipe.summarize(arena))
    with pytest.raises(InputError, match="runs on the CPU"):
        recipe.fit(model, arena, None, "cuda")
