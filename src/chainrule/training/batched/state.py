"""The state of many networks that are trained together."""

from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

from torch import Tensor

from chainrule.errors import InputError
from chainrule.training.schema import Count
from chainrule.training.state import Header, Past, State
from chainrule.training.stopping import EarlyStopping


class BatchedPast(Past):
    """The record of an epoch, with that of each member."""

    members: list[dict[str, float]]


class BatchedHeader(Header):
    """The header of a checkpoint of many networks."""

    history: list[BatchedPast]  # type: ignore[misc]
    totals: list[float]
    diverged: list[Count]
    rules: list[EarlyStopping]


@dataclass
class BatchedState(State):
    """The state of all members: running losses, stopping rules, diverged members."""

    totals: list[float] = field(default_factory=list)
    rules: list[EarlyStopping] = field(default_factory=list)
    diverged: list[int] = field(default_factory=list)
    saved: ClassVar[tuple[str, ...]] = (*State.saved, "totals", "diverged")
    form: ClassVar[type] = BatchedHeader

    def numbers(self) -> dict[str, Any]:
        return super().numbers() | {"rules": [asdict(rule) for rule in self.rules]}

    def restore_rest(self, tensors: dict[str, Tensor], numbers: dict[str, Any]) -> None:
        super().restore_rest(tensors, numbers)
        members = len(self.rules)
        if len(numbers["rules"]) != members:
            raise InputError(f'expected {members} objects as "rules", got {len(numbers["rules"])}')
        if len(numbers["totals"]) not in (0, members):
            raise InputError(
                f'expected {members} numbers as "totals", got {len(numbers["totals"])}'
            )
        if (most := max(numbers["diverged"], default=0)) >= members:
            raise InputError(f'expected numbers below {members} as "diverged", got {most}')
        self.rules = [EarlyStopping(**rule) for rule in numbers["rules"]]
