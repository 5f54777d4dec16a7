"""Deep Q-learning on cart and pole: 4-128-128-2, a batch of 128 for every four steps."""

import time
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from benchmarks.suite.contract import Contender, Quality, Race, Ready, Work
from benchmarks.suite.tuning import tuned

BATCH, EVERY, GAMMA, RATE = 128, 4, 0.99, 2e-3
TARGET_EVERY, EPISODES = 20 * EVERY, 20


def engine(steps: int, learned: int, warm_up: int) -> Ready:
    return agents(steps, learned, warm_up, 1)


def five_agents(steps: int, learned: int, warm_up: int) -> Ready:
    """The time of one of five agents that learn at once."""
    return agents(steps, learned, warm_up, 5)


def agents(steps: int, learned: int, warm_up: int, number: int) -> Ready:
    from chainrule.environments.cart_pole import CartPoles
    from chainrule.models.feedforward.mlp import MLP
    from chainrule.recipes.families.dqn_training import DQNTrainer
    from chainrule.recipes.reinforcement.cartpole_dqn import Recipe
    from chainrule.training.loop import run

    def train(steps: int, episodes: int, seed: int = 0) -> float:
        """The mean return of the greedy agents."""
        recipe = Recipe(
            agents=number,
            epochs=1,
            epoch_steps=steps,
            warm_up=warm_up,
            method="dqn",
            schedule="constant",
            episodes=episodes,
            seed=seed,
        )
        networks = [MLP(4, [128, 128], 2) for _ in range(number)]
        *_, last = run(DQNTrainer(networks, CartPoles, recipe), None)
        return float(last.record["validation_return"])

    def unit() -> float:
        began = time.perf_counter()
        train(steps, episodes=1)
        return (time.perf_counter() - began) / number

    return Ready(unit, lambda seed: train(learned, EPISODES, seed))


def network() -> nn.Sequential:
    layers: list[nn.Module] = []
    for n, m in pairwise([4, 128, 128, 2]):
        layers += [nn.Linear(n, m), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class Memory:
    """Transitions in arrays of NumPy."""

    def __init__(self, size: int):
        self.seen, self.following = np.zeros((2, size, 4), np.float32)
        self.action = np.zeros(size, np.int64)
        self.reward, self.done = np.zeros((2, size), np.float32)


def hand_tuned(steps: int, learned: int, warm_up: int) -> Ready:
    """CleanRL's loop with a fused Adam: one environment, an update after every fourth step."""
    import gymnasium

    tuned()
    torch.set_num_threads(1)  # the batches are small

    def train(steps: int, seed: int = 0) -> nn.Module:
        env, draw, memory = (
            gymnasium.make("CartPole-v1"),
            np.random.default_rng(seed),
            Memory(steps),
        )
        q, target = network(), network()
        target.load_state_dict(q.state_dict())
        adam = torch.optim.Adam(q.parameters(), RATE, fused=True)
        observation, _ = env.reset(seed=seed)
        for t in range(steps):
            action = chosen(q, observation, draw, max(0.05, 1 - t / (0.15 * steps)))
            following, reward, terminated, truncated, _ = env.step(action)
            memory.seen[t], memory.following[t] = observation, following
            memory.action[t], memory.reward[t], memory.done[t] = action, reward, terminated
            observation = env.reset()[0] if terminated or truncated else following
            if t >= warm_up and t % EVERY == 0:
                update(q, target, adam, memory, draw.integers(t + 1, size=BATCH))
                if t % TARGET_EVERY == 0:
                    target.load_state_dict(q.state_dict())
        return q

    def quality(seed: int) -> float:
        torch.manual_seed(seed)
        q, draw = train(learned, seed), np.random.default_rng(0)
        return mean_return(lambda observation: chosen(q, observation, draw, 0.0))

    return Ready(lambda: train(steps) is None, quality)


def mean_return(policy: Callable[[np.ndarray], int]) -> float:
    """Of greedy episodes that nobody learned from."""
    import gymnasium

    env, total = gymnasium.make("CartPole-v1"), 0.0
    for episode in range(EPISODES):
        observation, over = env.reset(seed=10**6 + episode)[0], False
        while not over:
            observation, reward, terminated, truncated, _ = env.step(policy(observation))
            total, over = total + float(reward), terminated or truncated
    return total / EPISODES


def chosen(q: nn.Module, observation: np.ndarray, draw: np.random.Generator, epsilon: float) -> int:
    """At random with probability ε, else the action of the largest value."""
    if draw.random() < epsilon:
        return int(draw.integers(2))
    with torch.no_grad():
        return int(q(torch.from_numpy(observation)).argmax())


def update(
    q: nn.Module, target: nn.Module, adam: torch.optim.Optimizer, memory: Memory, rows: np.ndarray
) -> None:
    """A step of Adam on a batch of the memory."""
    with torch.no_grad():
        best = target(torch.from_numpy(memory.following[rows])).amax(1)
    rewards, done = (torch.from_numpy(part[rows]) for part in (memory.reward, memory.done))
    value = q(torch.from_numpy(memory.seen[rows]))
    action = torch.from_numpy(memory.action[rows])[:, None]
    adam.zero_grad(set_to_none=True)
    F.mse_loss(value.gather(1, action)[:, 0], rewards + GAMMA * (1 - done) * best).backward()
    adam.step()


def stable_baselines(steps: int, learned: int, warm_up: int) -> Ready:
    from stable_baselines3 import DQN

    def made(seed: int) -> DQN:
        return DQN(
            "MlpPolicy",
            "CartPole-v1",
            learning_rate=RATE,
            learning_starts=warm_up,
            batch_size=BATCH,
            train_freq=EVERY,
            gradient_steps=1,
            target_update_interval=TARGET_EVERY,
            exploration_fraction=0.15,
            policy_kwargs={"net_arch": [128, 128]},
            device="cpu",
            seed=seed,
        )

    def unit() -> float:
        model = made(0)
        began = time.perf_counter()
        model.learn(steps)
        return time.perf_counter() - began

    def quality(seed: int) -> float:
        model = made(seed).learn(learned)
        return mean_return(
            lambda observation: int(model.predict(observation, deterministic=True)[0])
        )

    return Ready(unit, quality)


def work(steps: int, learned: int, warm_up: int) -> Work:
    """A decision a step; an update costs three passes for the network and one for the target."""
    weights = 4 * 128 + 128 * 128 + 128 * 2
    updates = max(0, steps - warm_up) / EVERY
    return Work(2.0 * weights * (steps + updates * BATCH * 4), 0.0, steps, "steps")


ROW = Race(
    unit="4,000 steps",
    contenders={
        "chainrule": Contender(engine, ("gymnasium",)),
        "chainrule, one of five": Contender(five_agents, ("gymnasium",)),
        "hand-tuned PyTorch": Contender(hand_tuned, ("gymnasium",)),
        "stable-baselines3": Contender(stable_baselines, ("stable_baselines3",)),
    },
    cases={"": {"steps": 4000, "learned": 12_000, "warm_up": 500}},
    tiny={"steps": 300, "learned": 300, "warm_up": 200},
    quality=Quality(
        "mean return of greedy episodes after 12,000 steps, three seeds; chance has 22",
        250.0,  # a seed moves it by a hundred
        absolute=True,
        seeds=3,
    ),
    work=work,
)
