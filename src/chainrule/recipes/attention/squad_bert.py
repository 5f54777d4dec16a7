"""Extractive question answering by BERT: the span of a passage that holds the answer.

    chainrule train bert-pretrain --out runs/bert
    chainrule train squad-bert --from runs/bert --out runs/answers
    chainrule predict runs/answers "Who wrote it? | The play was written by a man from Kent."

A long passage is read in windows that overlap by 32 tokens. In training, a window without the
answer has [CLS] as its target; the prediction is the best legal span of all windows. The baselines
are the most frequent position of an answer and, with --from, the network from random weights.
Devlin, Chang, Lee and Toutanova (2019), section 4.2; SQuAD 1.1. Notes: J 6.5 (question answering).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch import Tensor, nn

from chainrule.data.datasets import squad
from chainrule.data.datasets.squad import Question
from chainrule.data.splits import Split, Splits
from chainrule.data.text.wordpiece import SEP, WordPiece
from chainrule.errors import InputError
from chainrule.learning.losses import pixel_cross_entropy
from chainrule.learning.metrics import METRICS
from chainrule.learning.span_scores import exact_match, token_f1
from chainrule.learning.tasks import Task
from chainrule.models.attention.bert_question_answering import BertQuestionAnswering
from chainrule.recipes.families.bert import TrimmedPadding, attention_figure, wordpiece_of
from chainrule.recipes.families.fine_tuning import SEVERAL_LABELS, FineTuningRecipe
from chainrule.recipes.families.span_qa import (
    Found,
    Paired,
    Window,
    always,
    answered,
    ask,
    commonest_span,
    rows,
    windows,
)
from chainrule.runs.recipe import SPLITS, DataSummary, Metrics, Predictions
from chainrule.training import Settings, outputs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN = ("who ran ?", "the cat sat on the mat , and the dog ran .")
LISTED = 200  # test questions of the file of answers
PLACES = Task("span prediction", pixel_cross_entropy, (METRICS["place_accuracy"],))


@dataclass(frozen=True, repr=False)
class Passages(Splits):
    """The splits with their questions, and what each row of x shows of which question."""

    questions: dict[str, list[Question]] = field(default_factory=dict)
    windows: dict[str, list[Window]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Recipe(FineTuningRecipe):
    """[CLS] question [SEP] passage [SEP] → BERT → where the answer begins, where it ends."""

    reference: ClassVar[str] = "J 6.5"
    unsupported: ClassVar[Mapping[str, str]] = SEVERAL_LABELS
    example_text: ClassVar[str] = "what was quiet? | a quiet film with a wonderful ending"

    longest: int = 20
    """Longest answer, in tokens."""
    settings: Settings = replace(FineTuningRecipe.settings, epochs=2, batch_size=32)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.longest < 1:
            raise InputError(f"`longest` must be at least 1, got {self.longest}")

    def data(self, folder: Path | None) -> Passages:
        asked = squad.questions(folder, self.seed)
        pieces = self.vocabulary(
            text
            for question in asked["train"] + asked["validation"]
            for text in (question.text, question.passage)
        )
        found = {name: windows(part, pieces) for name, part in asked.items()}
        train, validation, test = (split(part, pieces.max_length) for part in found.values())
        notes = tuple(
            f"{name}: {len(part)} questions on {len({q.article for q in part})} articles"
            for name, part in asked.items()
        )
        return Passages(train, validation, test, (), pieces, notes, asked, found)

    def task(self, data: Splits) -> Task:
        return PLACES

    def model(self, summary: DataSummary) -> nn.Module:
        return BertQuestionAnswering(self.bert(summary.vocab_size, self.dropout))

    def network_for(self, model: nn.Module) -> nn.Module:
        return TrimmedPadding(Paired(model, SEP), torch.finfo(torch.float32).min)

    def evaluate(self, predictions: Predictions) -> Metrics:
        """Of the training questions, as many as there are to validate."""
        return {name: self.scores(predictions, name) for name in SPLITS}

    def scores(self, predictions: Predictions, name: str) -> dict[str, float]:
        loss, asked, found = predictions.once(
            ("answers", name), lambda: self.answers(predictions, name)
        )
        return {"loss": loss} | judged([text for text, _ in found], asked)

    def answers(
        self, predictions: Predictions, name: str
    ) -> tuple[float, list[Question], list[Found]]:
        """The loss on a split, its questions, and the model's answers to them."""
        data = predictions.data
        most = len(data.questions["validation" if name == "train" else name])
        asked = data.questions[name][:most]
        shown = [window for window in data.windows[name] if window.question < most]
        x, y = (t[: len(shown)] for t in getattr(data, name))
        output = outputs(self.network_for(predictions.model), (x,)).float()
        loss = pixel_cross_entropy(output, y).double().mean().item()
        return loss, asked, answered(output, shown, asked, self.longest)

    def baselines(self, data: Splits) -> dict[str, Metrics]:
        """Also the place at which answers stand most often."""
        assert isinstance(data, Passages)
        span = commonest_span(data.questions["train"])
        found = {name: judged(always(span, asked), asked) for name, asked in data.questions.items()}
        return super().baselines(data) | {"the commonest place": found}

    def texts(self, predictions: Predictions) -> dict[str, str]:
        """Test questions, the right answers, and the model's."""
        _, asked, found = predictions.once(
            ("answers", "test"), lambda: self.answers(predictions, "test")
        )
        some = slice(None, None, max(1, len(asked) // LISTED))
        lines = (
            f"{q.text}\n  right: {' / '.join(dict.fromkeys(a.text for a in q.answers))}\n"
            f"  found: {text} ({p:.1%})"
            for q, (text, p) in zip(asked[some], found[some], strict=True)
        )
        return {"answers": "\n\n".join(lines)}

    def figures(self, predictions: Predictions) -> "dict[str, Figure]":
        model, pieces = predictions.model, wordpiece_of(predictions.data)
        assert isinstance(model, BertQuestionAnswering)
        return {"attention": attention_figure(model.bert, pieces, SHOWN)}

    def answer_texts(
        self, model: nn.Module, texts: Sequence[str], summary: DataSummary
    ) -> list[dict[str, Any]]:
        """For each "question | passage", the part of the passage that answers."""
        asked, pieces = [parsed(text) for text in texts], summary.encoder
        assert isinstance(pieces, WordPiece)
        found = ask(self.network_for(model), asked, pieces, self.longest)
        return [
            {"input": question.text, "prediction": text, "probability": p}
            for question, (text, p) in zip(asked, found, strict=True)
        ]


def split(found: Sequence[Window], length: int) -> Split:
    y: Tensor = torch.tensor([window.answer for window in found])
    return Split(rows(found, length), y)


def judged(found: Sequence[str], asked: Sequence[Question]) -> dict[str, float]:
    right = [[answer.text for answer in question.answers] for question in asked]
    return {"f1": token_f1(found, right), "exact_match": exact_match(found, right)}


def parsed(text: str) -> Question:
    """QUESTION | PASSAGE."""
    question, mark, passage = (part.strip() for part in text.partition("|"))
    if not (question and mark and passage):
        raise InputError(f"expected 'question | passage', got {text!r}")
    return Question(question, passage, (), "")
