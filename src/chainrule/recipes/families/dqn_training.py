"""Learning by trying: deep Q-learning of several independent agents at once, as a generator.

    for every step t    act in all copies, remember, then update from the memory a few times
    after every epoch   play whole episodes greedily in other copies, keep each agent's best weights

The networks learn (1 - γ) Q, which is of the size of one reward and not of a hundred: a fresh
network is then about right. They are stacked, so five agents cost little more than one. What is
random in step t follows from (seed, t); a checkpoint holds memory, environments and optimizer, so
that a resumed run repeats the uninterrupted one bit for bit.
"""

import math
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import torch
from torch import Tensor, nn

from chainrule.environments.environment import Environments
from chainrule.errors import InputError
from chainrule.learning.optimizers import optimizer
from chainrule.learning.schedules import schedule
from chainrule.models.reinforcement.dqn import DQN, Batch, ReplayBuffer
from chainrule.models.reinforcement.mdp import explore
from chainrule.recipes.families.dqn_settings import METHODS, DeepQSettings
from chainrule.training import Progress, checkpoint, devices
from chainrule.training.batched.stack import Stack
from chainrule.training.loop import TICK, saving
from chainrule.training.randomness import mix
from chainrule.training.state import LAST, State

HORIZON = 10_000  # steps; an episode without an end of its own is measured up to here
VALIDATION, TEST = 1, 2  # mixed into the seed, so that no two splits share their episodes

Make = Callable[[int, torch.Generator], Environments]
Policy = Callable[[Tensor], Tensor]  # (agents, copies, n) → (agents, copies)


class Together(Stack):
    """Stacked networks as one: (agents, batch, n) → (agents, batch, actions)."""

    def forward(self, x: Tensor) -> Tensor:  # type: ignore[override]
        return super().forward(x, [])


@dataclass
class Trial(State):
    """Everything that the next step needs."""

    memory: ReplayBuffer = field(kw_only=True)
    worlds: Environments = field(kw_only=True)
    earned: Tensor = field(kw_only=True)
    finished: list[float] = field(default_factory=list)
    best_returns: list[float] = field(default_factory=list)
    saved: ClassVar[tuple[str, ...]] = (*State.saved, "finished", "best_returns")

    @property
    def dqn(self) -> DQN:
        assert isinstance(self.model, DQN)
        return self.model

    def tensors(self) -> dict[str, Tensor]:
        parts = {
            "model.": self.model.state_dict(),
            "best.": self.best_weights,
            "optimizer.": checkpoint.optimizer_tensors(self.optimizer),
            "memory.": self.memory.state(),
            "worlds.": self.worlds.state(),
            "trial.": {"earned": self.earned},
        }
        return {
            k: t
            for prefix, part in parts.items()
            for k, t in checkpoint.named(part, prefix).items()
        }

    def save(self, folder: Path) -> None:
        if not all(t.isfinite().all() for t in self.model.state_dict().values()):
            raise InputError(
                f"the weights are no longer finite in epoch {self.epoch + 1}; the last good "
                "checkpoint is kept. Try a smaller --learning-rate"
            )
        numbers = {name: getattr(self, name) for name in self.saved}
        checkpoint.save(folder / LAST, self.tensors(), numbers)

    def restore(self, folder: Path) -> None:
        tensors, numbers = checkpoint.load(folder / LAST)
        self.model.load_state_dict(checkpoint.part(tensors, "model."))
        checkpoint.restore_optimizer(self.optimizer, checkpoint.part(tensors, "optimizer."))
        self.best_weights = checkpoint.part(tensors, "best.")
        self.memory.restore(checkpoint.part(tensors, "memory."))
        self.worlds.restore(checkpoint.part(tensors, "worlds."))
        self.earned = tensors["trial.earned"]
        for name in self.saved:
            setattr(self, name, numbers[name])

    def keep_best_of(self, returns: Sequence[float]) -> None:
        """Remember the weights of those agents that never did better."""
        now = self.dqn.network.state_dict()
        if not self.best_weights:
            self.best_weights = {k: t.clone() for k, t in now.items()}
            self.best_returns = [-math.inf] * len(returns)
        better = [new > old for new, old in zip(returns, self.best_returns, strict=True)]
        rows = torch.tensor(better).nonzero()[:, 0]
        for name, kept in self.best_weights.items():
            kept[rows] = now[name][rows]
        self.best_returns = [max(pair) for pair in zip(returns, self.best_returns, strict=True)]
        if any(better):
            self.best_epoch = self.epoch + 1


def learn(
    networks: Sequence[nn.Module], make: Make, settings: DeepQSettings, folder: Path | None
) -> Generator[Progress]:
    """Train the networks in place, each by itself; they end with their best weights."""
    trial = begin(networks, make, settings)
    if folder is not None and (folder / LAST).exists():
        trial.restore(folder)
    with devices.prepared(torch.device("cpu"), settings.threads):
        yield from saving(epochs(trial, make, settings), trial, folder, settings.checkpoint_seconds)
    stack = trial.dqn.network
    assert isinstance(stack, Together)
    stack.unstack(networks, trial.best_weights)


def begin(networks: Sequence[nn.Module], make: Make, settings: DeepQSettings) -> Trial:
    """The trial before its first step."""
    agents, generator = len(networks), torch.Generator().manual_seed(mix(settings.seed, -1))
    dqn = METHODS[settings.method](Together(networks), Together(networks)).eval()
    worlds = make(agents * settings.copies, generator)
    return Trial(
        dqn,
        optimizer("adam", dqn.network.parameters(), settings.learning_rate),
        memory=ReplayBuffer(agents, settings.memory, worlds.observation.shape[1]),
        worlds=worlds,
        earned=torch.zeros(agents * settings.copies),
    )


def epochs(trial: Trial, make: Make, settings: DeepQSettings) -> Iterator[Progress]:
    """Past records, then epoch after epoch until a reason to stop."""
    steps = steps_of(settings)
    for number, past in enumerate(trial.history, 1):
        stopped = trial.stopped if number == len(trial.history) else ""
        yield Progress(number, settings.epochs, steps, steps, past["train_loss"], past, stopped)
    while not trial.stopped:
        began = time.perf_counter()
        for _ in steps_in(trial, settings):
            yield Progress(trial.epoch + 1, settings.epochs, trial.step, steps, trial.mean_loss())
        record = report(trial, make, settings)
        record["seconds"] = time.perf_counter() - began
        trial.history.append(record)
        trial.stopped = reason_to_stop(trial, settings)
        loss, epoch = trial.mean_loss(), trial.epoch + 1
        trial.next_epoch()
        trial.finished = []
        yield Progress(epoch, settings.epochs, steps, steps, loss, record, trial.stopped)


def steps_of(settings: DeepQSettings) -> int:
    """Steps of all copies at once in one epoch."""
    return math.ceil(settings.epoch_steps / settings.copies)


def steps_in(trial: Trial, settings: DeepQSettings) -> Iterator[None]:
    """The rest of the current epoch; yields about every tenth of a second."""
    ticked, steps, rate = time.perf_counter(), steps_of(settings), schedule(settings.schedule)
    generator = torch.Generator()
    while trial.step < steps:
        t = trial.epoch * steps + trial.step
        generator.manual_seed(mix(settings.seed, t))
        for group in trial.optimizer.param_groups:
            group["lr"] = settings.learning_rate * rate(t / (settings.epochs * steps))
        act(trial, settings, t, generator)
        if trial.memory.seen >= settings.warm_up:
            for number in range(t * settings.updates, (t + 1) * settings.updates):
                update(trial, settings, number, generator)
        trial.step += 1
        if time.perf_counter() - ticked >= TICK:
            ticked = time.perf_counter()
            yield


def act(trial: Trial, settings: DeepQSettings, t: int, generator: torch.Generator) -> None:
    """One step of every copy, remembered."""
    before = by_agent(trial.worlds.observation, settings.copies)
    with torch.no_grad():
        q = trial.dqn(before)
    share = t / max(1.0, settings.exploration * settings.epochs * steps_of(settings))
    epsilon = max(settings.epsilon, 1 - (1 - settings.epsilon) * share)
    action = explore(q.argmax(-1), q.shape[-1], epsilon, generator)
    step = trial.worlds.step(action.flatten(), generator)
    after, reward, terminated = (
        by_agent(x, settings.copies) for x in (step.observation, step.reward, step.terminated)
    )
    scaled = (1 - settings.discount) * reward  # so the memory's values are (1 - γ) Q
    trial.memory.add(Batch(before, action, scaled, after, terminated))
    trial.earned += step.reward
    if (ended := step.ended).any():
        trial.finished += trial.earned[ended].tolist()
        trial.earned[ended] = 0


def update(trial: Trial, settings: DeepQSettings, number: int, generator: torch.Generator) -> None:
    """One step of the optimizer for every agent, from its own memories."""
    trial.optimizer.zero_grad(set_to_none=True)
    batch = trial.memory.sample(settings.batch_size, generator)
    losses = trial.dqn.losses(batch, settings.discount).mean(1)
    losses.sum().backward()
    trial.optimizer.step()
    trial.total_loss += losses.detach().mean().item()
    trial.examples += 1
    if (number + 1) % settings.follow_every == 0:
        trial.dqn.update_target()


def report(trial: Trial, make: Make, settings: DeepQSettings) -> dict[str, int | float]:
    """The figures of an epoch: what the explorers earned, and what the greedy agents earn."""
    seed, network = mix(settings.seed, -1 - VALIDATION), trial.dqn.network
    found = play(lambda x: network(x).argmax(-1), make, settings.agents, settings.episodes, seed)
    each = found.mean(1)
    trial.keep_best_of(each.tolist())
    low, high = each.quantile(torch.tensor([0.1, 0.9])).tolist()
    record: dict[str, int | float] = {
        "epoch": trial.epoch + 1,
        "steps": (trial.epoch + 1) * steps_of(settings) * settings.copies,
        "train_loss": trial.mean_loss(),
        "validation_return": each.mean().item(),
        "validation_low": low,
        "validation_high": high,
    }
    if trial.finished:
        record["train_return"] = sum(trial.finished) / len(trial.finished)
    return record


@torch.no_grad()
def play(policy: Policy, make: Make, agents: int, episodes: int, seed: int) -> Tensor:
    """(agents, episodes): what a policy earns in fresh environments, undiscounted."""
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


def greedily(networks: Sequence[nn.Module]) -> Policy:
    """The best action of every network for its own observations."""
    stack = Together(networks).eval()
    return lambda observation: stack(observation).argmax(-1)


def by_agent(x: Tensor, copies: int) -> Tensor:
    """(agents · copies, …) → (agents, copies, …)."""
    return x.unflatten(0, (-1, copies))


def reason_to_stop(trial: Trial, settings: DeepQSettings) -> str:
    """Why this epoch was the last, or nothing."""
    if settings.patience and trial.epoch + 1 - trial.best_epoch >= settings.patience:
        return f"no better validation return for {settings.patience} epochs"
    return "all epochs done" if trial.epoch + 1 >= settings.epochs else ""
