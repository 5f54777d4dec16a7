"""What a run reports while it trains, and what remains of it: the history."""

from collections.abc import Sequence
from dataclasses import dataclass

Record = dict[str, int | float]


@dataclass(frozen=True)
class Progress:
    """A report several times a second; `record` holds the metrics of an epoch that just ended."""

    epoch: int
    epochs: int
    step: int
    steps: int
    loss: float
    record: Record | None = None
    stopped: str = ""

    @property
    def fraction(self) -> float:
        """Share of the whole run that is done."""
        return (self.epoch - 1 + self.step / self.steps) / self.epochs


class History(Sequence[Record]):
    """One record per epoch; prints as its last line, draws as learning curves.

    Args:
        records: in the order of the epochs.
        stopped: why training ended.
        kept: the epoch whose weights the model has; None: the last.
    """

    def __init__(self, records: Sequence[Record], stopped: str = "", kept: int | None = None):
        self.records, self.stopped, self.kept = list(records), stopped, kept

    def __len__(self) -> int:
        return len(self.records)

    def __getitem__(self, place):  # type: ignore[no-untyped-def]
        return self.records[place]

    def __repr__(self) -> str:
        if not self.records:
            return "History(no epochs)"
        last = ", ".join(f"{k} {v:.4g}" for k, v in self.records[-1].items() if k != "epoch")
        return f"History({len(self)} epochs, {self.stopped}; last: {last})"
