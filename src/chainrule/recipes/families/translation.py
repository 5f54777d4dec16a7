"""Shared by the translation recipes: likelihood by teacher forcing, beam search, BLEU.

    log p(y | x) = Σ_i log p(y_i | x, y_1 … y_{i-1})

is the model's output for a pair of sentences. The loss is -w log p with w one over the mean number
of words of the split: its mean over examples is the mean over words, and e^loss is the perplexity
per word.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.data.datasets import multi30k
from chainrule.data.datasets.multi30k import Captions
from chainrule.data.splits import Split
from chainrule.data.text.encoders import PairEncoder
from chainrule.data.text.vocabulary import BEGIN, END, PADDING, UNKNOWN
from chainrule.errors import InputError
from chainrule.learning.bleu import bleu, check_installed
from chainrule.learning.metrics import METRICS
from chainrule.learning.tasks import Task
from chainrule.nn.decoding import DecodingConfig, beam_search, greedy
from chainrule.runs.recipe import SPLITS, BaseRecipe, DataSummary, Metrics, Predictions
from chainrule.shares import longest
from chainrule.training import Settings, outputs
from chainrule.training.evaluation import measured
from chainrule.training.sources import BucketedSequences

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AT_ONCE = 128  # sentences measured or translated together
LONGER = 15  # words by which a translation may exceed twice its source
LONG = 12  # words of a sentence from which on it counts as long
ALIGNED = 4  # test sentences whose alignment is drawn
EDGES = (8, 10, 12, 14, 17)  # where the picture by length cuts


@dataclass(frozen=True, kw_only=True)
class TranslationRecipe(BaseRecipe):
    """German captions → English ones."""

    unsupported: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("members", "teacher", "class_weights"), "a translation has one label per word"
    ) | {"export": "it writes word by word, which is not one forward pass"}

    beam_size: int = 5
    """Beam size of the decoder; 1 is greedy decoding."""
    label_smoothing: float = 0.0
    """Share ε of each word's label that is spread evenly over the vocabulary."""
    settings: Settings = Settings(batch_size=128, clip_norm=1.0)

    def __post_init__(self) -> None:
        if self.beam_size < 1:
            raise InputError(f"`beam_size` must be at least 1, got {self.beam_size}")
        if not 0 <= self.label_smoothing < 1:
            raise InputError(f"`label_smoothing` must be in [0, 1), got {self.label_smoothing}")

    def data(self, folder: Path | None) -> Captions:
        check_installed()
        return multi30k.load(folder, self.seed)

    def summarize(self, data: Captions) -> DataSummary:
        encoder = pair_encoder(data)
        examples = {name: len(getattr(data, name).x) for name in SPLITS}
        sizes = (len(encoder.source), len(encoder.target))
        return DataSummary(
            vocab_sizes=sizes, examples=examples, remarks=data.remarks, encoder=encoder
        )

    def task(self, data: Captions) -> Task:
        return LIKELIHOOD

    def network(self, model: nn.Module, data: Captions) -> nn.Module:
        return Likelihood(model, self.label_smoothing)

    def source(self, split: Split) -> BucketedSequences:
        source, target = (lengths(t) for t in split)
        return BucketedSequences(weighted(split), inputs=2, lengths=target * source.max() + source)

    def outputs(self, model: nn.Module, data: Captions, split: str) -> Tensor:
        return outputs(Likelihood(model), tuple(getattr(data, split))).float()

    def measure(self, predictions: Predictions, split: str, task: Task) -> dict[str, float]:
        weights = weighted(getattr(predictions.data, split))[2]
        found = measured(predictions.outputs(split), (weights,), task)
        if split == "train":
            return found
        written = self.translations(predictions, split)
        return found | {"bleu": bleu(written, predictions.data.references[split])}

    def breakdown(self, predictions: Predictions) -> dict[str, Metrics]:
        """BLEU by the length of the German sentence, and of greedy decoding."""
        data = predictions.data
        greedily = translate(predictions.model, data.test.x, pair_encoder(data), 1)
        found, truth = self.translations(predictions, "test"), data.references["test"]
        long = lengths(data.test.x) >= LONG
        parts = {
            f"up to {LONG - 1} words": chosen(~long, found, truth),
            f"{LONG} words or more": chosen(long, found, truth),
            "likeliest word each time": (greedily, truth),
        }
        return {name: {"test": {"bleu": bleu(*part)}} for name, part in parts.items() if part[0]}

    def translations(self, predictions: Predictions, split: str) -> list[str]:
        """The translations of a split, computed once."""
        model, data = predictions.model, predictions.data
        x = getattr(data, split).x
        return predictions.once(
            ("translations", split), lambda: translate(model, x, pair_encoder(data), self.beam_size)
        )

    def texts(self, predictions: Predictions) -> dict[str, str]:
        """The test sentences, their references, and the model's translations."""
        data = predictions.data
        source = pair_encoder(data).source
        rows = zip(
            (source.decode(row) for row in data.test.x.tolist()),
            data.references["test"],
            self.translations(predictions, "test"),
            strict=True,
        )
        return {"translations": "\n\n".join("\n".join(row) for row in rows)}

    def figures(self, predictions: Predictions) -> "dict[str, Figure]":
        from chainrule.plots.translation import bleu_by_length

        found = by_length(predictions.data, self.translations(predictions, "test"))
        return {"bleu-by-length": bleu_by_length({"test sentences": found})}

    def answer_texts(
        self, model: nn.Module, texts: Sequence[str], summary: DataSummary
    ) -> list[dict[str, Any]]:
        encoder = summary.encoder
        assert isinstance(encoder, PairEncoder)
        found = translate(model, encoder.encode_texts(texts), encoder, self.beam_size)
        return [{"input": a, "prediction": b} for a, b in zip(texts, found, strict=True)]


class Likelihood(nn.Module):
    """log p(y | x) of a translation model; padding is left out before the softmax.

    `smoothing` is the label smoothing in training.
    """

    def __init__(self, translator: nn.Module, smoothing: float = 0.0):
        super().__init__()
        self.translator, self.smoothing = translator, smoothing

    def forward(
        self, source: Int[Tensor, "batch m"], target: Int[Tensor, "batch n"]
    ) -> Float[Tensor, " batch"]:
        if self.training or len(source) <= AT_ONCE:
            return self.score(source, target)
        order = lengths(target).argsort()
        parts = [self.score(source[rows], target[rows]) for rows in order.split(AT_ONCE)]
        return torch.cat(parts)[order.argsort()]

    def score(self, source: Tensor, target: Tensor) -> Tensor:
        target = target[:, : longest(int(lengths(target).max()))]
        wanted = target[:, 1:]
        words = wanted != PADDING
        previous = target[:, :-1].masked_fill(~words, PADDING)
        hidden = self.translator.hidden(source, previous)[words]  # type: ignore[operator]
        logits = self.translator.output(hidden)  # type: ignore[operator]
        spread = self.smoothing if self.training else 0.0
        log_p = -F.cross_entropy(
            logits.float(), wanted[words], reduction="none", label_smoothing=spread
        )
        rows = words.nonzero()[:, 0]
        return log_p.new_zeros(len(target)).index_add(0, rows, log_p)


def negative(log_p: Float[Tensor, " n"], w: Float[Tensor, " n"]) -> Float[Tensor, " n"]:
    """-w log p."""
    return -w * log_p


def perplexity(log_p: Float[Tensor, " n"], w: Float[Tensor, " n"]) -> float:
    """exp of the mean loss per word."""
    return negative(log_p, w).double().mean().exp().item()


LIKELIHOOD = Task(
    "translation", negative, (METRICS["perplexity"].computed_by(perplexity),), inputs=2
)


def weighted(split: Split) -> tuple[Tensor, Tensor, Tensor]:
    """(source, target, w), w = 1 / mean number of predicted words."""
    words = (lengths(split.y) - 1).double().mean()
    return split.x, split.y, torch.full((len(split.y),), 1 / words.item())


def lengths(tokens: Int[Tensor, "n length"]) -> Int[Tensor, " n"]:
    return (tokens != PADDING).sum(1)


def pair_encoder(data: Captions) -> PairEncoder:
    assert isinstance(data.encoder, PairEncoder)
    return data.encoder


@torch.no_grad()
def translate(
    model: nn.Module, source: Int[Tensor, "n m"], encoder: PairEncoder, beam: int
) -> list[str]:
    """The best translations found; sentences of similar length are decoded together."""
    model.eval()
    found = [""] * len(source)
    for rows in lengths(source).argsort(stable=True).split(AT_ONCE):
        ends = DecodingConfig(BEGIN, END, 2 * int(lengths(source[rows]).max()) + LONGER)
        state, step = model.encode(source[rows]), spoken(model.decode_step)  # type: ignore[operator, arg-type]
        if beam == 1:
            written = greedy(step, state, len(rows), ends)
        else:
            written = beam_search(step, state, len(rows), ends, beam)
        for row, tokens in zip(rows.tolist(), written.tolist(), strict=True):
            found[row] = encoder.target.decode(tokens)
    return found


def spoken(step: Callable[..., tuple[Tensor, object]]) -> Callable[..., tuple[Tensor, object]]:
    """The decode step with the special tokens suppressed."""

    def quiet(tokens: Tensor, state: object) -> tuple[Tensor, object]:
        log_p, after = step(tokens, state)
        log_p[:, [PADDING, UNKNOWN, BEGIN]] = -torch.inf
        return log_p, after

    return quiet


def aligned(
    data: Captions, found: Sequence[str], weights: Callable[[Tensor, Tensor], Tensor]
) -> list[tuple[list[str], list[str], np.ndarray]]:
    """(German words, translated words, attention) of the first test sentences.

    weights: (source, previous words) of one pair ↦ attention, one row per translated word.
    """
    encoder, drawn = pair_encoder(data), []
    for source, translation in zip(data.test.x[:ALIGNED], found, strict=False):
        source = source[source != PADDING]
        written = encoder.target.encode(translation)
        if not written:
            continue
        a = weights(source[None], torch.tensor([[BEGIN, *written]]))[: len(written)]
        german = [encoder.source.tokens[token] for token in source.tolist()]
        drawn.append((german, [encoder.target.tokens[t] for t in written], a.numpy(force=True)))
    return drawn


def chosen(rows: Tensor, found: Sequence[str], truth: Sequence[str]) -> tuple[list[str], list[str]]:
    """Translations and references of these rows."""
    picked = rows.nonzero()[:, 0].tolist()
    return [found[row] for row in picked], [truth[row] for row in picked]


def by_length(data: Captions, found: Sequence[str]) -> list[tuple[float, float, int]]:
    """(mean length, BLEU, sentences) of groups of test sentences, from short to long."""
    words, group = lengths(data.test.x), torch.bucketize(lengths(data.test.x), torch.tensor(EDGES))
    rows = []
    for number in group.unique().tolist():
        part = group == number
        score = bleu(*chosen(part, found, data.references["test"]))
        rows.append((words[part].double().mean().item(), score, int(part.sum())))
    return rows
