"""Deep Q-learning of several independent agents at once.

    every step t        act in all copies, store the transitions, update a few times
    after every epoch   play greedy episodes in other copies, keep each agent's best weights

The networks learn (1 - γ) Q, which has the scale of a single reward, as does a freshly initialized
network. They are stacked, so five agents cost little more than one. All randomness of step t
follows from (seed, t); a checkpoint holds the replay buffer, the environments and the optimizer, so
that a resumed run equals the uninterrupted one bit for bit.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from chainrule.environments.environment import Environments
from chainrule.errors import InputError
from chainrule.learning.optimizers import optimizer
from chainrule.learning.schedules import schedule
from chainrule.models.reinforcement.dqn import DQN, Batch, ReplayBuffer, q_of_action
from chainrule.models.reinforcement.mdp import explore
from chainrule.nn.kernels.stacked_dense import StackedDense, stacked_dense
from chainrule.recipes.families.dqn_settings import METHODS, DQNSettings
from chainrule.training import Record, checkpoint
from chainrule.training.batched.stack import Stack
from chainrule.training.loop import Trainer
from chainrule.training.randomness import mix
from chainrule.training.state import Header, State
from chainrule.training.stopping import EarlyStopping

HORIZON = 10_000  # steps; an episode without an end of its own is measured up to here
VALIDATION, TEST = 1, 2  # mixed into the seed, so that no two splits share their episodes

Make = Callable[[int, torch.Generator], Environments]
Policy = Callable[[Tensor], Tensor]  # (agents, copies, n) → (agents, copies)


class StackedNetworks(Stack):
    """Stacked networks as one: (agents, batch, n) → (agents, batch, actions).

    Networks of affine maps have no use for a mapped forward pass, nor for autograd.
    """

    def __init__(self, networks: Sequence[nn.Module]):
        super().__init__(networks)
        self.dense = stacked_dense(networks[0], self.weights)

    def forward(self, x: Tensor) -> Tensor:  # type: ignore[override]
        if self.dense is not None and not torch.is_grad_enabled():
            return self.dense(x)
        return super().forward(x, [])


class DQNHeader(Header):
    """The header of a checkpoint of agents."""

    finished: list[float]
    rules: list[EarlyStopping]


@dataclass
class DQNState(State):
    """Everything that the next step needs."""

    memory: ReplayBuffer = field(kw_only=True)
    worlds: Environments = field(kw_only=True)
    earned: Tensor = field(kw_only=True)
    finished: list[float] = field(default_factory=list)
    rules: list[EarlyStopping] = field(default_factory=list)
    saved: ClassVar[tuple[str, ...]] = (*State.saved, "finished")
    form: ClassVar[type] = DQNHeader

    @property
    def dqn(self) -> DQN:
        assert isinstance(self.model, DQN)
        return self.model

    def parts(self) -> dict[str, dict[str, Tensor]]:
        return super().parts() | {
            "memory.": self.memory.state(),
            "worlds.": self.worlds.state(),
            "agents.": {"earned": self.earned},
        }

    def numbers(self) -> dict[str, Any]:
        return super().numbers() | {"rules": [asdict(rule) for rule in self.rules]}

    def restore_rest(self, tensors: dict[str, Tensor], numbers: dict[str, Any]) -> None:
        super().restore_rest(tensors, numbers)
        self.memory.restore(checkpoint.part(tensors, "memory."))
        self.worlds.restore(checkpoint.part(tensors, "worlds."))
        self.earned = tensors["agents.earned"]
        agents, rules = len(self.rules), numbers["rules"]
        if len(rules) != agents:
            raise InputError(f'expected {agents} objects as "rules", got {len(rules)}')
        self.rules = [EarlyStopping(**rule) for rule in rules]

    def keep_best_of(self, returns: Sequence[float]) -> None:
        """Keep the weights of the agents whose return is their best so far."""
        now = self.dqn.network.state_dict()
        if not self.best_weights:
            self.best_weights = {k: t.clone() for k, t in now.items()}
        epoch = self.epoch + 1
        better = [
            rule.update(epoch, -value) for rule, value in zip(self.rules, returns, strict=True)
        ]
        rows = torch.tensor(better).nonzero()[:, 0]
        for name, kept in self.best_weights.items():
            kept[rows] = now[name][rows]


class DQNTrainer(Trainer):
    """Trains the agents, which end with their best weights."""

    state: DQNState

    def __init__(self, networks: Sequence[nn.Module], make: Make, settings: DQNSettings):
        self.networks, self.make, self.settings = networks, make, settings
        self.device, self.threads = torch.device("cpu"), settings.threads
        self.epochs, self.steps = settings.epochs, steps_of(settings)
        self.checkpoint_seconds = settings.checkpoint_seconds
        self.rate, self.generator = schedule(settings.schedule), torch.Generator()
        self.state = initial_state(networks, make, settings)

    def start_epoch(self) -> None:
        """The state is all that a step needs."""

    def step(self, t: int) -> None:
        state, settings = self.state, self.settings
        self.generator.manual_seed(mix(settings.seed, t))
        for group in state.optimizer.param_groups:
            group["lr"] = settings.learning_rate * self.rate(t / (self.epochs * self.steps))
        act(state, settings, t, self.generator)
        if state.memory.seen >= settings.warm_up:
            for number in range(t * settings.updates, (t + 1) * settings.updates):
                update(state, settings, number, self.generator)

    def finish_epoch(self) -> Record:
        found = report(self.state, self.make, self.settings)
        self.state.finished = []
        return found

    def out_of_patience(self) -> str:
        patience, epoch = self.settings.patience, self.state.epoch + 1
        best = max(rule.best_epoch for rule in self.state.rules)
        if EarlyStopping(patience, best_epoch=best).exhausted(epoch):
            return f"no better validation return for {patience} epochs"
        return ""

    def finish(self) -> None:
        stack = self.state.dqn.network
        assert isinstance(stack, StackedNetworks)
        stack.unstack(self.networks, self.state.best_weights)


def initial_state(networks: Sequence[nn.Module], make: Make, settings: DQNSettings) -> DQNState:
    """The state before the first step."""
    agents, generator = len(networks), torch.Generator().manual_seed(mix(settings.seed, -1))
    dqn = METHODS[settings.method](StackedNetworks(networks), StackedNetworks(networks)).eval()
    worlds = make(agents * settings.copies, generator)
    return DQNState(
        dqn,
        optimizer("adam", dqn.network.parameters(), settings.learning_rate),
        memory=ReplayBuffer(agents, settings.memory, worlds.observation.shape[1]),
        worlds=worlds,
        earned=torch.zeros(agents * settings.copies),
        rules=[EarlyStopping() for _ in networks],
    )


def steps_of(settings: DQNSettings) -> int:
    """Steps of all copies at once in one epoch."""
    return math.ceil(settings.epoch_steps / settings.copies)


def act(state: DQNState, settings: DQNSettings, t: int, generator: torch.Generator) -> None:
    """One step of every copy, stored in the replay buffer."""
    before = by_agent(state.worlds.observation, settings.copies)
    with torch.no_grad():
        q = state.dqn(before)
    share = t / max(1.0, settings.exploration * settings.epochs * steps_of(settings))
    epsilon = max(settings.epsilon, 1 - (1 - settings.epsilon) * share)
    action = explore(q.argmax(-1), q.shape[-1], epsilon, generator)
    step = state.worlds.step(action.flatten(), generator)
    after, reward, terminated = (
        by_agent(x, settings.copies) for x in (step.observation, step.reward, step.terminated)
    )
    scaled = (1 - settings.discount) * reward  # so the memory's values are (1 - γ) Q
    state.memory.add(Batch(before, action, scaled, after, terminated))
    state.earned += step.reward
    if (ended := step.ended).any():
        state.finished += state.earned[ended].tolist()
        state.earned[ended] = 0


def update(state: DQNState, settings: DQNSettings, number: int, generator: torch.Generator) -> None:
    """One step of the optimizer for every agent, from its own transitions."""
    state.optimizer.zero_grad(set_to_none=True)
    batch = state.memory.sample(settings.batch_size, generator)
    network = state.dqn.network
    assert isinstance(network, StackedNetworks)
    if network.dense is None:
        losses = state.dqn.losses(batch, settings.discount).mean(1)
        losses.sum().backward()
    else:
        losses = written_out(network.dense, batch, state.dqn.targets(batch, settings.discount))
    state.optimizer.step()
    state.total_loss += losses.detach().mean().item()
    state.examples += 1
    if (number + 1) % settings.follow_every == 0:
        state.dqn.update_target()


@torch.no_grad()
def written_out(network: StackedDense, batch: Batch, y: Tensor) -> Tensor:
    """The mean of ½ (Q(s, a) - y)² for every agent, and its gradient in the weights' `grad`."""
    states = network.states(batch.observation)
    q = states[-1].mT
    error = q_of_action(q, batch.action) - y
    delta = torch.zeros(q.shape)  # of the other actions
    delta.scatter_add_(-1, batch.action[..., None], (error * (1 / y.shape[1]))[..., None])
    network.backward(states, delta)
    return (0.5 * error.square()).mean(1)


def report(state: DQNState, make: Make, settings: DQNSettings) -> Record:
    """The metrics of an epoch: returns while exploring, and returns of the greedy agents."""
    seed, network = mix(settings.seed, -1 - VALIDATION), state.dqn.network
    found = play(lambda x: network(x).argmax(-1), make, settings.agents, settings.episodes, seed)
    each = found.mean(1)
    state.keep_best_of(each.tolist())
    low, high = each.quantile(torch.tensor([0.1, 0.9])).tolist()
    record: Record = {
        "steps": (state.epoch + 1) * steps_of(settings) * settings.copies,
        "train_loss": state.mean_loss(),
        "validation_return": each.mean().item(),
        "validation_low": low,
        "validation_high": high,
    }
    if state.finished:
        record["train_return"] = sum(state.finished) / len(state.finished)
    return record


@torch.no_grad()
def play(policy: Policy, make: Make, agents: int, episodes: int, seed: int) -> Tensor:
    """(agents, episodes): undiscounted returns of a policy in new environments."""
    generator = torch.Generator().manual_seed(seed)
    worlds = make(agents * episodes, generator)
    total, playing = torch.zeros(agents * episodes), torch.ones(agents * episodes, dtype=torch.bool)
    for _ in range(HORIZON):
        action = policy(by_agent(worlds.observation, episodes))
        step = worlds.step(action.flatten(), generator)
        total += step.reward * playing
        playing &= ~step.ended
        if not playing.any():
            break
    return total.view(agents, episodes)


def greedy_policy(networks: Sequence[nn.Module]) -> Policy:
    """The best action of every network for its own observations."""
    stack = StackedNetworks(networks).eval()
    return lambda observation: stack(observation).argmax(-1)


def by_agent(x: Tensor, copies: int) -> Tensor:
    """(agents · copies, …) → (agents, copies, …)."""
    return x.unflatten(0, (-1, copies))
