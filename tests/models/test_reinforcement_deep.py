"""Deep Q-learning by hand, and environments beside gymnasium's own."""

import math

import pytest
import torch

from chainrule.environments import gym
from chainrule.environments.cart_pole import MAX_STEPS, CartPoles, move, out_of_bounds
from chainrule.environments.gym import GymEnvironments
from chainrule.errors import InputError
from chainrule.models.feedforward.mlp import MLP
from chainrule.models.feedforward.residual_network import ResidualNetwork
from chainrule.models.reinforcement.double_dqn import DoubleDQN
from chainrule.models.reinforcement.dqn import DQN, Batch, ReplayBuffer
from chainrule.models.reinforcement.mdp import explore


def draw(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def linear(*rows: list[float]) -> torch.nn.Module:
    """A network without hidden layers whose values are W s."""
    network = MLP(len(rows[0]), [], len(rows))
    state = {"layers.0.weight": torch.tensor(rows), "layers.0.bias": torch.zeros(len(rows))}
    network.load_state_dict(state)
    return network


BATCH = Batch(
    observation=torch.tensor([[1.0, 0.0], [0.0, 1.0]]),
    action=torch.tensor([0, 1]),
    reward=torch.tensor([1.0, 2.0]),
    next_observation=torch.tensor([[0.0, 1.0], [1.0, 0.0]]),
    terminated=torch.tensor([False, True]),
)


def test_targets_and_losses_by_hand() -> None:
    newer, older = linear([1.0, 5.0], [2.0, 3.0]), linear([10.0, 20.0], [30.0, 40.0])
    # Q⁻((0, 1)) = (20, 40); the newer network prefers the first action there.
    single, double = DQN(newer, older), DoubleDQN(newer, older)
    assert single.targets(BATCH, 0.5).tolist() == [1 + 0.5 * 40, 2.0]
    assert double.targets(BATCH, 0.5).tolist() == [1 + 0.5 * 20, 2.0]
    # Q(s, a) = 1 and 3.
    assert single.losses(BATCH, 0.5).tolist() == [0.5 * 20**2, 0.5 * 1**2]


def test_gradients_reach_the_newer_network_only_and_the_older_follows() -> None:
    dqn = DQN(MLP(2, [8], 2), MLP(2, [8], 2))
    dqn.losses(BATCH, 0.9).sum().backward()
    assert all(p.grad is not None for p in dqn.network.parameters())
    assert all(p.grad is None for p in dqn.target_network.parameters())
    x = torch.randn(3, 2)
    assert not torch.equal(dqn.target_network(x), dqn.network(x))
    dqn.update_target()
    assert torch.equal(dqn.target_network(x), dqn.network(x))


def test_any_network_of_the_library_can_be_the_value_function() -> None:
    dqn = DoubleDQN(ResidualNetwork(2, 8, 2, 2))
    assert dqn.losses(BATCH, 0.9).shape == (2,)


def test_the_memory_keeps_the_last_steps_and_comes_back() -> None:
    memory = ReplayBuffer(num_agents=2, capacity=5, observation_size=1)
    for t in range(4):
        value = torch.full((2, 2, 1), float(t))
        value[1] += 100
        flat = value[..., 0]
        memory.add(Batch(value, flat.long(), flat, value + 1, flat > 2))
    assert len(memory) == 5
    found = memory.sample(500, draw(0))
    assert set(found.reward[0].tolist()) == {1.0, 2.0, 3.0}
    assert set(found.reward[1].tolist()) == {101.0, 102.0, 103.0}
    assert torch.equal(found.next_observation, found.observation + 1)
    again = ReplayBuffer(2, 5, 1)
    again.restore({k: t.clone() for k, t in memory.state().items()})
    assert all(torch.equal(a, b) for a, b in zip(again.storage, memory.storage, strict=True))
    assert torch.equal(again.sample(9, draw(1)).reward, memory.sample(9, draw(1)).reward)


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0])
def test_exploring_takes_every_action_alike(epsilon: float) -> None:
    actions = explore(torch.full((30_000,), 2), 4, epsilon, draw(0))
    share = actions.bincount(minlength=4) / 30_000
    expected = torch.full((4,), epsilon / 4)
    expected[2] += 1 - epsilon
    assert (share - expected).abs().max() < 0.01


def test_the_carts_move_as_gymnasiums_do() -> None:
    world = pytest.importorskip("gymnasium").make("CartPole-v1")
    for seed in range(5):
        world.reset(seed=seed)
        cart = torch.tensor(world.unwrapped.state).double()[None]
        for action in torch.randint(2, (200,), generator=draw(seed)).tolist():
            *_, terminated, _, _ = world.step(action)
            cart = move(cart, torch.tensor([action]))
            expected = torch.tensor(world.unwrapped.state).double()[None]
            torch.testing.assert_close(cart, expected, rtol=1e-9, atol=1e-12)
            assert bool(out_of_bounds(cart)) == terminated
            if terminated:
                break
        else:
            raise AssertionError("random pushes never let the pole fall")


def test_the_clock_truncates_and_a_fall_terminates() -> None:
    worlds = CartPoles(2, draw(0))
    worlds.time[0] = MAX_STEPS - 1
    worlds.carts[1, 2] = 0.3
    step = worlds.step(torch.tensor([0, 0]), draw(1))
    assert step.terminated.tolist() == [False, True]
    assert step.truncated.tolist() == [True, False]
    assert worlds.time.tolist() == [0, 0]
    assert worlds.carts.abs().max() <= 0.05, "both begin anew"
    assert step.observation[1, 2].abs() > 0.2, "what is shown is what was reached"


def test_both_kinds_of_environments_go_on_from_a_saved_state() -> None:
    pytest.importorskip("gymnasium")
    for make in (CartPoles, lambda n, g: GymEnvironments("CartPole-v1", n, g)):
        worlds = make(3, draw(0))
        for t in range(40):
            worlds.step(torch.randint(2, (3,), generator=draw(t)), draw(100 + t))
        other = make(3, draw(9))
        other.restore({k: v.clone() for k, v in worlds.state().items()})
        assert torch.equal(other.observation, worlds.observation)
        for t in range(60):
            action = torch.randint(2, (3,), generator=draw(1000 + t))
            ours, theirs = (w.step(action, draw(2000 + t)) for w in (worlds, other))
            assert all(torch.equal(a, b) for a, b in zip(ours, theirs, strict=True))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("CartPol-v1", "no environment named 'CartPol-v1'; did you mean CartPole"),
        ("Pendulum-v1", "finitely many"),
        ("FrozenLake-v1", "expected a vector of numbers"),
    ],
)
def test_environments_that_cannot_be_learned_are_refused(name: str, message: str) -> None:
    pytest.importorskip("gymnasium")
    with pytest.raises(InputError, match=message):
        gym.make(name)


def test_the_spaces_of_an_environment() -> None:
    pytest.importorskip("gymnasium")
    assert gym.spaces("Acrobot-v1") == (6, 3)
    assert math.prod(gym.spaces("CartPole-v1")) == 8


def test_a_memory_without_places_is_refused() -> None:
    with pytest.raises(InputError, match="`capacity` must be a whole number of at least 1, got 0"):
        ReplayBuffer(1, 0, 4)
