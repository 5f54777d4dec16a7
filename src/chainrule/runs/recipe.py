"""The contract of recipes: data, model, task, settings, and what is not supported.

A recipe is a frozen dataclass; its fields and those of its settings are the command-line flags. One
that is trained by gradients defines data and model; one with its own learning rule also defines
`fit`.
"""

from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import torch
from torch import Tensor, nn

from chainrule.data.readers.tables.table_encoder import TableEncoder
from chainrule.data.splits import BlockSplits, Encoder
from chainrule.errors import InputError
from chainrule.learning.augmentation import Augment
from chainrule.learning.metrics import HIGHER_IS_BETTER, format_metric
from chainrule.learning.tasks import (
    Task,
    decode_classes,
    decode_numbers,
    decode_segments,
    task_for,
)
from chainrule.runs.options import RunOptions
from chainrule.runs.predictions import SPLITS, Metrics, Predictions
from chainrule.training import Progress, Record, Settings, iterate, outputs
from chainrule.training.evaluation import measured
from chainrule.training.sources.base import BatchSource
from chainrule.training.sources.convert import as_source

if TYPE_CHECKING:
    from matplotlib.figure import Figure

R = TypeVar("R", bound="BaseRecipe")
EVERYTHING = ("members", "teacher", "transfer", "tune", "lr", "processes")


def only_gradients(how: str) -> dict[str, str]:
    """`unsupported` of a recipe without gradient steps."""
    return dict.fromkeys(EVERYTHING, f"it {how} and has no gradient steps")


def one_label(what: str) -> dict[str, str]:
    """`unsupported` where an example has several labels or none."""
    return dict.fromkeys(("teacher", "class_weights", "label_smoothing"), what)


@dataclass(frozen=True)
class DataSummary:
    """What the model and later predictions need to know about the data.

    Args:
        shape: of one example.
        classes: the names of the classes; empty for regression.
        target_mean: of real training targets.
        target_std: of real training targets.
        vocab_sizes: of text, one for each language.
        examples: number of examples by split.
        remarks: what was dropped or changed when the data were read.
        encoder: turns a user's file into the tensors that the model takes.
    """

    shape: tuple[int, ...] = ()
    classes: tuple[str, ...] = ()
    target_mean: float = 0.0
    target_std: float = 1.0
    vocab_sizes: tuple[int, ...] = ()
    examples: Mapping[str, int] | None = None
    remarks: tuple[str, ...] = ()
    encoder: Encoder | None = None

    @property
    def inputs(self) -> int:
        """Number of entries of one example."""
        return torch.Size(self.shape).numel()

    @property
    def outputs(self) -> int:
        """One logit per class, or one real output."""
        return len(self.classes) or 1

    @property
    def vocab_size(self) -> int:
        """The vocabulary size of a model of one language."""
        return self.vocab_sizes[0]


@dataclass(frozen=True)
class Published:
    """A published result: metric with its split (`test error`), value, source."""

    metric: str
    value: float
    source: str


class BaseRecipe(ABC):
    """The base of every recipe, with defaults for gradient training."""

    reference: ClassVar[str] = ""
    """Its section in the notes."""
    published: ClassVar[tuple[Published, ...]] = ()
    unsupported: ClassVar[Mapping[str, str]] = {}
    """Unsupported capabilities and settings, each with the reason."""
    options: ClassVar[RunOptions] = RunOptions()
    """Default options of its runs."""
    data_fields: ClassVar[tuple[str, ...]] = ()
    """Fields that change the data, which cannot be tuned."""
    requires: ClassVar[Mapping[str, str]] = {}
    """Required options, each with a hint."""
    example_text: ClassVar[str] = "a quiet film with a wonderful ending"
    """A text that a recipe of texts can answer, for the document of a service."""
    settings: Settings

    @classmethod
    def configured(cls: type[R], **values: Any) -> R:
        """The recipe with some of its fields and of its settings changed."""
        from chainrule.runs.configuration import configure

        return configure(cls, values).recipe  # type: ignore[return-value]

    def changed(self: R, **values: Any) -> R:
        """The recipe with some of its fields and of its settings replaced."""
        names = {field.name for field in fields(self)}  # type: ignore[arg-type]
        own = {name: value for name, value in values.items() if name in names}
        rest = {name: value for name, value in values.items() if name not in names}
        if rest:
            own["settings"] = replace(self.settings, **rest)
        return replace(self, **own)  # type: ignore[type-var]

    def value(self, name: str) -> Any:
        """A field of the recipe or of its settings."""
        return getattr(self, name) if hasattr(self, name) else getattr(self.settings, name)

    @classmethod
    def by_gradients(cls) -> bool:
        """Whether it has training settings and is trained by the engine."""
        return "settings" in {field.name for field in fields(cls)}  # type: ignore[arg-type]

    @property
    def seed(self) -> int:
        return self.settings.seed

    @abstractmethod
    def data(self, folder: Path | None) -> Any:
        """The data: splits, or another source such as an environment."""

    @abstractmethod
    def model(self, summary: DataSummary) -> nn.Module:
        """A new model for such data, initialized by torch's global generator."""

    def summarize(self, data: Any) -> DataSummary:
        """A summary of the data."""
        shape = tuple(data.train.x.shape[1:])
        examples = {name: len(getattr(data, name).x) for name in SPLITS}
        if isinstance(data, BlockSplits):
            examples["train"] = sum(data.blocks.sizes)
        rest: dict[str, Any] = {"remarks": data.remarks, "encoder": data.encoder}
        if data.classes or not data.train.y.is_floating_point():
            return DataSummary(shape, data.classes, examples=examples, **rest)
        y = data.train.y.double()
        std = y.std().clamp_min(1e-12).item() if len(y) > 1 else 1.0
        return DataSummary(shape, (), y.mean().item(), std, examples=examples, **rest)

    def task(self, data: Any) -> Task:
        """Loss and metrics; by default inferred from the targets."""
        return task_for(data.train.y, len(data.classes))

    def augmentation(self) -> Augment | None:
        """The augmentation of training batches."""
        return None

    def source(self, split: Any) -> BatchSource:
        """The batches of a split, or of blocks on the disk."""
        data = tuple(split) if isinstance(split, tuple) else split
        return as_source(data, self.settings, 1, self.augmentation())

    def network(self, model: nn.Module, data: Any) -> nn.Module:
        """The module that is trained and evaluated, such as the model on the graph of the data."""
        return model

    def network_for(self, model: nn.Module) -> nn.Module:
        """The module that predicts for a user's inputs."""
        return model

    def decode(self, output: Tensor, summary: DataSummary) -> list[dict[str, Any]]:
        """Answers from the outputs for a user's inputs."""
        if isinstance(summary.encoder, TableEncoder):
            output = summary.encoder.restored(output)
        if not summary.classes:
            return decode_numbers(output, ())
        return (decode_segments if output.ndim > 2 else decode_classes)(output, summary.classes)

    def answer_texts(
        self, model: nn.Module, texts: Sequence[str], summary: DataSummary
    ) -> list[dict[str, Any]]:
        """Answers for a user's texts; by default a class for each."""
        encoder: Any = summary.encoder
        x = encoder.encode_texts(texts)
        found = self.decode(outputs(self.network_for(model), (x,)).float(), summary)
        return [{"input": text} | answer for text, answer in zip(texts, found, strict=True)]

    def answer_nodes(
        self, model: nn.Module, paths: Sequence[Path], summary: DataSummary
    ) -> list[dict[str, Any]]:
        """Answers for tables of nodes or edges of a user's graph; recipes of graphs have them."""
        raise InputError(f"{type(self).__module__} has no graph to look nodes up in")

    def initialize(self, model: nn.Module, data: Any) -> None:  # noqa: B027 (most have nothing to add)
        """Change the initial weights by the data, before transfer and training."""

    def fit(self, model: Any, data: Any, folder: Path | None, device: str) -> Generator[Progress]:
        """Train the model in place, yielding progress."""
        return iterate(
            self.network(model, data),
            self.source(training_data(data)),
            self.source(data.validation),
            task=self.task(data),
            settings=self.settings,
            folder=folder,
            device=device,
        )

    def outputs(self, model: Any, data: Any, split: str) -> Tensor:
        """The model's outputs on a split; computed once, by `Predictions`."""
        x = getattr(data, split).x
        return outputs(self.network(model, data), (x,)).float()

    def evaluate(self, predictions: Predictions) -> Metrics:
        """Every final metric, by split."""
        task = self.task(predictions.data)
        return {name: self.measure(predictions, name, task) for name in SPLITS}

    def measure(self, predictions: Predictions, split: str, task: Task) -> dict[str, float]:
        """Loss and metrics of one split."""
        arrays = task.targets(tuple(getattr(predictions.data, split)))
        return measured(predictions.outputs(split), arrays[task.inputs :], task)

    def breakdown(self, predictions: Predictions) -> dict[str, Metrics]:
        """Metrics of parts of the model or of the test data, by name."""
        return {}

    def baselines(self, data: Any) -> dict[str, Metrics]:
        """Other methods on the same splits, by name."""
        return {}

    def decision(self, predictions: Predictions) -> dict[str, Any]:
        """What `predict` adds to outputs, chosen on the validation split: see `decisions`."""
        return {}

    def figures(self, predictions: Predictions) -> "dict[str, Figure]":
        """Figures of the result, by file name."""
        from chainrule.runs.pictures import pictures  # drawing is slow to import

        return pictures(predictions)

    def texts(self, predictions: Predictions) -> dict[str, str]:
        """Texts of the result, by file name."""
        return {}

    def curves(self, history: Sequence[Record]) -> "Figure":
        """Learning curves, without the accuracy, which is 1 - error.

        The marked epoch is the last one, or with early stopping the best.
        """
        from chainrule.plots.curves import learning_curves

        shown = [{k: v for k, v in row.items() if k != "validation_accuracy"} for row in history]
        chosen = self.by_gradients() and self.settings.patience
        kept = None if chosen else int(history[-1]["epoch"])
        return learning_curves(shown, None, kept, HIGHER_IS_BETTER, format_metric)


def training_data(data: Any) -> Any:
    """What is trained on: the training split, or all its rows where they are on the disk."""
    return data.blocks if isinstance(data, BlockSplits) else data.train


def one_step(metrics: Mapping[str, float], why: str) -> Progress:
    """The progress report of a learning rule of a single step."""
    record: Record = {"epoch": 1}
    record |= {f"train_{name}": value for name, value in metrics.items()}
    return Progress(1, 1, 1, 1, metrics.get("loss", 0.0), record, why)
