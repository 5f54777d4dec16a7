"""Activities on decision processes: what they show is what the library computes."""

import pytest
import torch

from chainrule.environments.grid_world import MAP, TEXTBOOK, GridWorld
from chainrule.errors import InputError
from chainrule.models.reinforcement import policy_iteration, value_iteration
from chainrule.studio.activities import cart_pole, grid_world
from chainrule.studio.activity import Json

ROWS = {"rows": list(TEXTBOOK)}


def close(shown: list[float], expected: torch.Tensor) -> bool:
    return torch.allclose(torch.tensor(shown).double(), expected, rtol=6e-3, atol=1e-4)


def test_each_step_of_value_iteration_is_one_sweep() -> None:
    world = GridWorld(MAP)
    V = torch.zeros(world.num_states).double()
    activity = grid_world.run({"rows": list(MAP)})
    for _ in range(5):
        assert close(next(activity).draw()["V"], V)
        V = world(V[None])[0]


@pytest.mark.parametrize("method", ["value-iteration", "policy-iteration"])
def test_planning_ends_at_the_optimum(method: str) -> None:
    world = GridWorld(TEXTBOOK)
    *_, last = grid_world.run(ROWS | {"method": method})
    shown = last.draw()
    assert shown["done"]
    assert close(shown["V"], policy_iteration.solve(world)[0])


def test_the_changes_are_those_of_the_library() -> None:
    *_, last = grid_world.run(ROWS)
    _, changes = value_iteration.solve(GridWorld(TEXTBOOK), grid_world.PRECISION)
    assert last.draw()["changes"] == pytest.approx(changes, rel=1e-3)


@pytest.mark.parametrize("method", ["q-learning", "sarsa"])
def test_a_walk_is_that_of_the_library(method: str) -> None:
    activity = grid_world.run(ROWS | {"method": method, "burst": 300, "seed": 3})
    next(activity)
    shown = activity.send(None).draw()
    world = GridWorld(TEXTBOOK)
    learner = grid_world.LEARNERS[method](world, start=world.start)
    learner.learn(world, 300, 0.2, torch.Generator().manual_seed(3))
    assert close(shown["Q"], learner.Q[0])
    assert shown["steps"] == 300
    assert len(shown["returns"]) == shown["episodes"] > 0


def test_a_return_is_the_sum_of_the_rewards_of_an_episode() -> None:
    chosen = {"rows": ["SG"], "method": "q-learning", "slip": 0.0, "epsilon": 1.0, "burst": 200}
    activity = grid_world.run(chosen | {"step_reward": 0.0})
    next(activity)
    assert set(activity.send(None).draw()["returns"]) == {1.0}


def test_the_walk_hears_changes() -> None:
    activity = grid_world.run(ROWS | {"method": "q-learning"})
    next(activity)
    activity.send({"burst": 50, "epsilon": 0.9})
    assert activity.send(None).draw()["steps"] == 50
    with pytest.raises(InputError, match="epsilon"):
        activity.send({"epsilon": 2.0})


@pytest.mark.parametrize(
    "chosen",
    [
        {},
        {"rows": ["...."]},
        {"rows": ["SG", "."]},
        {"rows": ["S?G"]},
        {"rows": ["S" + "." * 250 + "G"]},
        ROWS | {"slip": 1.5},
        ROWS | {"discount": 1.0},
        ROWS | {"method": "guessing"},
        ROWS | {"power": 0.3},
    ],
)
def test_settings_of_the_grid_world_are_checked(chosen: Json) -> None:
    with pytest.raises(InputError):
        next(grid_world.run(chosen))


def test_the_agent_learns_once_it_has_seen_enough() -> None:
    agent = cart_pole.Agent(cart_pole.Settings(width=8, exploration=40, epsilon=0.1))
    silent = cart_pole.WARM_UP // cart_pole.COPIES
    for _ in range(silent):
        agent.step()
    assert agent.updates == 0
    assert agent.epsilon == 0.1
    for _ in range(cart_pole.FOLLOW // cart_pole.UPDATES):
        agent.step()
    assert agent.updates == cart_pole.FOLLOW
    x = torch.randn(5, 4)
    assert torch.equal(agent.dqn(x), agent.dqn.target_network(x))  # Q⁻ has just followed
    assert len(agent.returns) == agent.episodes > 0


def test_cart_pole_repeats_with_its_seed() -> None:
    def after_ten() -> Json:
        activity = cart_pole.run({"seed": 5})
        for _ in range(11):
            view = next(activity)
        return view.draw()

    assert after_ten() == after_ten()


def test_the_shown_q_values_are_in_units_of_the_reward() -> None:
    agent = cart_pole.Agent(cart_pole.Settings(discount=0.9))
    x = torch.randn(3, 4)
    torch.testing.assert_close(agent.q(x), 10 * agent.dqn(x).detach())


def test_the_page_may_drive_the_cart() -> None:
    activity = cart_pole.run({"training": 0, "speed": 10})
    next(activity)
    activity.send({"driver": "you", "push": 0})
    for _ in range(3):
        shown = activity.send(None).draw()
    assert shown["action"] == 0
    assert shown["scores"]["you"]
    assert max(shown["scores"]["you"]) < 15  # always left: the pole falls soon
    with pytest.raises(InputError, match="push"):
        activity.send({"push": 2})


@pytest.mark.parametrize("chosen", [{"method": "ppo"}, {"width": 1}, {"training": 11}, {"rate": 1}])
def test_settings_of_cart_pole_are_checked(chosen: Json) -> None:
    with pytest.raises(InputError):
        next(cart_pole.run(chosen))
