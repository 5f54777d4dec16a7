"""What an environment is to a learner: many copies that step at once and begin again by themselves.

    s', r, ended = step(s, a),    a copy that ended starts afresh

A copy ends in one of two ways. Terminated: there is no future, the value of s' is zero. Truncated:
somebody looked at the clock, and the value of s' is that of any other state.
"""

from typing import NamedTuple, Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


class Transition(NamedTuple):
    """What one step brought each copy; `observation` is s', before an ended copy starts anew."""

    observation: Float[Tensor, "copies n"]
    reward: Float[Tensor, " copies"]
    terminated: Bool[Tensor, " copies"]
    truncated: Bool[Tensor, " copies"]

    @property
    def ended(self) -> Bool[Tensor, " copies"]:
        """Where an episode is over, in either way."""
        return self.terminated | self.truncated


@runtime_checkable
class Environments(Protocol):
    """Copies of one environment. All that is random in them comes from the caller's generator."""

    @property
    def observation(self) -> Float[Tensor, "copies n"]:
        """What each copy shows now."""

    def step(self, action: Int[Tensor, " copies"], generator: torch.Generator) -> Transition:
        """One step of every copy; those that end start afresh."""

    def state(self) -> dict[str, Tensor]:
        """All that the future depends on."""

    def restore(self, state: dict[str, Tensor]) -> None:
        """Go on from that state."""
