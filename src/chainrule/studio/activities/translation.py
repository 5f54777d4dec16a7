"""Translation with its alignment, by a finished run or by a network that learns here and now.

A small grammar makes the pairs (`sequences.phrases`), so that a few hundred steps suffice. The
sentence of the user is translated word by word, always the likeliest one, and the attention of the
decoder at every word is its alignment.
"""

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal, NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.data.text.encoders import PairEncoder
from chainrule.data.text.vocabulary import (
    BEGIN,
    END,
    PADDING,
    UNKNOWN,
    pad_sequences,
    tokenize,
    word_vocabulary,
)
from chainrule.errors import InputError
from chainrule.learning.tasks import Task
from chainrule.models.attention.transformer import Transformer
from chainrule.models.recurrent.bahdanau import Bahdanau
from chainrule.models.recurrent.seq2seq import Seq2Seq
from chainrule.nn.attention import attention_maps
from chainrule.nn.decoding import DecodingConfig, greedy
from chainrule.nn.profile import evaluating
from chainrule.runs.run import Run
from chainrule.studio.activity import Activity, Json, Range, raster, read, rounded
from chainrule.studio.place import run_folder
from chainrule.studio.sequences import phrases
from chainrule.studio.sequences.learner import Learner
from chainrule.studio.sequences.sentence import Message, followed

PAIRS, HELD = 640, 64  # sentences to learn from, and never shown before
BATCH, STEPS = 32, 1500  # by then it has long learned everything
LONGER = 15  # words by which a translation may exceed twice its source
MOST_WORDS = 40  # of a sentence


@dataclass(frozen=True)
class Settings(Message):
    """Which network.

    Args:
        run: a finished run of a translation recipe; empty for a network that learns here.
        model: its kind.
        task: what it translates.
        seed: of weights, pairs and batches.
    """

    run: Annotated[str, Range(0, 80)] = ""
    model: Literal["bahdanau", "transformer", "seq2seq"] = "bahdanau"
    task: phrases.Task = "phrases"
    seed: Annotated[int, Range(0, 99_999)] = 0


class Source(NamedTuple):
    """A translator, its words, what it is; how it learns, and held-out pairs to judge it by."""

    model: Any
    encoder: PairEncoder
    about: str
    learner: Learner | None = None
    held: tuple[Tensor, Tensor] | None = None


def run(settings: Json) -> Activity:
    chosen = read(Settings, settings)
    made = partial(finished, chosen.run) if chosen.run else partial(learning, chosen)
    yield from followed(made, drawn, chosen.sentence or "", STEPS)


def finished(name: str) -> Source:
    """The model of a run."""
    found = Run.load(run_folder(name))
    model, encoder = found.model, found.summary.encoder
    if not isinstance(model, Bahdanau | Transformer | Seq2Seq) or not isinstance(
        encoder, PairEncoder
    ):
        raise InputError(f"the run {name} does not translate; choose that of a translation recipe")
    return Source(model, encoder, f"{name}, trained")


def learning(chosen: Settings) -> Source:
    """A new network, and its training by teacher forcing."""
    made = phrases.pairs(chosen.task, PAIRS + HELD, chosen.seed)
    texts = [[tokenize(side) for side in pair] for pair in made]
    encoder = PairEncoder(*(word_vocabulary(side) for side in zip(*texts, strict=True)))
    source = encoder.encode_texts([a for a, _ in made])
    target = pad_sequences([[BEGIN, *encoder.target.encode(b), END] for _, b in made])
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(chosen.seed)
        model = network(chosen.model, len(encoder.source), len(encoder.target))
    train = source[:PAIRS], target[:PAIRS, :-1], target[:PAIRS, 1:]
    learner = Learner(
        model,
        train,
        task=Task("translation", word_loss, inputs=2),
        seed=chosen.seed,
        batch_size=BATCH,
        learning_rate=2e-3,
        clip_norm=1.0,
    )
    count = sum(p.numel() for p in model.parameters())
    about = f"{count:,} parameters; {PAIRS:,} pairs, such as “{made[0][0]}” → “{made[0][1]}”"
    return Source(model, encoder, about, learner, (source[PAIRS:], target[PAIRS:, 1:]))


def network(kind: str, source: int, target: int) -> nn.Module:
    """A network small enough to learn in seconds."""
    if kind == "transformer":
        return Transformer(source, target, 64, 2, 4, 128, dropout=0.0, norm="pre")
    if kind == "seq2seq":
        return Seq2Seq(source, target, "gru", 32, 96)
    return Bahdanau(source, target, 32, 64)


def word_loss(
    logits: Float[Tensor, "batch n vocab"], target: Int[Tensor, "batch n"]
) -> Float[Tensor, " batch"]:
    """-log p(y | x) per word."""
    nats = F.cross_entropy(logits.mT, target, reduction="none", ignore_index=PADDING)
    return nats.sum(1) / (target != PADDING).sum(1)


def drawn(source: Source, sentence: str) -> Json:
    model, encoder, about, learner, held = source
    learned = None
    if learner and held:
        learned = learner.drawn() | {"right": round(share_right(model, *held), 4)}
    found = {
        "about": about,
        "learning": learned,
        "problem": "",
        "words": encoder.source.tokens[4:40],
    }
    try:
        return found | {"translation": translated(model, encoder, sentence) if sentence else None}
    except InputError as error:
        return found | {"problem": str(error), "translation": None}


@torch.no_grad()
def share_right(model: Any, source: Tensor, target: Tensor) -> float:
    """Share of held-out sentences whose every word is right."""
    longest = DecodingConfig(BEGIN, END, target.shape[1])
    with evaluating(model):
        found = greedy(model.decode_step, model.encode(source), len(source), longest)
    found = F.pad(found, (0, target.shape[1] - found.shape[1]), value=END)
    wanted = target.masked_fill(target == PADDING, END)
    return (found == wanted).all(1).double().mean().item()


@torch.no_grad()
def translated(model: Any, encoder: PairEncoder, sentence: str) -> Json:
    """The likeliest word each time, its probability, and what the decoder looked at."""
    source = encoder.encode_texts([sentence])
    if source.shape[1] > MOST_WORDS:
        raise InputError(f"a sentence may have {MOST_WORDS} words, got {source.shape[1]}")
    longest = DecodingConfig(BEGIN, END, 2 * source.shape[1] + LONGER)
    with evaluating(model):
        (written,) = greedy(model.decode_step, model.encode(source), 1, longest)
        previous = F.pad(written[None, :-1], (1, 0), value=BEGIN)
        p = model(source, previous).softmax(-1)[0].gather(1, written[:, None])[:, 0]
        weights = alignment(model, source, previous)
    words = tokenize(sentence)
    ids = zip(words, source[0].tolist(), strict=True)
    return {
        "source": [f"{word} (unknown)" if k == UNKNOWN else word for word, k in ids],
        "written": [encoder.target.tokens[k] for k in written.tolist()],
        "p": rounded(p, 3),
        "weights": None if weights is None else raster(weights, 0.0, 1.0),
    }


def alignment(model: nn.Module, source: Tensor, previous: Tensor) -> Tensor | None:
    """a_ij of output word i and source word j; of a transformer the mean over heads of the last
    layer; None for a network without attention."""
    if isinstance(model, Bahdanau):
        return model.alignment(source, previous)[0]
    maps = attention_maps(model, source, previous)
    crossed = [weights for name, weights in maps.items() if name.endswith("cross_attention")]
    return crossed[-1][0].mean(0) if crossed else None
