"""What the next step of training needs, and its way to the disk and back."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from torch import Tensor, nn
from torch.optim import Optimizer

from chainrule.errors import InputError
from chainrule.learning.averaging import MovingAverage
from chainrule.training import checkpoint

LAST, BEST = "last.safetensors", "best.safetensors"


@dataclass
class State:
    """Position in the run, running loss, past epochs, and the best weights so far.

    origin: settings and size of the data, which a resumed run must share.
    carried: what one step hands to the next besides the weights, such as a recurrent state.

    There is no random state: the order of epoch e follows from (seed, e), masks of step t from
    (seed, t), and the learning rate from t.
    """

    model: nn.Module
    optimizer: Optimizer
    epoch: int = 0
    step: int = 0
    total_loss: float = 0.0
    examples: int = 0
    best: float | None = None
    best_epoch: int = 0
    best_weights: dict[str, Tensor] = field(default_factory=dict)
    average: MovingAverage | None = None
    carried: dict[str, Tensor] = field(default_factory=dict)
    history: list[dict[str, Any]] = field(default_factory=list)
    stopped: str = ""
    origin: dict[str, Any] = field(default_factory=dict)
    saved: ClassVar[tuple[str, ...]] = (
        "epoch",
        "step",
        "total_loss",
        "examples",
        "best",
        "best_epoch",
        "history",
        "stopped",
        "origin",
    )

    def mean_loss(self) -> float:
        """Mean training loss since the epoch began."""
        return self.total_loss / max(self.examples, 1)

    def next_epoch(self) -> None:
        self.epoch, self.step, self.total_loss, self.examples = self.epoch + 1, 0, 0.0, 0

    def keep_best(self, cost: float) -> None:
        """Remember these weights if their cost is the lowest so far."""
        if self.best is None or cost < self.best:
            self.best, self.best_epoch = cost, self.epoch + 1
            self.best_weights = {k: v.clone() for k, v in self.model.state_dict().items()}

    def averaged(self) -> AbstractContextManager[None]:
        """The model with its averaged weights, where an average is kept."""
        kept = self.average is not None and self.average.updates > 0
        return self.average.applied(self.model) if self.average and kept else nullcontext()

    def save(self, folder: Path) -> None:
        """The last checkpoint, whole; and the best weights by themselves."""
        if not all(t.isfinite().all() for t in self.model.state_dict().values()):
            raise InputError(
                f"the weights are no longer finite in epoch {self.epoch + 1}, step {self.step}; "
                "the last good checkpoint is kept. Try a smaller --learning-rate or --clip 1"
            )
        numbers = {name: getattr(self, name) for name in self.saved}
        tensors = (
            checkpoint.named(self.model.state_dict(), "model.")
            | checkpoint.named(self.best_weights, "best.")
            | checkpoint.named(checkpoint.optimizer_tensors(self.optimizer), "optimizer.")
        )
        if self.average is not None:
            tensors |= checkpoint.named(self.average.state(), "average.")
        tensors |= checkpoint.named(self.carried, "carried.")
        checkpoint.save(folder / LAST, tensors, numbers)
        if self.best_weights:
            checkpoint.save(folder / BEST, self.best_weights, {"epoch": self.best_epoch})

    def restore(self, folder: Path) -> None:
        """Continue where the last checkpoint stands."""
        tensors, numbers = checkpoint.load(folder / LAST)
        changed = [k for k, v in self.origin.items() if numbers["origin"].get(k, v) != v]
        if changed:
            raise InputError(
                f"the checkpoint in {folder} comes from another run: it differs in "
                f"{', '.join(changed)}; use another folder, or the same settings and data"
            )
        try:
            self.model.load_state_dict(checkpoint.part(tensors, "model."))
        except RuntimeError as error:
            reason = str(error).splitlines()[-1].strip()
            raise InputError(
                f"the checkpoint in {folder} belongs to another model: {reason}"
            ) from None
        checkpoint.restore_optimizer(self.optimizer, checkpoint.part(tensors, "optimizer."))
        self.best_weights = checkpoint.part(tensors, "best.")
        self.carried = checkpoint.part(tensors, "carried.")
        if self.average is not None:
            self.average.restore(checkpoint.part(tensors, "average."))
        for name in self.saved:
            setattr(self, name, numbers[name])
