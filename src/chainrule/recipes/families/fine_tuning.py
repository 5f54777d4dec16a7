"""What the recipes that fine-tune BERT share: a pre-trained beginning, and the same without it.

With `--from RUN`, a run of `bert-pretrain` of the same sizes, its vocabulary is taken over and all
weights but those of the new head; the network from random weights is trained on the same rows
afterwards and reported beside. Without it, the vocabulary is learned from the task's own text.
"""

from collections.abc import Generator, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from torch import nn

from chainrule.data.readers.encoders import encoder_from_json
from chainrule.data.splits import Splits
from chainrule.data.text.wordpiece import WordPiece, train_wordpiece
from chainrule.errors import InputError
from chainrule.recipes.families.bert import ByLength, Sizes, lengths, pieces_of
from chainrule.runs.recipe import SPLITS, Facts, Figures, Task, Trained, arrays
from chainrule.training import Progress, evaluate, fit

SCRATCH = "the same network from scratch"


@dataclass(frozen=True, kw_only=True)
class FineTuned(Sizes, Trained):
    """A task says its data, its head and its objective."""

    one_label: ClassVar[bool] = True  # for each example, not for each word

    pieces: int = 8000
    """Size of the vocabulary, where none is taken over."""
    dropout: float = 0.1
    """Share of the units dropped in each step."""
    batch_size: int = 16
    optimizer: str = "adamw"
    learning_rate: float = 5e-4
    schedule: str = "warm-up-cosine"
    weight_decay: float = 0.01
    clip: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_sizes()
        if self.members > 1 or self.teacher:
            raise InputError("--members and --teacher do not go with sequences; leave them out")
        if not self.one_label and (self.label_smoothing or self.class_weights != "none"):
            raise InputError(
                "--label-smoothing and --class-weights are for one label per example; "
                "here each has several, leave them out"
            )

    def vocabulary(self, texts: Iterable[str]) -> WordPiece:
        """That of the pre-trained network, or one learned from the texts."""
        if self.start:
            return inherited(Path(self.start), self)
        return train_wordpiece(texts, self.pieces, self.length)

    def facts(self, data: Splits) -> Facts:
        examples = {name: len(getattr(data, name).x) for name in SPLITS}
        task = Task((len(pieces_of(data)),), data.classes)
        return Facts(task, examples, data.notes, data.encoder)

    def reader(self, model: nn.Module) -> nn.Module:
        """The model as it is trained and measured."""
        return ByLength(model)

    def learn(
        self, model: nn.Module, data: Splits, folder: Path | None, device: str
    ) -> Generator[Progress]:
        from chainrule.runs.transfer import freeze, inherit

        if self.start:
            inherit(model, Path(self.start))
        if self.freeze:
            freeze(model, self.freeze)
        train, validation = arrays(data.train), arrays(data.validation)
        known = lengths(data.train.x)
        reader, objective = self.reader(model), self.objective(data)
        return fit(reader, train, validation, self, objective, folder, device, known)

    def measure(self, model: nn.Module, data: Splits) -> Figures:
        reader, objective = self.reader(model), self.objective(data)
        return {name: evaluate(reader, arrays(getattr(data, name)), objective) for name in SPLITS}

    def compare(self, data: Splits) -> dict[str, Figures]:
        """The same network from random weights on the same rows, where this one had others."""
        if not self.start:
            return {}
        from chainrule.runs.run import build

        alone = replace(self, start="", freeze="")
        model = build(alone, self.facts(data).task)
        for _ in alone.learn(model, data, None, "cpu"):
            pass
        return {SCRATCH: alone.measure(model, data)}


def inherited(run: Path, sizes: Sizes) -> WordPiece:
    """The vocabulary of a run whose network has these sizes."""
    from chainrule.runs.run import open_run, read_json

    _, recipe = open_run(run)
    if not isinstance(recipe, Sizes) or not (run / "model.safetensors").is_file():
        raise InputError(
            f"{run} is not a finished run of bert-pretrain or of a BERT tuned from one, which "
            "--from needs; make one with: chainrule train bert-pretrain"
        )
    names = ("length", "width", "depth", "heads")
    other = [name for name in names if getattr(recipe, name) != getattr(sizes, name)]
    if other:
        told = (f"the {name} {getattr(recipe, name)}" for name in other)
        flags = (f"--{name} {getattr(recipe, name)}" for name in other)
        raise InputError(f"the run in {run} has {', '.join(told)}; give {' '.join(flags)}")
    found = encoder_from_json(read_json(run / "task.json")["encoder"])
    assert isinstance(found, WordPiece)
    return found.with_max_length(sizes.length)
