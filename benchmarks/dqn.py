"""Steps per second of deep Q-learning on cart and pole, beside a loop of the usual structure.

    python benchmarks/dqn.py

The peers are stable-baselines3 where it is installed (it is in the extra peers) and a loop in the
shape of CleanRL's dqn.py: gymnasium's environments, a replay memory of NumPy arrays, torch's Adam.
All do the same work: a network 4-128-128-2, a batch of 128 for every four steps, one thread. Each
runs in turns in every round, and the best of the rounds counts.
"""

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable
from datetime import date
from itertools import pairwise
from pathlib import Path

import gymnasium
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from chainrule.environments.cart_pole import CartPoles
from chainrule.models.feedforward.mlp import MLP
from chainrule.recipes.families.dqn_training import DQNTrainer
from chainrule.recipes.reinforcement.cartpole_dqn import Recipe
from chainrule.training.loop import run

WARM_UP, BATCH, EVERY, GAMMA, RATE = 500, 128, 4, 0.99, 2e-3


def ours(steps: int, agents: int = 1) -> None:
    recipe = Recipe(agents=agents, epochs=1, epoch_steps=steps, warm_up=WARM_UP, episodes=1)
    networks = [MLP(4, [128, 128], 2) for _ in range(agents)]
    for _ in run(DQNTrainer(networks, CartPoles, recipe), None):
        pass


def five_agents(steps: int) -> None:
    ours(steps, agents=5)


def network() -> nn.Sequential:
    layers: list[nn.Module] = []
    for n, m in pairwise([4, 128, 128, 2]):
        layers += [nn.Linear(n, m), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def usual_loop(steps: int) -> None:
    """One environment, one step at a time, an update after every fourth."""
    env, draw = gymnasium.make("CartPole-v1"), np.random.default_rng(0)
    q, target = network(), network()
    target.load_state_dict(q.state_dict())
    adam = torch.optim.Adam(q.parameters(), RATE)
    memory = {name: np.zeros((steps, 4), np.float32) for name in ("seen", "following")}
    action, reward, done = np.zeros(steps, np.int64), np.zeros(steps, np.float32), np.zeros(steps)
    observation, _ = env.reset(seed=0)
    for t in range(steps):
        epsilon = max(0.05, 1 - t / (0.15 * steps))
        if draw.random() < epsilon:
            chosen = int(draw.integers(2))
        else:
            with torch.no_grad():
                chosen = int(q(torch.from_numpy(observation)).argmax())
        following, r, terminated, truncated, _ = env.step(chosen)
        memory["seen"][t], memory["following"][t] = observation, following
        action[t], reward[t], done[t] = chosen, r, terminated
        observation = env.reset()[0] if terminated or truncated else following
        if t >= WARM_UP and t % EVERY == 0:
            rows = draw.integers(t + 1, size=BATCH)
            with torch.no_grad():
                best = target(torch.from_numpy(memory["following"][rows])).amax(1)
            ended = torch.from_numpy(done[rows]).float()
            y = torch.from_numpy(reward[rows]) + GAMMA * (1 - ended) * best
            value = q(torch.from_numpy(memory["seen"][rows]))
            adam.zero_grad()
            F.mse_loss(value.gather(1, torch.from_numpy(action[rows])[:, None])[:, 0], y).backward()
            adam.step()
            if t % (20 * EVERY) == 0:
                target.load_state_dict(q.state_dict())


def stable_baselines(steps: int) -> None:
    from stable_baselines3 import DQN

    model = DQN(
        "MlpPolicy",
        "CartPole-v1",
        learning_rate=RATE,
        learning_starts=WARM_UP,
        batch_size=BATCH,
        train_freq=EVERY,
        gradient_steps=1,
        target_update_interval=20 * EVERY,
        policy_kwargs={"net_arch": [128, 128]},
        device="cpu",
    )
    model.learn(steps)


def contestants() -> dict[str, tuple[Callable[[int], None], int]]:
    """What runs, and how many agents learn in it."""
    found: dict[str, tuple[Callable[[int], None], int]] = {
        "chainrule, one agent": (ours, 1),
        "chainrule, five agents at once": (five_agents, 5),
        "a loop in CleanRL's shape": (usual_loop, 1),
    }
    try:
        import stable_baselines3
    except ImportError:
        print("stable-baselines3 is not installed; left out", file=sys.stderr)
    else:
        found[f"stable-baselines3 {stable_baselines3.__version__}"] = (stable_baselines, 1)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=8000)
    options = parser.parse_args()
    torch.set_num_threads(1)
    best: dict[str, float] = {}
    for _ in range(options.rounds):
        for name, (call, agents) in contestants().items():
            torch.manual_seed(0)
            # Processor time: other programs on the machine do not count.
            began = time.process_time()
            call(options.steps)
            speed = agents * options.steps / (time.process_time() - began)
            best[name] = max(best.get(name, 0.0), speed)
    first = best["chainrule, one agent"]
    rows = [
        {"name": name, "steps_per_second": round(speed), "ratio": round(speed / first, 2)}
        for name, speed in best.items()
    ]
    for row in rows:
        print(f"{row['name']}: {row['steps_per_second']} steps a second", file=sys.stderr)
    result = {
        "command": "python benchmarks/dqn.py",
        "date": str(date.today()),
        "rounds": options.rounds,
        "steps": options.steps,
        "clock": "processor time, one thread",
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "torch": torch.__version__,
        "gymnasium": gymnasium.__version__,
        "rows": rows,
    }
    text = json.dumps(result, indent=1, ensure_ascii=False) + "\n"
    Path("benchmarks/speed/dqn.json").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
