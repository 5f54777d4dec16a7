"""Settings of deep Q-learning: a frozen value whose fields are the command-line flags."""

from dataclasses import dataclass

from chainrule.arguments import checked
from chainrule.errors import InputError
from chainrule.learning.schedules import SCHEDULES
from chainrule.models.reinforcement.double_dqn import DoubleDQN
from chainrule.models.reinforcement.dqn import DQN
from chainrule.registry import unknown
from chainrule.training.settings import check_numbers

METHODS: dict[str, type[DQN]] = {"dqn": DQN, "double-dqn": DoubleDQN}


@checked
@dataclass(frozen=True, kw_only=True)
class DQNSettings:
    """Settings of acting, of the replay buffer and of the updates."""

    seed: int = 0
    """Determines the initial weights, every episode and every random action."""
    agents: int = 1
    """Number of independent agents, trained at once."""
    method: str = "double-dqn"
    """dqn or double-dqn."""
    hidden: tuple[int, ...] = (128, 128)
    """Widths of the hidden layers."""
    epochs: int = 50
    """Number of epochs; the greedy policies are evaluated after each."""
    epoch_steps: int = 1000
    """Environment steps of an agent per epoch, summed over its copies."""
    copies: int = 16
    """Environments that an agent acts in at once."""
    updates: int = 4
    """Updates after each step of all copies."""
    batch_size: int = 128
    """Transitions per update."""
    learning_rate: float = 2e-3
    """Step size η of Adam, the peak of the schedule."""
    schedule: str = "cosine"
    """constant, step, exponential, cosine, warm-up, warm-up-cosine, inverse-sqrt or one-cycle."""
    discount: float = 0.99
    """Discount factor γ."""
    memory: int = 50_000
    """Size of the replay buffer, in transitions."""
    warm_up: int = 1000
    """Environment steps before the first update."""
    follow_every: int = 20
    """Updates between two copies of the network into the target network."""
    exploration: float = 0.15
    """Share of the training over which ε falls from 1 to `epsilon`."""
    epsilon: float = 0.05
    """Final probability ε of a random action."""
    patience: int = 0
    """Stop after this many epochs without a better agent; 0: never."""
    episodes: int = 50
    """Validation episodes after each epoch; each agent keeps its best weights."""
    test_episodes: int = 100
    """Test episodes of the final evaluation."""
    threads: int = 1
    """CPU threads; the steps are too small for more than one."""
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
