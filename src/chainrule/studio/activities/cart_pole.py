"""Cart-pole: deep Q-learning, watched while it learns; the page may push the cart itself.

    y = r + γ (1 - terminated) max_a' Q⁻(s', a'),    ℓ = ½ (Q(s, a) - y)²

Sixteen carts gather experience while they explore. One more cart is shown: the greedy policy of the
present network drives it, or the user does. The network learns (1 - γ) Q.
"""

from collections import deque
from dataclasses import dataclass
from typing import Annotated, Literal

import torch

from chainrule.environments.cart_pole import CartPoles
from chainrule.learning.optimizers import optimizer
from chainrule.models.feedforward.mlp import MLP
from chainrule.models.reinforcement import DQN, Batch, DoubleDQN, ReplayBuffer
from chainrule.models.reinforcement.mdp import explore
from chainrule.studio.activity import Activity, Json, Range, View, read, rounded

METHODS = {"dqn": DQN, "double-dqn": DoubleDQN}
COPIES, UPDATES, BATCH = 16, 4, 128  # carts, updates after each of their steps, transitions each
MEMORY, WARM_UP, FOLLOW = 50_000, 1000, 20
EPISODES = 300  # the curve shows the last ones


@dataclass(frozen=True)
class Settings:
    """The agent.

    Args:
        method: whose targets are learned.
        width: units of each of the two hidden layers.
        rate: step size of Adam.
        discount: γ.
        epsilon: final probability of a random action.
        exploration: steps of all carts over which ε falls from 1.
        training: steps of all sixteen carts between two views; 0: the network rests.
        speed: steps of the shown cart between two views.
        seed: of the weights, the episodes and the random actions.
    """

    method: Literal["dqn", "double-dqn"] = "double-dqn"
    width: Annotated[int, Range(4, 256)] = 64
    rate: Annotated[float, Range(1e-5, 0.1)] = 2e-3
    discount: Annotated[float, Range(0, 0.999)] = 0.99
    epsilon: Annotated[float, Range(0, 1)] = 0.05
    exploration: Annotated[int, Range(1, 100_000)] = 400
    training: Annotated[int, Range(0, 10)] = 4
    speed: Annotated[int, Range(1, 10)] = 2
    seed: Annotated[int, Range(0, 2**31)] = 0


@dataclass(frozen=True)
class Change:
    """What the page may change meanwhile; push 0 is left, 1 right."""

    training: Annotated[int | None, Range(0, 10)] = None
    speed: Annotated[int | None, Range(1, 10)] = None
    driver: Literal["agent", "you"] | None = None
    push: Annotated[int | None, Range(0, 1)] = None


def run(settings: Json) -> Activity:
    chosen = read(Settings, settings)
    agent, show = Agent(chosen), Show(chosen.seed)
    training, speed = chosen.training, chosen.speed
    while True:
        message = yield View(lambda: agent.draw() | show.draw(agent), waiting=True)
        if message is None:
            for _ in range(training):
                agent.step()
            for _ in range(speed):
                show.step(agent)
            continue
        change = read(Change, message)
        training = training if change.training is None else change.training
        speed = speed if change.speed is None else change.speed
        show.steer(change.driver, change.push)


class Agent:
    """A network, the carts it learns from, and what their episodes earned.

    Args:
        chosen: the settings.
    """

    def __init__(self, chosen: Settings):
        self.chosen, self.t = chosen, 0
        torch.manual_seed(chosen.seed)
        self.dqn = METHODS[chosen.method](MLP(4, [chosen.width] * 2, 2)).eval()
        self.optimizer = optimizer("adam", self.dqn.network.parameters(), chosen.rate)
        self.generator = torch.Generator().manual_seed(chosen.seed)
        self.carts = CartPoles(COPIES, self.generator)
        self.memory = ReplayBuffer(1, MEMORY, 4)
        self.earned = torch.zeros(COPIES)
        self.returns: deque[float] = deque(maxlen=EPISODES)
        self.episodes, self.updates, self.loss = 0, 0, torch.tensor(torch.nan)

    @property
    def epsilon(self) -> float:
        """Falls from 1 to its final value."""
        last = self.chosen.epsilon
        return max(last, 1 - (1 - last) * self.t / self.chosen.exploration)

    def step(self) -> None:
        """One step of every cart, then the updates."""
        before = self.carts.observation
        with torch.no_grad():
            best = self.dqn(before).argmax(-1)
        action = explore(best, 2, self.epsilon, self.generator)
        found = self.carts.step(action, self.generator)
        reward = (1 - self.chosen.discount) * found.reward
        seen = (before, action, reward, found.observation, found.terminated)
        self.memory.add(Batch(*(part[None] for part in seen)))
        self.count(found.reward, found.ended)
        self.t += 1
        if self.memory.seen >= WARM_UP:
            for _ in range(UPDATES):
                self.update()

    def count(self, reward: torch.Tensor, ended: torch.Tensor) -> None:
        """Returns of the episodes that are over."""
        self.earned += reward
        self.returns.extend(self.earned[ended].tolist())
        self.episodes += int(ended.sum())
        self.earned[ended] = 0

    def update(self) -> None:
        """One step of the optimizer; now and then Q⁻ ← Q."""
        self.optimizer.zero_grad(set_to_none=True)
        batch = Batch(*(part[0] for part in self.memory.sample(BATCH, self.generator)))
        loss = self.dqn.losses(batch, self.chosen.discount).mean()
        loss.backward()
        self.optimizer.step()
        self.loss, self.updates = loss.detach(), self.updates + 1
        if self.updates % FOLLOW == 0:
            self.dqn.update_target()

    @torch.no_grad()
    def q(self, observation: torch.Tensor) -> torch.Tensor:
        """Q(s, ·) in units of the reward."""
        return self.dqn(observation) / (1 - self.chosen.discount)

    def draw(self) -> Json:
        return {
            "returns": list(self.returns),
            "episodes": self.episodes,
            "steps": COPIES * self.t,
            "updates": self.updates,
            "epsilon": round(self.epsilon, 3),
            "loss": rounded(self.loss),
        }


class Show:
    """The cart on the page.

    Args:
        seed: of its episodes.
    """

    def __init__(self, seed: int):
        self.generator = torch.Generator().manual_seed(seed + 1)
        self.cart = CartPoles(1, self.generator)
        self.driver, self.push, self.action = "agent", 1, 0
        self.scores: dict[str, list[float]] = {"agent": [], "you": []}

    def steer(self, driver: str | None, push: int | None) -> None:
        """Another driver begins a new episode; a push holds until the next."""
        if driver is not None and driver != self.driver:
            self.driver, self.cart = driver, CartPoles(1, self.generator)
        if push is not None:
            self.push = push

    def step(self, agent: Agent) -> None:
        chosen = agent.q(self.cart.observation).argmax(-1)
        action = chosen if self.driver == "agent" else torch.tensor([self.push])
        self.action, time = int(action), int(self.cart.time)
        if bool(self.cart.step(action, self.generator).ended):
            self.scores[self.driver].append(time + 1.0)
            self.scores[self.driver] = self.scores[self.driver][-EPISODES:]

    def draw(self, agent: Agent) -> Json:
        return {
            "cart": rounded(self.cart.carts[0]),
            "time": int(self.cart.time),
            "Q": rounded(agent.q(self.cart.observation)[0]),
            "action": self.action,
            "driver": self.driver,
            "scores": self.scores,
        }
