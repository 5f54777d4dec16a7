"""Finite decision processes: three ways to the same values, and learners that reach them."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from torch import Tensor

from chainrule.environments.grid_world import TEXTBOOK, GridWorld
from chainrule.environments.inventory import Inventory
from chainrule.errors import InputError
from chainrule.models.reinforcement import policy_iteration, value_iteration
from chainrule.models.reinforcement.mdp import MDP, random_mdp
from chainrule.models.reinforcement.q_learning import QLearning
from chainrule.models.reinforcement.sarsa import Sarsa


def draw(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def by_linear_program(process: MDP) -> Tensor:
    """min Σ V subject to V(s) ≥ Σ P (R + γ V) for every action: written without our operators."""
    P, R = process.P.numpy(), process.R.numpy()
    A = [
        process.discount * P[a, s] - np.eye(len(P[0]))[s]
        for a in range(len(P))
        for s in range(len(P[0]))
    ]
    b = [-(P[a, s] * R[a, s]).sum() for a in range(len(P)) for s in range(len(P[0]))]
    found = linprog(np.ones(len(P[0])), np.array(A), np.array(b), bounds=(None, None))
    assert found.status == 0
    return torch.from_numpy(found.x)


@pytest.mark.parametrize("seed", range(100))
def test_value_iteration_policy_iteration_and_a_linear_program_agree(seed: int) -> None:
    states, actions = 2 + seed % 9, 1 + seed % 4
    process = random_mdp(states, actions, (0.0, 0.5, 0.9, 0.97)[seed // 25], draw(seed))
    exact, policy, _ = policy_iteration.solve(process)
    iterated, _ = value_iteration.solve(process, 1e-9)
    torch.testing.assert_close(iterated, exact, rtol=0, atol=1e-9)
    torch.testing.assert_close(by_linear_program(process), exact, rtol=0, atol=1e-6)
    torch.testing.assert_close(process.evaluate(policy), exact, rtol=0, atol=1e-12)


@given(st.integers(0, 10**6), st.floats(0, 0.99))
def test_the_bellman_operator_contracts_by_the_discount(seed: int, discount: float) -> None:
    generator = draw(seed)
    process = random_mdp(5, 3, discount, generator)
    V, W = 10 * torch.randn(2, 1, 5, dtype=torch.float64, generator=generator)
    apart = (process(V) - process(W)).abs().max()
    assert apart <= discount * (V - W).abs().max() + 1e-12


@pytest.mark.parametrize("epsilon", [1.0, 0.1, 1e-3])
def test_the_stopping_bound_keeps_its_promise(epsilon: float) -> None:
    for seed in range(20):
        process = random_mdp(8, 3, 0.95, draw(seed))
        best, _, _ = policy_iteration.solve(process)
        V, changes = value_iteration.solve(process, epsilon)
        assert (V - best).abs().max() < epsilon / 2
        assert (best - process.evaluate(process.q(V).argmax(-1))).max() < epsilon
        assert changes[-1] < epsilon * 0.05 / 1.9 <= changes[-2]


def test_the_textbook_world_has_the_textbook_values() -> None:
    """Russell and Norvig, figure 17.3: γ = 1, here as near to it as a discount may come."""
    world = GridWorld(TEXTBOOK, slip=0.2, discount=1 - 1e-9, step_reward=-0.04)
    V, _, _ = policy_iteration.solve(world)
    printed = torch.tensor(
        [[0.812, 0.868, 0.918, 0], [0.762, math.nan, 0.660, 0], [0.705, 0.655, 0.611, 0.388]]
    ).double()
    torch.testing.assert_close(world.on_map(V), printed, rtol=0, atol=6e-4, equal_nan=True)


def test_the_best_orders_fill_up_to_one_level_below_a_threshold() -> None:
    """Scarf's (s, S) policy."""
    _, order, _ = policy_iteration.solve(Inventory())
    stock = torch.arange(len(order))
    ordering = order > 0
    threshold = int(ordering.sum())
    assert 0 < threshold < len(order) and ordering[:threshold].all()
    assert len((stock + order)[ordering].unique()) == 1


def test_steps_are_drawn_from_the_transitions() -> None:
    process = random_mdp(4, 2, 0.9, draw(0))
    number = 40_000
    s, a = torch.full((number,), 2), torch.full((number,), 1)
    next_state, reward = process.step(s, a, draw(1))
    share = next_state.bincount(minlength=4) / number
    assert (share - process.P[1, 2]).abs().max() < 4 * 0.5 / math.sqrt(number)
    assert torch.equal(reward, process.R[1, 2][next_state])


def test_q_learning_tends_to_the_answer_of_policy_iteration() -> None:
    """After n = 300 visits of each action the noise of a table is about n^(-ω / 2) = 0.1."""
    process = random_mdp(5, 2, 0.5, draw(3))
    best, policy, _ = policy_iteration.solve(process)
    model = QLearning(process, num_agents=40)
    model.learn(process, 3000, 1.0, draw(4), power=0.8)
    assert (model.Q - process.q(best)).abs().mean() < 0.1
    assert (model.Q.mean(0) - process.q(best)).abs().max() < 0.05
    assert (model.policy() == policy).double().mean() > 0.97


def test_sarsa_tends_to_the_same_answer_when_it_explores_less_and_less() -> None:
    process = random_mdp(5, 2, 0.5, draw(3))
    best, policy, _ = policy_iteration.solve(process)
    model, generator = Sarsa(process, num_agents=40), draw(5)
    for period in range(1, 31):
        model.learn(process, 100, 1 / period, generator, power=0.6)
    assert (model.Q.amax(2).mean(0) - best).abs().max() < 0.1
    assert (model.policy() == policy).double().mean() > 0.97


def test_sarsa_values_the_policy_that_explores() -> None:
    """With ε = 1 its values are those of acting at random, below the best ones."""
    process = random_mdp(5, 2, 0.8, draw(3))
    s = torch.arange(5)
    P, R = process.P.mean(0), (process.P * process.R).sum(-1).mean(0)
    random = torch.linalg.solve(torch.eye(5).double() - 0.8 * P, R)
    model = Sarsa(process, num_agents=40)
    model.learn(process, 3000, 1.0, draw(6), power=0.6)
    assert (model.Q.mean(0) - process.q(random)[s]).abs().max() < 0.1
    best, _, _ = policy_iteration.solve(process)
    assert (process.q(best) - process.q(random)).min() > 0.2


def test_agents_do_not_change_the_tables_of_others_and_the_seed_decides() -> None:
    process = GridWorld(TEXTBOOK)
    first, second = QLearning(process, 7), QLearning(process, 7)
    for model in (first, second):
        model.learn(process, 200, 0.3, draw(0))
    assert torch.equal(first.Q, second.Q)
    assert (first.visits.sum((1, 2)) == 200).all()
    assert not torch.equal(first.Q[0], first.Q[1])
    assert (first.Q[:, process.terminal_states()] == 0).all()


@pytest.mark.parametrize(
    ("P", "discount", "message"),
    [
        (torch.full((1, 2, 2), 0.4), 0.9, r"P\[0, 0\] sums to 0.8"),
        (torch.tensor([[[1.5, -0.5], [0.0, 1.0]]]), 0.9, "negative probability"),
        (torch.full((1, 2, 2), math.nan), 0.9, "not finite"),
        (torch.ones(1, 2, 3) / 3, 0.9, r"the shape \(1, 2, 3\)"),
        (torch.eye(2)[None], 1.0, r"γ must lie in \[0, 1\), got 1.0"),
        (torch.eye(2)[None], -0.1, r"got -0.1"),
        (torch.eye(2)[None], math.nan, r"got nan"),
    ],
)
def test_what_is_no_decision_process_is_refused(P: Tensor, discount: float, message: str) -> None:
    with pytest.raises(InputError, match=message):
        MDP(P, torch.zeros(P.shape[:2]), discount)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (("S.", "G"), "equal length"),
        (("S?G",), r"consists of . # S G X, got \?"),
        (("..G",), "one start S"),
        (("S..",), "at least one goal"),
    ],
)
def test_what_is_no_map_is_refused(rows: tuple[str, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        GridWorld(rows)


def test_learners_refuse_what_cannot_converge() -> None:
    process = GridWorld(TEXTBOOK)
    model = QLearning(process)
    with pytest.raises(InputError, match="epsilon must be a probability"):
        model.learn(process, 1, 1.5, draw(0))
    with pytest.raises(InputError, match=r"in \(0.5, 1\]"):
        model.learn(process, 1, 0.5, draw(0), power=0.5)
    with pytest.raises(InputError, match="epsilon must be above 0"):
        value_iteration.solve(process, 0.0)
