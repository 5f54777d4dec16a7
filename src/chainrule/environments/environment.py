"""The interface between an environment and a learner: many copies that step in parallel.

    s', r, terminated, truncated = step(s, a),    a copy whose episode is over restarts

Terminated: the episode has ended and the value of s' is zero. Truncated: a time limit stopped the
episode and s' has a value like any other state.
"""

from typing import NamedTuple, Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


class Transition(NamedTuple):
    """The result of one step of every copy.

    Args:
        observation: s', before a copy whose episode is over restarts.
        reward: r.
        terminated: The episode has ended; the value of s' is zero.
        truncated: A time limit stopped the episode; s' has a value.

    >>> import torch
    >>> from chainrule.environments import Transition
    >>> no, yes = torch.tensor([False]), torch.tensor([True])
    >>> Transition(torch.zeros(1, 4), torch.ones(1), no, yes).ended
    tensor([True])
    """

    observation: Float[Tensor, "envs n"]
    reward: Float[Tensor, " envs"]
    terminated: Bool[Tensor, " envs"]
    truncated: Bool[Tensor, " envs"]

    @property
    def ended(self) -> Bool[Tensor, " envs"]:
        """Whether the episode is over, terminated or truncated."""
        return self.terminated | self.truncated


@runtime_checkable
class Environments(Protocol):
    """Copies of one environment, a protocol; the caller's generator is the only randomness.

    >>> import torch
    >>> from chainrule.environments import CartPoles, Environments
    >>> isinstance(CartPoles(2, torch.Generator()), Environments)
    True
    """

    @property
    def observation(self) -> Float[Tensor, "envs n"]:
        """The current observation of each copy."""

    def step(self, action: Int[Tensor, " envs"], generator: torch.Generator) -> Transition:
        """One step of every copy; copies whose episode is over restart."""

    def state(self) -> dict[str, Tensor]:
        """Everything that the future depends on, for a checkpoint."""

    def restore(self, state: dict[str, Tensor]) -> None:
        """Continue from a saved state."""
