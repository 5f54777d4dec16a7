"""Word vectors from film reviews by word2vec: neighbors, and analogies such as man : woman.

The training reviews of IMDB are about five million words; their labels are not used. The run folder
shows the nearest neighbors of some words and the answers to analogies. The negatives of a word are
shared by all words near it.
Mikolov, Sutskever, Chen, Corrado and Dean (2013). Notes: A 2.5 (the context vector), A 2.6.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.data.datasets import imdb
from chainrule.data.splits import TEST_SEED, Split, Splits
from chainrule.data.text.vocabulary import Vocabulary, tokenize, word_vocabulary
from chainrule.errors import InputError
from chainrule.learning.metrics import METRICS
from chainrule.learning.tasks import Task
from chainrule.models.attention.word2vec import (
    Word2Vec,
    keep_probability,
    negative_distribution,
    negative_sampling_loss,
)
from chainrule.runs.recipe import BaseRecipe, DataSummary, Metrics, Predictions
from chainrule.training import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HELD = 20  # one review in so many is for validation, and another for the test
SEED = 0  # of the negatives that are drawn to measure
KINDS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "gender": (
        ("man", "woman"), ("boy", "girl"), ("he", "she"), ("his", "her"), ("father", "mother"),
        ("son", "daughter"), ("brother", "sister"), ("husband", "wife"), ("king", "queen"),
        ("actor", "actress"), ("himself", "herself"), ("men", "women"),
    ),
    "plural": (
        ("film", "films"), ("movie", "movies"), ("actor", "actors"), ("scene", "scenes"),
        ("character", "characters"), ("woman", "women"), ("man", "men"), ("story", "stories"),
        ("song", "songs"), ("book", "books"),
    ),
    "tense": (
        ("is", "was"), ("are", "were"), ("has", "had"), ("does", "did"), ("says", "said"),
        ("sees", "saw"), ("goes", "went"), ("makes", "made"), ("takes", "took"), ("gets", "got"),
    ),
}  # fmt: skip
SHOWN_EVERY = 7  # analogies; not a divisor of the number of pairs, so that all pairs appear
SHOWN = ("excellent", "terrible", "funny", "actress", "king", "war", "france", "seven")


@dataclass(frozen=True, repr=False, kw_only=True)
class Windows(Splits):
    """Rows of a word and those around it, and how often every word occurs."""

    counts: Float[Tensor, " vocab"]


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseRecipe):
    """A word → its vector → which words are near it."""

    reference: ClassVar[str] = "A 2.5"
    unsupported: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("members", "teacher", "transfer", "class_weights", "label_smoothing"),
        "its targets are the neighboring words",
    ) | {"predict": "its texts are analogies, answered in the run folder"}
    data_fields: ClassVar[tuple[str, ...]] = ("vocab_size", "window", "threshold")

    vocab_size: int = 10_000
    """Number of words with a vector, the most frequent ones."""
    embedding_dim: int = 100
    """Size of the vectors."""
    window: int = 5
    """Words on each side that count as near."""
    negatives: int = 8
    """Random words, k."""
    threshold: float = 1e-4
    """Frequency above which words are dropped at random."""
    settings: Settings = Settings(
        epochs=4, batch_size=2048, learning_rate=3e-3, schedule="warm-up-cosine"
    )

    def __post_init__(self) -> None:
        if min(self.vocab_size, self.embedding_dim, self.window, self.negatives) < 1:
            raise InputError(
                "`vocab_size`, `embedding_dim`, `window` and `negatives` must be 1 or more"
            )
        if not 0 < self.threshold < float("inf"):
            raise InputError(f"`threshold` must be a positive number, got {self.threshold}")

    def data(self, folder: Path | None) -> Windows:
        path, _ = imdb.paths(folder)
        texts = [tokenize(text.replace("<br />", " ")) for text, _ in imdb.reviews(path, "train")]
        parts = {
            "test": texts[::HELD],
            "validation": texts[1::HELD],
            "train": [text for k, text in enumerate(texts) if k % HELD > 1],
        }
        words = word_vocabulary(parts["train"], self.vocab_size)
        ids = {name: encoded(part, words) for name, part in parts.items()}
        together = torch.cat(ids["train"])
        counts = torch.bincount(together, minlength=len(words)).double()
        counts[: len(words.special_tokens)] = 0
        seeds = {"train": self.seed, "validation": self.seed, "test": TEST_SEED}
        train, validation, test = (self.rows(ids[k], counts, seeds[k]) for k in seeds)
        return Windows(train, validation, test, encoder=words, counts=counts.float())

    def rows(self, texts: Sequence[Tensor], counts: Tensor, seed: int) -> Split:
        """The words that are kept, each with those around it; 0 beyond the ends of a text."""
        generator = torch.Generator().manual_seed(seed)
        between = torch.zeros(self.window, dtype=torch.int64)
        stream = torch.cat([part for text in texts for part in (text, between)])
        kept = torch.rand(len(stream), generator=generator) < keep_probability(
            counts, self.threshold
        )[stream].masked_fill(stream == 0, 1.0)
        kept &= (counts[stream] > 0) | (stream == 0)
        stream = torch.cat([between, stream[kept], between])
        x = stream.unfold(0, 2 * self.window + 1, 1)
        x = x[x[:, self.window] > 0]
        return Split(x.contiguous(), torch.zeros(len(x), dtype=torch.int64))

    def summarize(self, data: Windows) -> DataSummary:
        assert isinstance(data.encoder, Vocabulary)
        examples = {name: len(getattr(data, name).x) for name in ("train", "validation", "test")}
        return DataSummary(
            vocab_sizes=(len(data.encoder),), examples=examples, encoder=data.encoder
        )

    def model(self, summary: DataSummary) -> Word2Vec:
        return Word2Vec(summary.vocab_size, self.embedding_dim)

    def network(self, model: nn.Module, data: Windows) -> "SkipGram":
        assert isinstance(model, Word2Vec)
        return SkipGram(model, data.counts, self.window, self.negatives)

    def task(self, data: Windows) -> Task:
        ranked = METRICS["pair_accuracy"].computed_by(lambda output, y: output[:, 1].mean().item())
        return Task("word vectors", lambda output, y: output[:, 0], (ranked,))

    def evaluate(self, predictions: Predictions) -> Metrics:
        """Besides those of the pairs: the share of analogies answered right."""
        metrics = super().evaluate(predictions)
        answers = self.answers(predictions)
        right = [word == true for rows in answers.values() for *_, true, word in rows]
        metrics["test"]["word_accuracy"] = sum(right) / max(len(right), 1)
        return metrics

    def answers(self, predictions: Predictions) -> dict[str, list[tuple[str, ...]]]:
        """(a, b, c, right, found) of every analogy of two pairs of a kind whose words are known."""
        model, words = predictions.model, predictions.data.encoder
        assert isinstance(model, Word2Vec) and isinstance(words, Vocabulary)

        def solve() -> dict[str, list[tuple[str, ...]]]:
            return {kind: solved(model, words, pairs) for kind, pairs in KINDS.items()}

        return predictions.once("answers", solve)

    def texts(self, predictions: Predictions) -> dict[str, str]:
        model, words = predictions.model, predictions.data.encoder
        assert isinstance(model, Word2Vec) and isinstance(words, Vocabulary)
        known = [word for word in SHOWN if word in words.token_to_id]
        ids = torch.tensor([words.token_to_id[word] for word in known], dtype=torch.int64)
        near = model.nearest(model.words.weight[ids], 7)[:, 1:].tolist()
        lines = [
            f"{word}: {', '.join(words.tokens[k] for k in row)}"
            for word, row in zip(known, near, strict=True)
        ]
        for kind, rows in self.answers(predictions).items():
            right = sum(true == found for *_, true, found in rows)
            lines += ["", f"{kind}: {right} of {len(rows)} analogies right"]
            lines += [
                f"{a} : {b} = {c} : {w}  ({true})" for a, b, c, true, w in rows[::SHOWN_EVERY]
            ]
        return {"neighbors": "\n".join(lines) + "\n"}

    def figures(self, predictions: Predictions) -> "dict[str, Figure]":
        from chainrule.plots.word_vectors import word_pairs

        model, words = predictions.model, predictions.data.encoder
        assert isinstance(model, Word2Vec) and isinstance(words, Vocabulary)
        known = {kind: known_pairs(words, pairs) for kind, pairs in KINDS.items()}
        known = {kind: pairs for kind, pairs in known.items() if len(pairs) > 1}
        if not known:  # another language, or few words
            often = words.tokens[len(words.special_tokens) :]
            known = {"frequent words": list(zip(often[:12:2], often[1:12:2], strict=False))}
        ids = words.token_to_id
        vectors = {
            kind: model.words.weight[torch.tensor([[ids[word] for word in pair] for pair in pairs])]
            for kind, pairs in known.items()
        }
        drawn = {kind: (known[kind], v.numpy(force=True)) for kind, v in vectors.items()}
        return {"pairs": word_pairs(drawn)}


class SkipGram(nn.Module):
    """Rows of the loss per pair, and of the share of negatives that score below the contexts."""

    p: Float[Tensor, " vocab"]

    def __init__(self, model: Word2Vec, counts: Tensor, window: int, negatives: int):
        super().__init__()
        self.model, self.window, self.negatives = model, window, negatives
        self.register_buffer("p", negative_distribution(counts), persistent=False)

    def forward(self, rows: Int[Tensor, "batch places"]) -> Float[Tensor, "batch 2"]:
        word, around = rows[:, self.window], rows.clone()
        around[:, self.window] = 0
        far = self.model(word, self.draw(len(rows)))
        near = self.model(word, around)
        counts = (around > 0).float()
        pairs, negatives = negative_sampling_loss(near, far)
        number = counts.sum(1).clamp_min(1)
        loss = (pairs * counts).sum(1) / number + negatives.sum(1)
        below = (near[:, :, None] > far[:, None]).float().mean(2)
        return torch.stack([loss, (below * counts).sum(1) / number], 1)

    def draw(self, batch: int) -> Int[Tensor, "batch negatives"]:
        """Negatives; to measure, the same ones in every epoch."""
        generator = None if self.training else torch.Generator().manual_seed(SEED)
        p = self.p if self.training else self.p.cpu()
        drawn = torch.multinomial(p, batch * self.negatives, True, generator=generator)
        return drawn.view(batch, -1).to(self.p.device)


def encoded(texts: Sequence[Sequence[str]], words: Vocabulary) -> list[Tensor]:
    """The ids of every text."""
    ids = words.token_to_id
    return [torch.tensor([ids.get(word, 1) for word in text], dtype=torch.int64) for text in texts]


def solved(
    model: Word2Vec, words: Vocabulary, pairs: Sequence[tuple[str, str]]
) -> list[tuple[str, ...]]:
    """Every analogy of two of these pairs, with its answer."""
    asked = [(*first, *second) for first, second in permutations(known_pairs(words, pairs), 2)]
    if not asked:
        return []
    ids = torch.tensor([[words.token_to_id[word] for word in row[:3]] for row in asked])
    found = model.analogies(ids).tolist()
    return [(*row, words.tokens[k]) for row, k in zip(asked, found, strict=True)]


def known_pairs(words: Vocabulary, pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The pairs whose words both have a vector."""
    return [pair for pair in pairs if all(word in words.token_to_id for word in pair)]
