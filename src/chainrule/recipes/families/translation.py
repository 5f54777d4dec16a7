"""What the translation recipes share: likelihood by teacher forcing, beam search, BLEU.

    log p(y | x) = Σ_i log p(y_i | x, y_1 … y_{i-1})

is the model's output for a pair of sentences, one number per example. Its loss is -w log p with w
one over the mean number of words of the split: the mean over examples is then the mean over words,
in which a long sentence weighs as much as it has words, and e^loss is the perplexity per word.
"""

from abc import abstractmethod
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

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
from chainrule.learning.tasks import Objective
from chainrule.nn.decoding import DecodingConfig, beam_search, greedy
from chainrule.runs.recipe import SPLITS, Experiment, Facts, Figures, Task
from chainrule.training import Progress, Settings, evaluate, fit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AT_ONCE = 128  # sentences measured or translated together
LONGER = 15  # words by which a translation may exceed twice its source
LONG = 12  # words of a sentence from which on it counts as long
ALIGNED = 4  # test sentences whose alignment is drawn
EDGES = (8, 10, 12, 14, 17)  # where the picture by length cuts


@dataclass(frozen=True, kw_only=True)
class Translating(Settings, Experiment[nn.Module, Captions]):
    """German captions → English ones."""

    beam: int = 5
    """Beginnings of a translation that are kept at every length; 1 takes the likeliest word."""
    batch_size: int = 128
    clip: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.class_weights != "none":
            raise InputError(
                "--class-weights is for one label per example; a translation has one per word, "
                "leave it out"
            )
        if self.beam < 1:
            raise InputError(f"--beam must be at least 1, got {self.beam}")

    @abstractmethod
    def model(self, task: Task) -> nn.Module:
        """A translator with `hidden`, `output`, `encode` and `decode_step`."""

    def data(self, folder: Path | None) -> Captions:
        check_installed()
        return multi30k.load(folder, self.seed)

    def facts(self, data: Captions) -> Facts:
        encoder = data.encoder
        assert isinstance(encoder, PairEncoder)
        examples = {name: len(getattr(data, name).x) for name in SPLITS}
        return Facts(Task((len(encoder.source), len(encoder.target))), examples, (), encoder)

    def learn(
        self, model: nn.Module, data: Captions, folder: Path | None, device: str
    ) -> Generator[Progress]:
        pairs = weighted(data.train), weighted(data.validation)
        source, target = (lengths(t) for t in data.train)
        by_length = target * source.max() + source
        smoothed = Likelihood(model, self.label_smoothing)
        settings = replace(self, label_smoothing=0.0)  # it is one label per word that is smoothed
        return fit(smoothed, *pairs, settings, LIKELIHOOD, folder, device, by_length)

    def measure(self, model: nn.Module, data: Captions) -> Figures:
        figures = {
            name: evaluate(Likelihood(model), weighted(getattr(data, name)), LIKELIHOOD)
            for name in SPLITS
        }
        for name in ("validation", "test"):
            found = self.translations(model, data, name)
            figures[name]["bleu"] = bleu(found, data.references[name])
        return figures

    def compare_model(self, model: nn.Module, data: Captions) -> dict[str, Figures]:
        """BLEU without the beam, and by the length of the German sentence."""
        one_by_one = translate(model, data.test.x, pair_encoder(data), 1)
        found, truth = self.translations(model, data, "test"), data.references["test"]
        long = lengths(data.test.x) >= LONG
        parts = {
            f"up to {LONG - 1} words": chosen(~long, found, truth),
            f"{LONG} words or more": chosen(long, found, truth),
            "likeliest word each time": (one_by_one, truth),
        }
        return {name: {"test": {"bleu": bleu(*part)}} for name, part in parts.items() if part[0]}

    def translations(self, model: nn.Module, data: Captions, split: str) -> list[str]:
        return translate(model, getattr(data, split).x, pair_encoder(data), self.beam)

    def texts(self, model: nn.Module, data: Captions) -> dict[str, str]:
        """The test sentences, what was published, and what the model wrote."""
        source = pair_encoder(data).source
        rows = zip(
            (source.decode(row) for row in data.test.x.tolist()),
            data.references["test"],
            self.translations(model, data, "test"),
            strict=True,
        )
        return {"translations": "\n\n".join("\n".join(row) for row in rows)}

    def pictures(self, model: nn.Module, data: Captions) -> "dict[str, Figure]":
        from chainrule.plots.translation import bleu_by_length

        found = by_length(data, self.translations(model, data, "test"))
        return {"bleu-by-length": bleu_by_length({"test sentences": found})}


@dataclass(frozen=True, kw_only=True)
class Recurring(Translating):
    """One recurrent network reads, another writes."""

    notes: ClassVar[str] = "J 5.3"

    embedding: int = 256
    """Numbers that stand for a word."""
    width: int = 256
    """Units of the recurrent layers."""
    dropout: float = 0.4
    """Share of the embeddings and outputs dropped in each step."""
    epochs: int = 12
    learning_rate: float = 2e-3
    schedule: str = "one-cycle"


class Likelihood(nn.Module):
    """log p(y | x) of a translator, one number per pair; the softmax is taken of words only.

    In training a share ε of every word's label may be spread evenly over all words.
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
        target = target[:, : int(lengths(target).max())]
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
    """e to the mean loss per word."""
    return negative(log_p, w).double().mean().exp().item()


LIKELIHOOD = Objective(
    negative, {"perplexity": perplexity}, inputs=2, smaller=frozenset({"loss", "perplexity"})
)


def weighted(split: Split) -> tuple[Tensor, Tensor, Tensor]:
    """(source, target, w), w = 1 / mean number of words that are to be guessed."""
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
    """The likeliest sentences found; sentences of like length go together."""
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
    """The step without tokens that nobody says."""

    def quiet(tokens: Tensor, state: object) -> tuple[Tensor, object]:
        log_p, after = step(tokens, state)
        log_p[:, [PADDING, UNKNOWN, BEGIN]] = -torch.inf
        return log_p, after

    return quiet


def aligned(
    data: Captions, found: Sequence[str], weights: Callable[[Tensor, Tensor], Tensor]
) -> list[tuple[list[str], list[str], np.ndarray]]:
    """(German words, written words, who looked at whom) of the first test sentences with words.

    weights: (source, words before each written one) of one pair ↦ an array, written words first.
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
