"""Words for the blanks of a sentence, by a finished BERT or by a small one that learns here.

In every step 15 % of the words are hidden and the network learns to say which they were. The ten
likeliest words for every [MASK] of the user's sentence follow as it learns, and so does the
attention of every head.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.data.text.documents import sentences
from chainrule.data.text.vocabulary import pad_sequences
from chainrule.data.text.wordpiece import SPECIAL, WordPiece, train_wordpiece
from chainrule.errors import InputError
from chainrule.learning.masking import MaskingScheme, mask_tokens, masked_lm_loss
from chainrule.learning.tasks import Task
from chainrule.models.attention.bert import BERT
from chainrule.models.attention.bert_pretraining import BertPretraining
from chainrule.runs.blanks import fill
from chainrule.runs.run import Run
from chainrule.studio.activity import Activity, Json, Range, read, rounded
from chainrule.studio.place import run_folder
from chainrule.studio.sequences import phrases
from chainrule.studio.sequences.heads import head_maps
from chainrule.studio.sequences.learner import Learner
from chainrule.studio.sequences.sentence import Message, followed
from chainrule.studio.sequences.texts import corpus

LENGTH, WORDS = 32, 2000  # tokens of a row; of the vocabulary
MOST_TEXT = 300_000  # characters that are read
SENTENCES, LEAST, BATCH = 640, 320, 32  # of the grammar; rows of an epoch; of a batch
SHOWN = 10  # words for a blank


@dataclass(frozen=True)
class Settings(Message):
    """Which network.

    Args:
        run: a finished run of bert-pretrain; empty for a network that learns here.
        corpus: what it reads: sentences of a small grammar, or a text.
        text: of your own.
        seed: of weights, masks and batches.
    """

    run: Annotated[str, Range(0, 80)] = ""
    corpus: Literal["phrases", "shakespeare", "course", "own"] = "phrases"
    text: str = ""
    seed: Annotated[int, Range(0, 99_999)] = 0


class Source(NamedTuple):
    """BERT, its words, what it is; a remark, and how it learns, unless it has."""

    model: BertPretraining
    pieces: WordPiece
    about: str
    remark: str = ""
    learner: Learner | None = None


def run(settings: Json) -> Activity:
    chosen = read(Settings, settings)
    made = partial(finished, chosen.run) if chosen.run else partial(learning, chosen)
    yield from followed(made, drawn, chosen.sentence or "")


def finished(name: str) -> Source:
    """The model of a run."""
    found = Run.load(run_folder(name))
    model, pieces = found.model, found.summary.encoder
    if not isinstance(model, BertPretraining) or not isinstance(pieces, WordPiece):
        raise InputError(f"the run {name} fills no blanks; choose that of bert-pretrain")
    return Source(model, pieces, f"{name}, {len(pieces):,} word pieces, trained")


def learning(chosen: Settings) -> Source:
    """A new network, and its training on masked words."""
    title, texts, remark = reading(chosen)
    pieces = train_wordpiece(texts, WORDS, LENGTH)
    tokens = rows(pieces.encode_batch(texts), pieces, joined=chosen.corpus != "phrases")
    tokens = tokens.repeat(math.ceil(LEAST / len(tokens)), 1)  # a short text is read several times
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(chosen.seed)
        bert = BERT(len(pieces), LENGTH, hidden_size=64, num_layers=2, num_heads=4, dropout=0.0)
        model = BertPretraining(bert)
    bert.initialize_neighbor_heads()
    learner = Learner(
        MaskedWords(model, pieces),
        (tokens, torch.zeros(len(tokens))),
        task=Task("masked words", surprise),
        seed=chosen.seed,
        batch_size=BATCH,
        optimizer="adamw",
        learning_rate=2e-3,
        clip_norm=1.0,
    )
    count = sum(p.numel() for p in model.parameters())
    about = f"{count:,} parameters; {title}: {len(tokens):,} rows, {len(pieces):,} word pieces"
    return Source(model, pieces, about, remark, learner)


def reading(chosen: Settings) -> tuple[str, list[str], str]:
    """(what it is, sentences, a remark)."""
    if chosen.corpus == "phrases":
        return "sentences of a small grammar", phrases.english(SENTENCES, chosen.seed), ""
    title, text, remark = corpus(chosen.corpus, chosen.text)
    return title, sentences(text[:MOST_TEXT]), remark


def rows(found: Sequence[Sequence[int]], pieces: WordPiece, joined: bool) -> Int[Tensor, "n steps"]:
    """[CLS] … [SEP], a sentence each; joined, the text is cut wherever a row is full."""
    inside = LENGTH - 2
    if joined:
        stream = [token for sentence in found for token in sentence]
        found = [stream[k : k + inside] for k in range(0, len(stream), inside)]
    return pad_sequences([[pieces.cls, *row[:inside], pieces.sep] for row in found], LENGTH)


class MaskedWords(nn.Module):
    """Rows of tokens → the mean -log p of the words that it hides in each."""

    def __init__(self, model: BertPretraining, pieces: WordPiece):
        super().__init__()
        self.model = model
        self.scheme = MaskingScheme(len(pieces), pieces.mask, len(SPECIAL))

    def forward(self, tokens: Int[Tensor, "batch steps"]) -> Float[Tensor, " batch"]:
        masked, positions, targets, valid = mask_tokens(tokens, self.scheme)
        logits = self.model.logits(masked, None, positions).tokens
        return masked_lm_loss(logits, targets, valid)


def surprise(nats: Float[Tensor, " batch"], _: Tensor) -> Float[Tensor, " batch"]:
    """The network has computed its loss itself."""
    return nats


def drawn(source: Source, sentence: str) -> Json:
    model, pieces, about, remark, learner = source
    found: dict[str, Any] = {"about": about, "remark": remark, "problem": "", "blanks": []}
    found["learning"] = learner.drawn() if learner else None
    found["attention"] = attention(model, pieces, sentence)
    if not sentence:
        return found
    try:
        guesses = fill(model, pieces, sentence, SHOWN)
    except InputError as error:
        return found | {"problem": str(error)}
    blanks = [
        {"words": [c.word for c in row], "p": rounded([c.probability for c in row])}
        for row in guesses
    ]
    return found | {"blanks": blanks}


def attention(model: BertPretraining, pieces: WordPiece, sentence: str) -> Json | None:
    """Where every head looks; None for a sentence that is empty or too long."""
    tokens = [pieces.cls, *pieces.encode(sentence), pieces.sep]
    if not sentence.strip() or len(tokens) > pieces.max_length:
        return None
    return head_maps(model.bert, torch.tensor([tokens]), [pieces.tokens[k] for k in tokens])
