"""Shared by the recipes that fine-tune BERT.

With `--from RUN`, a run of `bert-pretrain` of the same sizes, the vocabulary and all weights except
the head's come from that run, and the same network from random weights is the baseline. With
`--from FOLDER`, a BERT of the Hugging Face hub, the sizes come from the folder as well. Without
both, the vocabulary is learned from the task's own text.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from torch import nn

from chainrule.data.splits import Split, Splits
from chainrule.data.text.hub_tokenizers import hub_wordpiece
from chainrule.data.text.wordpiece import WordPiece, train_wordpiece
from chainrule.errors import InputError
from chainrule.pretrained.hub import bert_sizes
from chainrule.recipes.families.bert import BertSizes, TrimmedPadding, lengths, wordpiece_of
from chainrule.recipes.families.hub_sizes import take_sizes
from chainrule.runs.configuration import Configuration
from chainrule.runs.published import hub_config
from chainrule.runs.recipe import SPLITS, BaseRecipe, DataSummary, Metrics, Predictions
from chainrule.runs.run import Run, initial_model
from chainrule.training import Settings
from chainrule.training.sources import BucketedSequences

SCRATCH = "the same network from scratch"
BUCKETED = dict.fromkeys(("members", "teacher"), "its batches are bucketed by length")
SEVERAL_LABELS = BUCKETED | dict.fromkeys(
    ("class_weights", "label_smoothing"), "an example has several labels"
)


@dataclass(frozen=True, kw_only=True)
class FineTuningRecipe(BertSizes, BaseRecipe):
    """BERT with a head for a task; the recipe defines data, head and task."""

    data_fields: ClassVar[tuple[str, ...]] = ("max_length", "vocab_size", "from_run")
    unsupported: ClassVar[Mapping[str, str]] = BUCKETED

    from_run: str = ""
    """A finished run of bert-pretrain, or a folder of the Hugging Face hub with a BERT, whose
    vocabulary and weights this run starts from."""
    vocab_size: int = 8000
    """Size of the vocabulary, unless it comes from a pre-trained run."""
    dropout: float = 0.1
    """Dropout rate of the network."""
    settings: Settings = Settings(
        batch_size=16,
        optimizer="adamw",
        learning_rate=5e-4,
        schedule="warm-up-cosine",
        weight_decay=0.01,
        clip_norm=1.0,
    )

    def __post_init__(self) -> None:
        if self.from_run:  # the run must find it from any folder
            object.__setattr__(self, "from_run", str(Path(self.from_run).resolve()))
            take_sizes(self, bert_sizes, BertSizes)
        self.check_sizes()

    def vocabulary(self, texts: Iterable[str]) -> WordPiece:
        """The vocabulary of the pre-trained run, or one learned from the texts."""
        start = Path(self.from_run)
        if self.from_run and hub_config(start):
            return hub_wordpiece(start, self.max_length)
        if self.from_run:
            return inherited_vocabulary(start, self)
        return train_wordpiece(texts, self.vocab_size, self.max_length)

    def summarize(self, data: Splits) -> DataSummary:
        examples = {name: len(getattr(data, name).x) for name in SPLITS}
        return DataSummary(
            classes=data.classes,
            vocab_sizes=(len(wordpiece_of(data)),),
            examples=examples,
            remarks=data.remarks,
            encoder=data.encoder,
        )

    def network(self, model: nn.Module, data: Splits) -> nn.Module:
        return self.network_for(model)

    def network_for(self, model: nn.Module) -> nn.Module:
        return TrimmedPadding(model)

    def source(self, split: Split) -> BucketedSequences:
        return BucketedSequences(tuple(split), lengths=lengths(split.x))

    def baselines(self, data: Splits) -> dict[str, Metrics]:
        """The same network from random weights, where this one is pre-trained in a run."""
        if not self.from_run or hub_config(Path(self.from_run)):
            return {}
        model = initial_model(Configuration(self), self.summarize(data), data)
        for _ in self.fit(model, data, None, "cpu"):
            pass
        return {SCRATCH: self.evaluate(Predictions(replace(self, from_run=""), model, data))}


def inherited_vocabulary(folder: Path, sizes: BertSizes) -> WordPiece:
    """The vocabulary of a run whose network has these sizes."""
    run = Run.load(folder)
    if not isinstance(run.recipe, BertSizes) or not (folder / "model.safetensors").is_file():
        raise InputError(
            f"{folder} is not a finished run of bert-pretrain or of a BERT tuned from one, which "
            "`from_run` needs; make one with: chainrule train bert-pretrain"
        )
    names = ("max_length", "hidden_size", "num_layers", "num_heads")
    other = [name for name in names if getattr(run.recipe, name) != getattr(sizes, name)]
    if other:
        wanted = (f"`{name}` {getattr(run.recipe, name)}" for name in other)
        raise InputError(
            f"the run in {folder} has other sizes than this one; set {', '.join(wanted)}"
        )
    assert isinstance(run.summary.encoder, WordPiece)
    return run.summary.encoder.with_max_length(sizes.max_length)
