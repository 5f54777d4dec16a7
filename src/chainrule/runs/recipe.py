"""What a recipe is: data + model + settings, a frozen value whose fields are the flags.

A recipe that learns by gradients inherits from `Trained`, and only says what its data and its model
are. One with a learning rule of its own inherits from `Experiment` and also says how it learns and
what is measured.
"""

from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Generic

import torch
import tyro
from torch import Tensor, nn
from typing_extensions import TypeVar

from chainrule.data.splits import Encoder, Split, Splits
from chainrule.errors import InputError
from chainrule.learning.tasks import CLASSES, NUMBERS, TWO_CLASSES, Objective
from chainrule.models.feedforward.ensemble import Ensemble
from chainrule.training import Progress, Settings, evaluate, fit, fit_many

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Figures = dict[str, dict[str, float]]
SPLITS = ("train", "validation", "test")


@dataclass(frozen=True)
class Task:
    """What a model must know of its data: the shape of one example, and the classes' names.

    Where there are no classes, center and spread of the training targets.
    """

    shape: tuple[int, ...]
    classes: tuple[str, ...] = ()
    center: float = 0.0
    spread: float = 1.0

    @property
    def inputs(self) -> int:
        """Numbers in one example."""
        return torch.Size(self.shape).numel()

    @property
    def outputs(self) -> int:
        """One logit per class, or one real output."""
        return len(self.classes) or 1


@dataclass(frozen=True)
class Published:
    """A figure somebody printed, to be compared with ours: metric of a split, value, where."""

    metric: str
    value: float
    source: str


@dataclass(frozen=True)
class Facts:
    """What a run keeps of its data: the task, sizes, remarks, how to read a user's file."""

    task: Task
    examples: dict[str, int]
    notes: tuple[str, ...] = ()
    encoder: Encoder | None = None


M = TypeVar("M", bound=nn.Module)
D = TypeVar("D", default=Splits)
Record = dict[str, int | float]


class Experiment(ABC, Generic[M, D]):
    """The contract of every recipe. `seed` must be among its fields.

    Its data are splits, or whatever else it learns from and says the `facts` of: an environment.
    """

    notes: ClassVar[str] = ""
    published: ClassVar[tuple[Published, ...]] = ()
    seed: int

    @abstractmethod
    def data(self, folder: Path | None) -> D:
        """The data set."""

    @abstractmethod
    def model(self, task: Task) -> M:
        """A fresh model for data of this kind; random numbers come from torch's generator."""

    @abstractmethod
    def learn(self, model: M, data: D, folder: Path | None, device: str) -> Generator[Progress]:
        """Change the model until it has learned, yielding progress."""

    @abstractmethod
    def measure(self, model: M, data: D) -> Figures:
        """Every final figure, by split."""

    def facts(self, data: D) -> Facts:
        """What the data are; recipes without splits say it here."""
        assert isinstance(data, Splits)
        examples = {name: len(getattr(data, name).x) for name in SPLITS}
        return Facts(task_of(data), examples, data.notes, data.encoder)

    def probabilities(self, output: Tensor) -> Tensor:
        """(examples, classes) from the model's outputs."""
        return output.softmax(1)

    def compare(self, data: D) -> dict[str, Figures]:
        """Other methods on the same splits, by name."""
        return {}

    def compare_model(self, model: M, data: D) -> dict[str, Figures]:
        """Parts of the model on the same splits, by name."""
        return {}

    def pictures(self, model: M, data: D) -> "dict[str, Figure]":
        """What suits the task, by file name."""
        return {}

    def texts(self, model: M, data: D) -> dict[str, str]:
        """What the model writes, by file name."""
        return {}

    def curves(self, history: list[Record]) -> "Figure":
        """The course of the run, epoch by epoch; accuracy is 1 - error, one curve is enough.

        The ring is on the last epoch, unless patience chose the best.
        """
        from chainrule.console.output import figure
        from chainrule.learning.metrics import GREATER_IS_BETTER
        from chainrule.plots.curves import learning_curves

        shown = [{k: v for k, v in row.items() if k != "validation_accuracy"} for row in history]
        best = getattr(self, "patience", 0)
        kept = None if best else int(history[-1]["epoch"])
        return learning_curves(shown, None, kept, GREATER_IS_BETTER, figure)


@dataclass(frozen=True, kw_only=True)
class Trained(Settings, Experiment[nn.Module]):
    """A recipe trained by the engine: cross-entropy for classes, squared loss for numbers."""

    members: int = 1
    """Networks of different random starts, trained at once, that answer by their mean."""
    teacher: str = ""
    """A finished run whose answers this network learns along with the labels (distillation)."""
    temperature: float = 4.0
    """How much the teacher's probabilities are flattened."""
    teacher_share: float = 0.9
    """Weight of the teacher's answers against that of the labels."""
    start: Annotated[str, tyro.conf.arg(name="from")] = ""
    """A finished run whose weights this one begins with, wherever name and shape agree."""
    freeze: str = ""
    """Pattern of the parameters that stay as they are, such as layers.0.*."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.members < 1:
            raise InputError(f"--members must be at least 1, got {self.members}")
        for name in ("teacher", "start"):  # the run must be able to find them from any folder
            if value := getattr(self, name):
                object.__setattr__(self, name, str(Path(value).resolve()))

    def objective(self, data: Splits) -> Objective:
        """What is minimized; recipes with another loss or with augmentation say so here."""
        return objective_of(data)

    def learn(
        self, model: nn.Module, data: Splits, folder: Path | None, device: str
    ) -> Generator[Progress]:
        from chainrule.runs.transfer import freeze, inherit, taught

        if self.start:
            inherit(model, Path(self.start))
        if self.freeze:
            freeze(model, self.freeze)
        validation, objective = arrays(data.validation), self.objective(data)
        train: tuple[Tensor, ...] = arrays(data.train)
        if self.teacher:
            train, objective = taught(Path(self.teacher), train, objective, self)
        if isinstance(model, Ensemble):
            if device not in ("auto", "cpu"):
                raise InputError(f"--members trains on the CPU; leave out --device {device}")
            each = [replace(self, seed=self.seed + k) for k in range(self.members)]
            parts = list(model.members)
            return fit_many(parts, train, validation, each, objective, folder=folder)
        return fit(model, train, validation, self, objective, folder, device)

    def measure(self, model: nn.Module, data: Splits) -> Figures:
        figures = measure(model, data, self.objective(data))
        if isinstance(model, Ensemble):
            from chainrule.runs.ensembles import calibrated

            return calibrated(model, data, figures)
        return figures

    def compare_model(self, model: nn.Module, data: Splits) -> dict[str, Figures]:
        """For an ensemble, what its members can do alone: mean and spread."""
        if not isinstance(model, Ensemble):
            return {}
        from chainrule.runs.ensembles import compared

        return compared(model, data, [self.measure(member, data) for member in model.members])

    def pictures(self, model: nn.Module, data: Splits) -> "dict[str, Figure]":
        from chainrule.runs.pictures import pictures  # drawing is slow to import

        drawn = pictures(model, data)
        if isinstance(model, Ensemble):
            from chainrule.runs.ensembles import one_class_each, reliability_picture

            if one_class_each(data):
                drawn["calibration"] = reliability_picture(model, data)
        return drawn


def task_of(data: Splits) -> Task:
    """What the data ask of a model."""
    shape = tuple(data.train.x.shape[1:])
    if data.classes:
        return Task(shape, data.classes)
    y = data.train.y.double()
    return Task(shape, (), y.mean().item(), y.std().clamp_min(1e-12).item() if len(y) > 1 else 1.0)


def objective_of(data: Splits) -> Objective:
    """Cross-entropy for classes, squared loss for numbers."""
    if not data.classes:
        return NUMBERS
    return TWO_CLASSES if len(data.classes) == 2 else CLASSES


def measure(model: nn.Module, data: Splits, objective: Objective | None = None) -> Figures:
    """Loss and metrics of every split."""
    objective = objective or objective_of(data)
    return {name: evaluate(model, arrays(getattr(data, name)), objective) for name in SPLITS}


def one_step(figures: Mapping[str, float], why: str) -> Progress:
    """The report of a learning rule that is done at once."""
    record: dict[str, int | float] = {"epoch": 1}
    record |= {f"train_{name}": value for name, value in figures.items()}
    return Progress(1, 1, 1, 1, figures.get("loss", 0.0), record, why)


def arrays(split: Split) -> tuple[Tensor, Tensor]:
    """(x, y) as the engine takes them; real targets become a column, like the model's output."""
    x, y = split
    return (x, y[:, None]) if y.is_floating_point() and y.ndim == 1 else (x, y)
