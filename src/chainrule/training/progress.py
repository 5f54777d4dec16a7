"""What a run reports while it trains, and what remains of it: the history."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import overload

from chainrule.learning.metrics import HIGHER_IS_BETTER, Metric, format_metric

Record = dict[str, int | float]
SHOWN = 5  # epochs in a notebook's table


@dataclass(frozen=True)
class Progress:
    """A report, several times a second and at the end of every epoch.

    epoch: the present one, from 1.
    epochs: how many there will be.
    step: the present update of the whole run.
    steps: how many there will be.
    loss: the running mean of the epoch.
    record: the metrics of an epoch that just ended.
    stopped: why training ended, in the last report.
    kept: the epoch whose weights early stopping keeps so far; None without early stopping.
    past: an epoch before the checkpoint that this run has resumed from.

    >>> import chainrule as cr
    >>> for progress in cr.iterate(cr.models.MLP(2, [8], 2), cr.data.moons(), epochs=1):
    ...     pass
    >>> progress.epoch, progress.stopped
    (1, 'all epochs done')
    """

    epoch: int
    epochs: int
    step: int
    steps: int
    loss: float
    record: Record | None = None
    stopped: str = ""
    kept: int | None = None
    past: bool = False

    @property
    def fraction(self) -> float:
        """Share of the whole run that is done."""
        return (self.epoch - 1 + self.step / self.steps) / self.epochs


class History(Sequence[Record]):
    """The records of a run, one dictionary per epoch.

    Args:
        records: in the order of the epochs.
        stopped: why training ended.
        kept: the epoch whose weights the model has; None: the last.
        metrics: those of the task, which know their better direction.

    >>> history = History([{"epoch": 1, "train_loss": 0.5}], "all epochs done")
    >>> history[-1]["train_loss"], len(history)
    (0.5, 1)
    >>> history
    History(1 epoch, all epochs done: train_loss 0.5)
    """

    def __init__(
        self,
        records: Sequence[Record],
        stopped: str = "",
        kept: int | None = None,
        metrics: Sequence[Metric] = (),
    ):
        self.records, self.stopped, self.kept = list(records), stopped, kept
        self.metrics = tuple(metrics)

    @property
    def higher_is_better(self) -> frozenset[str]:
        """Names of the metrics whose largest value is the best."""
        own = {metric.name for metric in self.metrics}
        return HIGHER_IS_BETTER - own | {m.name for m in self.metrics if m.higher_is_better}

    def format(self, name: str, value: float | None) -> str:
        """A value as its metric is printed."""
        return format_metric(name, value, self.metrics)

    def __len__(self) -> int:
        return len(self.records)

    @overload
    def __getitem__(self, place: int) -> Record: ...
    @overload
    def __getitem__(self, place: slice) -> list[Record]: ...
    def __getitem__(self, place: int | slice) -> Record | list[Record]:
        return self.records[place]

    def __repr__(self) -> str:
        if not self.records:
            return "History(no epochs)"
        epochs = f"{len(self)} epoch{'s' if len(self) > 1 else ''}"
        kept = "" if self.kept is None else f", weights of epoch {self.kept}"
        last = ", ".join(
            f"{name} {self.format(name, value)}"
            for name, value in self.records[-1].items()
            if name not in ("epoch", "seconds")
        )
        return f"History({epochs}, {self.stopped}{kept}: {last})"

    def _repr_html_(self) -> str:
        """The last epochs as a table, for notebooks."""
        if not self.records:
            return "<p>no epochs</p>"
        names = [name for name in self.records[-1] if name != "epoch"]
        head = "".join(f"<th>{escape(name)}</th>" for name in ("epoch", *names))
        rows = "".join(
            f"<tr><td>{record['epoch']}</td>"
            + "".join(f"<td>{self.format(name, record.get(name))}</td>" for name in names)
            + "</tr>"
            for record in self.records[-SHOWN:]
        )
        return f"<table><tr>{head}</tr>{rows}</table><p>{escape(self.stopped)}</p>"
