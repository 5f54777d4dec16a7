"""The state of a run: what the next step needs, saved to disk and restored."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NotRequired, TypedDict

from torch import Tensor, nn

from chainrule.errors import DivergenceError, InputError
from chainrule.learning.averaging import MovingAverage
from chainrule.training import checkpoint
from chainrule.training.files import writing
from chainrule.training.schema import Count, conform
from chainrule.training.stopping import EarlyStopping

LAST, BEST = "last.safetensors", "best.safetensors"
SHARDS = "last.json"  # names a set of files in place of the last one
MEMBERS = "members"  # of networks trained together: a record of each


class Past(TypedDict):
    """What the record of every epoch holds, beside its metrics."""

    epoch: Count


class Origin(TypedDict):
    """What the run began with, beside its settings."""

    num_threads: NotRequired[Annotated[int, range(1, 2**31)]]
    products: NotRequired[Literal["full", "mixed"]]
    num_processes: NotRequired[Annotated[int, range(1, 2**31)]]


class Header(TypedDict):
    """The header of a checkpoint."""

    epoch: Count
    step: Count
    total_loss: float
    examples: Count
    history: list[Past]
    stopped: str
    origin: Origin
    stopping: EarlyStopping


def load(path: Path, form: type = Header) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Tensors and header of a checkpoint."""
    tensors, numbers = checkpoint.load(path)
    return tensors, checked_numbers(numbers, path, form)


def checked_numbers(numbers: dict[str, Any], path: Path, form: type = Header) -> dict[str, Any]:
    """The numbers of a checkpoint, which must have this form."""
    conform(numbers, form, path)
    metrics = [{k: v for k, v in past.items() if k != MEMBERS} for past in numbers["history"]]
    conform(metrics, list[dict[str, float]], path, "history")
    return numbers


@dataclass
class State:
    """Position in the run, running loss, history, and the best weights so far.

    origin: settings and size of the data, which a resumed run must share.
    carried: what one step hands to the next besides the weights, such as a recurrent state.
    folder: where the run was saved before, or restored from; it must not vanish.

    There is no random state: the order of epoch e follows from (seed, e), masks of step t from
    (seed, t), and the learning rate from t.
    """

    model: nn.Module
    optimizer: Any  # None for learning rules that need none
    epoch: int = 0
    step: int = 0
    total_loss: float = 0.0
    examples: int = 0
    stopping: EarlyStopping = field(default_factory=EarlyStopping)
    best_weights: dict[str, Tensor] = field(default_factory=dict)
    average: MovingAverage | None = None
    carried: dict[str, Tensor] = field(default_factory=dict)
    history: list[dict[str, Any]] = field(default_factory=list)
    stopped: str = ""
    origin: dict[str, Any] = field(default_factory=dict)
    folder: Path | None = None
    saved: ClassVar[tuple[str, ...]] = (
        "epoch",
        "step",
        "total_loss",
        "examples",
        "history",
        "stopped",
        "origin",
    )
    form: ClassVar[type] = Header

    def mean_loss(self) -> float:
        """Mean training loss since the epoch began."""
        return self.total_loss / max(self.examples, 1)

    def next_epoch(self) -> None:
        self.epoch, self.step, self.total_loss, self.examples = self.epoch + 1, 0, 0.0, 0

    def keep_best(self, cost: float) -> None:
        """Keep a copy of the weights if their cost is the lowest so far."""
        if self.stopping.update(self.epoch + 1, cost):
            self.best_weights = {k: v.clone() for k, v in self.model.state_dict().items()}

    def averaged(self) -> AbstractContextManager[None]:
        """The model with its averaged weights, where an average is kept."""
        kept = self.average is not None and self.average.updates > 0
        return self.average.applied(self.model) if self.average and kept else nullcontext()

    def parts(self) -> dict[str, dict[str, Tensor]]:
        """Every tensor of a checkpoint, by prefix; subclasses may add to it."""
        return {
            "model.": dict(self.model.state_dict()),
            "best.": self.best_weights,
            "optimizer.": checkpoint.optimizer_tensors(self.optimizer) if self.optimizer else {},
            "average.": self.average.state() if self.average is not None else {},
            "carried.": self.carried,
        }

    def numbers(self) -> dict[str, Any]:
        """Everything in a checkpoint that is not a tensor."""
        return {name: getattr(self, name) for name in self.saved} | {
            "stopping": asdict(self.stopping)
        }

    def save(self, folder: Path) -> None:
        """Write the last checkpoint, and the best weights to a file of their own."""
        if checkpoint.not_finite(self.model):
            raise DivergenceError(
                f"the weights are no longer finite in epoch {self.epoch + 1}, step {self.step}; "
                "the last good checkpoint is kept. Try a smaller `learning_rate`, or clip gradients"
            )
        self.write(folder, self.named_parts())

    def named_parts(self) -> dict[str, Tensor]:
        """Every tensor of a checkpoint by its whole name."""
        return {
            name: t
            for prefix, part in self.parts().items()
            for name, t in checkpoint.named(part, prefix).items()
        }

    def write(self, folder: Path, tensors: dict[str, Tensor]) -> None:
        """The tensors of a checkpoint as one file."""
        if folder != self.folder:
            with writing(folder):
                folder.mkdir(parents=True, exist_ok=True)
            self.folder = folder
        checkpoint.save(folder / LAST, tensors, self.numbers())
        if self.best_weights:
            checkpoint.save(folder / BEST, self.best_weights, {"epoch": self.stopping.best_epoch})
        if (folder / SHARDS).exists():
            from chainrule.training.distributed import shards

            shards.remove(folder)

    def read(self, folder: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Tensors and numbers of the last checkpoint."""
        if not self.in_shards(folder):
            return load(folder / LAST, self.form)
        from chainrule.training.distributed import shards

        return shards.whole(folder), self.numbers_of_set(folder)

    def in_shards(self, folder: Path) -> bool:
        """Whether the last checkpoint is a set of shards, which several processes have written."""
        if not (folder / SHARDS).exists():
            return False
        if not (folder / LAST).exists():
            return True
        ours, theirs = load(folder / LAST, self.form)[1], self.numbers_of_set(folder)
        return (theirs["epoch"], theirs["step"]) > (ours["epoch"], ours["step"])

    def numbers_of_set(self, folder: Path) -> dict[str, Any]:
        """What a set of shards holds beside its tensors."""
        from chainrule.training.distributed import shards

        return checked_numbers(shards.numbers(folder), folder / SHARDS, self.form)

    def exists(self, folder: Path) -> bool:
        """Whether the folder holds a checkpoint."""
        return (folder / LAST).exists() or (folder / SHARDS).exists()

    def restore(self, folder: Path, loss_name: str = "") -> None:
        """Continue from the last checkpoint, whose records must hold a loss of this name."""
        tensors, numbers = self.read(folder)
        for number, past in enumerate(numbers["history"]):
            if loss_name and loss_name not in past:
                missing = f'is damaged: "history.{number}.{loss_name}" is missing'
                raise checkpoint.damaged(folder / LAST, missing)
        changed = [k for k, v in self.origin.items() if numbers["origin"].get(k, v) != v]
        if changed:
            raise InputError(
                f"the checkpoint in {folder} comes from another run: it differs in "
                f"{', '.join(changed)}; use another folder, or the same settings and data"
            )
        try:
            self.model.load_state_dict(checkpoint.part(tensors, "model."))
            self.restore_rest(tensors, numbers)
        except InputError as error:
            raise checkpoint.damaged(folder / LAST, f"is damaged: {error}") from None
        except (AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
            reason = str(error).splitlines()[-1].strip()
            raise InputError(
                f"the checkpoint in {folder} belongs to another model: {reason}"
            ) from None
        checkpoint.check_finite(self.model, folder / LAST)
        self.folder = folder

    def restore_rest(self, tensors: dict[str, Tensor], numbers: dict[str, Any]) -> None:
        """Everything but the weights."""
        if self.optimizer is not None:
            checkpoint.restore_optimizer(self.optimizer, checkpoint.part(tensors, "optimizer."))
        self.best_weights = checkpoint.part(tensors, "best.")
        self.carried = checkpoint.part(tensors, "carried.")
        if self.average is not None:
            self.average.restore(checkpoint.part(tensors, "average."))
        self.stopping = EarlyStopping(**numbers["stopping"])
        for name in self.saved:
            setattr(self, name, numbers[name])
