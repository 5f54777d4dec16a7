"""Settings of deep Q-learning: a frozen value whose fields are the command-line flags."""

from dataclasses import dataclass

from chainrule.errors import InputError
from chainrule.learning.schedules import SCHEDULES
from chainrule.models.reinforcement.double_dqn import DoubleDQN
from chainrule.models.reinforcement.dqn import DQN
from chainrule.registry import unknown
from chainrule.training.settings import check_numbers

METHODS: dict[str, type[DQN]] = {"dqn": DQN, "double-dqn": DoubleDQN}


@dataclass(frozen=True, kw_only=True)
class DQNSettings:
    """How to act, remember and learn."""

    seed: int = 0
    """From it follow the initial weights, every episode and every random action."""
    agents: int = 1
    """Networks that learn at once, each by itself; several of them show the spread."""
    method: str = "double-dqn"
    """dqn or double-dqn."""
    hidden: tuple[int, ...] = (128, 128)
    """Widths of the hidden layers."""
    epochs: int = 50
    """Parts of the training; after each of them the agents are tried without exploring."""
    epoch_steps: int = 1000
    """Steps of an agent in one epoch, all its copies of the environment together."""
    copies: int = 16
    """Copies of the environment in which an agent acts at once."""
    updates: int = 4
    """Updates after every step of all copies."""
    batch_size: int = 128
    """Remembered steps per update."""
    learning_rate: float = 2e-3
    """Step size η of Adam, the peak of the schedule."""
    schedule: str = "cosine"
    """constant, step, exponential, cosine, warm-up, warm-up-cosine, inverse-sqrt or one-cycle."""
    discount: float = 0.99
    """γ, what a reward is worth one step later."""
    memory: int = 50_000
    """Steps that an agent remembers."""
    warm_up: int = 1000
    """Steps of an agent before its first update."""
    follow_every: int = 20
    """Updates after which the older network becomes a copy of the newer one."""
    exploration: float = 0.15
    """Share of the training over which the share of random actions falls from 1 to epsilon."""
    epsilon: float = 0.05
    """Share ε of random actions after that."""
    patience: int = 0
    """Stop after this many epochs in which no agent did better than ever before; 0: never."""
    episodes: int = 50
    """Greedy episodes after every epoch; each agent ends with the weights that did best in them."""
    test_episodes: int = 100
    """Greedy episodes, others, that the final figures are the mean of."""
    threads: int = 1
    """CPU threads; the steps are too small to be worth sharing."""
    checkpoint_seconds: float = 20.0
    """Longest time between two checkpoints."""

    def __post_init__(self) -> None:
        check_numbers(self, LEAST)
        if self.memory < self.copies:
            raise InputError(
                f"`memory` must hold a step of every copy, {self.copies}, got {self.memory}"
            )
        check_shares(self)
        for what, name, known in (
            ("method", self.method, METHODS),
            ("schedule", self.schedule, SCHEDULES),
        ):
            if name not in known:
                raise InputError(unknown(what, name, list(known)))


def check_shares(settings: DQNSettings) -> None:
    """Discount and shares of random actions."""
    if not 0 <= settings.discount < 1:
        raise InputError(f"`discount`, γ, must lie in [0, 1), got {settings.discount}")
    for field in ("exploration", "epsilon"):
        value = getattr(settings, field)
        if not 0 <= value <= 1:
            raise InputError(f"`{field}` is a share from 0 to 1, got {value}")


LEAST = {
    "seed": 0,
    "agents": 1,
    "epochs": 1,
    "epoch_steps": 1,
    "copies": 1,
    "updates": 1,
    "batch_size": 1,
    "memory": 1,
    "warm_up": 1,
    "follow_every": 1,
    "patience": 0,
    "episodes": 1,
    "test_episodes": 1,
    "threads": 1,
    "checkpoint_seconds": 0,
}
