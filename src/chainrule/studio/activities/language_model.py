"""A language model that learns, writes, and shows where it looks.

The model is that of a finished run, or a small one that learns here and now. Training and writing
are two phases: a step is one update of the weights, or one more character. The attention is that of
the same network, drawn at any time for a text of the user's.
"""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple

import torch
from torch import nn

from chainrule.data.readers.texts.text_file import encode_characters
from chainrule.data.text.vocabulary import Vocabulary, character_vocabulary
from chainrule.errors import InputError
from chainrule.learning.tasks import LANGUAGE_MODELING
from chainrule.models.attention.gpt import GPT
from chainrule.models.recurrent.language_model import LanguageModel
from chainrule.runs.generate import LanguageModel as Writing
from chainrule.runs.generate import check_prompt, sample
from chainrule.runs.run import Run
from chainrule.studio.activity import Activity, Json, Range, View, read, rounded
from chainrule.studio.place import run_folder
from chainrule.studio.sequences.heads import head_maps
from chainrule.studio.sequences.learner import Learner
from chainrule.studio.sequences.texts import Corpus, corpus
from chainrule.studio.sequences.writer import Sampling, Writer
from chainrule.training.sources import RandomWindows

CONTEXT, POINT = 48, 10  # characters of a window; steps of a point of the curve
SAMPLE, FIRST_SAMPLE = 64, 50  # characters of a sample; then at twice the step of the last one
SHOWN, LONGEST = 12, 4000  # candidates for the next character; characters of a text
HIDDEN = {"lstm": 128, "gru": 128, "lru": 96}  # units, for about as many parameters as the GPT


@dataclass(frozen=True)
class Message:
    """What changes while it runs; None changes nothing.

    Args:
        phase: what a step does.
        prompt: what the text begins with; the text begins again.
        temperature: divides the logits.
        top_k: draw among the k likeliest; 0 for all.
        top_p: draw among the fewest that hold this much probability.
        attended: the text whose attention is drawn; an empty one draws none.
    """

    phase: Literal["training", "writing"] | None = None
    prompt: Annotated[str, Range(1, 400)] | None = None
    temperature: Annotated[float, Range(0, 5)] | None = None
    top_k: Annotated[int, Range(0, 1000)] | None = None
    top_p: Annotated[float, Range(0.01, 1)] | None = None
    attended: Annotated[str, Range(0, CONTEXT)] | None = None


@dataclass(frozen=True)
class Settings(Message):
    """Which model, and all that a message may change.

    Args:
        run: a finished run of a language model; empty for a model that learns here.
        model: its kind.
        corpus: what it reads.
        text: of your own.
        seed: of weights, batches and draws.
    """

    run: Annotated[str, Range(0, 80)] = ""
    model: Literal["gpt", "lstm", "gru", "lru"] = "gpt"
    corpus: Corpus = "shakespeare"
    text: str = ""
    seed: Annotated[int, Range(0, 99_999)] = 0


class Source(NamedTuple):
    """A model with its vocabulary, what it is, and how it learns, unless it has."""

    model: Any
    vocabulary: Vocabulary
    about: str
    remark: str = ""
    learner: Learner | None = None


def run(settings: Json) -> Activity:
    chosen = read(Settings, settings)
    message = yield View(lambda: {"loading": True})
    scene = Scene(finished(chosen.run) if chosen.run else learning(chosen), chosen.seed)
    scene.apply(chosen)
    if message is not None:
        scene.apply(read(Message, message))
    while True:
        message = yield View(scene.drawn, waiting=scene.phase == "writing")
        if message is None:
            scene.step()
        else:
            scene.apply(read(Message, message))


def finished(name: str) -> Source:
    """The model of a run."""
    found = Run.load(run_folder(name))
    model, vocabulary = found.model, found.summary.encoder
    if not isinstance(model, Writing) or not isinstance(vocabulary, Vocabulary):
        raise InputError(f"the run {name} does not write text; choose that of a language model")
    return Source(model, vocabulary, f"{name}, {parameters(model):,} parameters, trained")


def learning(chosen: Settings) -> Source:
    """A new model, and its training on windows of a text."""
    title, text, remark = corpus(chosen.corpus, chosen.text)
    vocabulary = character_vocabulary(text)
    tokens = encode_characters(text, vocabulary)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(chosen.seed)
        model = network(chosen.model, len(vocabulary))
    learner = Learner(
        model,
        RandomWindows((tokens[:-1], tokens[1:]), CONTEXT, POINT),
        task=LANGUAGE_MODELING,
        seed=chosen.seed,
        batch_size=12,
        optimizer="adamw",
        learning_rate=3e-3,
        clip_norm=1.0,
    )
    about = f"{parameters(model):,} parameters; {title}: {len(text):,} characters"
    return Source(model, vocabulary, about, remark, learner)


def network(kind: str, vocab_size: int) -> nn.Module:
    """A network small enough to learn in a minute."""
    if kind == "gpt":
        return GPT(vocab_size, CONTEXT, hidden_size=64, num_layers=2, num_heads=4)
    return LanguageModel(vocab_size, kind, HIDDEN[kind])


def parameters(model: nn.Module) -> int:
    return sum(p.numel() for p in model.parameters())


class Scene:
    """A model, the text that it writes, and what it wrote while it learned."""

    def __init__(self, source: Source, seed: int):
        self.model, self.vocabulary, self.about, self.remark, self.learner = source
        self.seed = seed
        self.phase = "training" if source.learner else "writing"
        self.sampling, self.problem, self.attended = Sampling(), "", ""
        self.prompt = "\n" if "\n" in self.vocabulary.token_to_id else self.vocabulary.tokens[-1]
        self.samples: list[Json] = []
        self.due = 1
        self.writer = self.new_writer()

    def new_writer(self) -> Writer:
        return Writer(self.model, self.vocabulary, self.prompt, self.sampling, self.seed)

    def apply(self, message: Message) -> None:
        """What the user changed; a text that the model cannot read is refused with a sentence."""
        if message.prompt is not None or message.attended is not None:
            self.problem = ""
        given = {n: getattr(message, n) for n in Sampling._fields}
        self.sampling = self.sampling._replace(
            **{name: value for name, value in given.items() if value is not None}
        )
        begins = message.phase == "writing" and self.phase == "training"
        if message.phase and self.learner:
            self.phase = message.phase
        try:
            if message.prompt is not None and message.prompt != self.prompt:
                check_prompt(message.prompt, self.vocabulary)
                self.prompt, begins = message.prompt, True
            if message.attended:
                check_prompt(message.attended, self.vocabulary)
            self.attended = self.attended if message.attended is None else message.attended
        except InputError as error:
            self.problem = str(error)
        if begins:
            self.writer = self.new_writer()
        else:
            self.writer.choose(self.sampling)

    def step(self) -> None:
        """One update of the weights, or one more character."""
        if self.phase == "writing" or self.learner is None:
            if len(self.writer.tokens) < LONGEST:
                self.writer.append()
            return
        self.learner.advance()
        if self.learner.step >= self.due:
            drawn = self.sampling._asdict()
            text = sample(self.model, self.vocabulary, self.prompt, SAMPLE, seed=self.seed, **drawn)
            self.samples.append({"step": self.learner.step, "text": text})
            self.due = max(FIRST_SAMPLE, 2 * self.learner.step)

    def drawn(self) -> Json:
        writer = self.new_writer() if self.phase == "training" else self.writer
        return {
            "about": self.about,
            "remark": self.remark,
            "problem": self.problem,
            "phase": self.phase,
            "learning": self.learner.drawn() | {"samples": self.samples} if self.learner else None,
            "writing": written(writer),
            "attention": attention(self.model, self.vocabulary, self.attended),
        }


def written(writer: Writer) -> Json:
    """The text, and the likeliest next characters with both probabilities."""
    drawn, own = writer.probabilities()
    order = drawn.add(1e-6 * own).topk(min(SHOWN, len(drawn))).indices.tolist()
    if writer.chosen not in order:
        order[-1] = writer.chosen
    kept = drawn[drawn > 0]
    return {
        "prompt": len(writer.prompt),
        "text": writer.text,
        "next": [writer.vocabulary.tokens[k] for k in order],
        "drawn": rounded(drawn[order]),
        "own": rounded(own[order]),
        "chosen": order.index(writer.chosen),
        "kept": len(kept),
        "bits": rounded(-(kept * kept.log2()).sum()),
    }


def attention(model: nn.Module, vocabulary: Vocabulary, text: str) -> Json | None:
    """Where every head looks; None without attention or text."""
    if not text or not isinstance(model, GPT):
        return None
    tokens = torch.tensor([vocabulary.encode(text[: model.context_length])])
    return head_maps(model, tokens, [vocabulary.tokens[k] for k in tokens[0].tolist()])
