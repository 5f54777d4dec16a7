"""A transformer that translates sentences of 24 words: training, greedy decoding, beam search."""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.suite.contract import Contender, Quality, Race, Ready, Work
from benchmarks.suite.tuning import batches, count, take_onednn, tuned

LENGTH, HEADS, BATCH, RATE, BEGIN, END = 24, 4, 32, 1e-3, 1, 2
BEAMS = {"greedy": 1, "5 beams": 5}
LEARNED = 3  # epochs of 4 steps after which quality is compared
FIRST = 3  # of the words; 0 is padding


def sentences(number: int, vocab: int, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """Source, previous and next words: every word has one translation, the order is reversed."""
    generator = torch.Generator().manual_seed(seed)
    source = torch.randint(FIRST, vocab, (number, LENGTH), generator=generator)
    words = FIRST + (source.flip(1) * 7 - FIRST) % (vocab - FIRST)
    begin, end = (torch.full((number, 1), token) for token in (BEGIN, END))
    target = torch.cat([begin, words, end], 1)
    return source, target[:, :-1], target[:, 1:]


def network(vocab: int, width: int, depth: int) -> Any:
    from chainrule.models.attention.transformer import Transformer

    return Transformer(vocab, vocab, width, depth, HEADS, 4 * width, 0.0, "pre")


def per_sentence(logits: Tensor, y: Tensor) -> Tensor:
    """Mean loss per word, one value per sentence."""
    losses = F.cross_entropy(logits.flatten(0, 1), y.flatten(), reduction="none")
    return losses.view(y.shape).mean(1)


def held_loss(model: nn.Module, vocab: int) -> float:
    source, previous, target = sentences(64, vocab, seed=10**6)
    with torch.no_grad():
        return float(per_sentence(model.eval()(source, previous), target).mean())


def engine(kind: str, number: int, vocab: int, width: int, depth: int) -> Ready:
    torch.manual_seed(0)
    if kind != "training":
        return decoding(kind, network(vocab, width, depth).eval(), number, vocab)
    from chainrule.learning.tasks import Task
    from chainrule.training import iterate

    def started(seed: int) -> tuple[nn.Module, Callable[[], object]]:
        torch.manual_seed(seed)
        model = network(vocab, width, depth)
        task = Task("translation", per_sentence, inputs=2)
        options: dict[str, Any] = {"batch_size": BATCH, "learning_rate": RATE, "seed": seed}
        reports = iterate(model, sentences(number, vocab), task=task, epochs=10**6, **options)
        return model, lambda: next(now for now in reports if now.record)

    model, unit = started(0)

    def quality(seed: int) -> float:
        fresh, run = started(seed)
        for _ in range(LEARNED):
            run()
        return held_loss(fresh, vocab)

    return Ready(lambda: unit() is None, quality, count(model))


def decoding(kind: str, model: Any, number: int, vocab: int) -> Ready:
    from chainrule.nn.decoding import DecodingConfig

    source, beams = sentences(number, vocab)[0], BEAMS[kind]
    config = DecodingConfig(BEGIN, END, LENGTH + 1)

    def write(beams: int) -> Tensor:
        return model.translate(source, config, beams)

    return Ready(lambda: write(beams) is None, lambda _: searched(model, source, write, beams))


def searched(
    network: Callable[[Tensor, Tensor], Tensor],
    source: Tensor,
    write: Callable[[int], Tensor],
    beams: int,
) -> float:
    """How well decoding searched, by the network's own pass over what it wrote.

    Of greedy decoding the share of tokens that are the likeliest; of beams that of sentences which
    are at least as likely as the greedy ones.
    """
    log_p, written, kept = reread(network, source, write(1))
    if beams == 1:
        return float((log_p.argmax(-1) == written)[kept].double().mean())
    greedy = per_word(log_p, written, kept)
    return float((per_word(*reread(network, source, write(beams))) > greedy - 1e-4).double().mean())


def reread(
    network: Callable[[Tensor, Tensor], Tensor], source: Tensor, written: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Log-probabilities of every next word, the words, and which of them belong to a sentence."""
    begin = torch.full((len(written), 1), BEGIN)
    with torch.no_grad():
        log_p = network(source, torch.cat([begin, written[:, :-1]], 1)).log_softmax(-1)
    ended = (written == END).cumsum(1) - (written == END).long()
    return log_p, written, (ended == 0) & (written != 0)


def per_word(log_p: Tensor, written: Tensor, kept: Tensor) -> Tensor:
    """Mean log-probability of a sentence's words."""
    found = log_p.gather(-1, written[..., None])[..., 0] * kept
    return found.sum(1) / kept.sum(1)


class Plain(nn.Module):
    """torch.nn.Transformer between embeddings; the target's are also the output map."""

    def __init__(self, vocab: int, width: int, depth: int):
        super().__init__()
        self.source, self.target = nn.Embedding(vocab, width), nn.Embedding(vocab, width)
        for table in (self.source, self.target):
            nn.init.normal_(table.weight, std=width**-0.5)
        self.body = nn.Transformer(
            width, HEADS, depth, depth, 4 * width, 0.0, batch_first=True, norm_first=True
        )
        place = torch.arange(LENGTH + 1.0)[:, None] / 10_000 ** (torch.arange(0, width, 2) / width)
        self.register_buffer("positions", torch.cat([place.sin(), place.cos()], 1))
        causal = nn.Transformer.generate_square_subsequent_mask(LENGTH + 1)
        self.register_buffer("causal", causal)

    def forward(self, source: Tensor, previous: Tensor) -> Tensor:
        scale = self.source.embedding_dim**0.5
        x = self.source(source) * scale + self.positions[: source.shape[1]]
        y = self.target(previous) * scale + self.positions[: previous.shape[1]]
        hidden = self.body(x, y, tgt_mask=self.causal, tgt_is_causal=True)
        return F.linear(hidden, self.target.weight)


def onednn(**sizes: Any) -> Ready:
    """The same with the switch that gives oneDNN the float32 products."""
    take_onednn()
    return hand_tuned(**sizes)


def hand_tuned(kind: str, number: int, vocab: int, width: int, depth: int) -> Ready:
    """Sentences gathered by index, fused Adam."""
    tuned()
    source, previous, target = sentences(number, vocab)
    both = torch.cat([source, previous], 1)

    def started(seed: int) -> tuple[nn.Module, Callable[[Tensor, Tensor], None]]:
        torch.manual_seed(seed)
        model = Plain(vocab, width, depth)
        adam = torch.optim.Adam(model.parameters(), RATE, fused=True)

        def step(x: Tensor, y: Tensor) -> None:
            adam.zero_grad(set_to_none=True)
            logits = model(x[:, :LENGTH], x[:, LENGTH:])
            F.cross_entropy(logits.flatten(0, 1), y.flatten()).backward()
            adam.step()

        return model, step

    model, step = started(0)

    def run(step: Callable[[Tensor, Tensor], None]) -> None:
        for x, y in batches(both, target, BATCH):
            step(x, y)

    def quality(seed: int) -> float:
        fresh, step = started(seed)
        for _ in range(LEARNED):
            run(step)
        return held_loss(fresh, vocab)

    return Ready(
        lambda: run(step), quality, count(model), lambda: step(both[:BATCH], target[:BATCH])
    )


def marian(kind: str, number: int, vocab: int, width: int, depth: int) -> Ready:
    """transformers' MarianMT of the same sizes; random weights, so every text has full length."""
    import transformers

    transformers.logging.set_verbosity_error()
    torch.manual_seed(0)
    sizes = {
        f"{part}_{what}": value
        for part in ("encoder", "decoder")
        for what, value in (("layers", depth), ("attention_heads", HEADS), ("ffn_dim", 4 * width))
    }
    config = transformers.MarianConfig(
        vocab_size=vocab,
        d_model=width,
        pad_token_id=0,
        eos_token_id=END,
        decoder_start_token_id=BEGIN,
        forced_eos_token_id=None,
        max_position_embeddings=2 * LENGTH,
        **sizes,
    )
    model = transformers.MarianMTModel(config).eval()
    source, beams = sentences(number, vocab)[0], BEAMS[kind]
    every = torch.ones_like(source)

    def write(beams: int) -> Tensor:
        written = model.generate(
            source,
            attention_mask=every,
            num_beams=beams,
            do_sample=False,
            max_new_tokens=LENGTH + 1,
        )
        return written[:, 1:]

    def network(source: Tensor, previous: Tensor) -> Tensor:
        return model(source, attention_mask=every, decoder_input_ids=previous).logits

    return Ready(lambda: write(beams) is None, lambda _: searched(network, source, write, beams))


def work(kind: str, number: int, vocab: int, width: int, depth: int) -> Work:
    """Encoder 12 d², decoder 16 d² weights a layer, and the output map; beams share the source."""
    encoder, decoder = 12 * depth * width**2, 16 * depth * width**2 + vocab * width
    passes = {"training": 3, "greedy": 1, "5 beams": 5}[kind]
    read = 3 if kind == "training" else 1
    flops = 2.0 * number * LENGTH * (read * encoder + passes * decoder)
    return Work(flops, 0.0, number, "sentences")


SIZES = {"vocab": 4000, "width": 256, "depth": 3}
ROW = Race(
    unit="sentences",
    contenders={
        "chainrule": Contender(engine),
        "hand-tuned PyTorch": Contender(hand_tuned, cases=("training", "tiny")),
        "hand-tuned, oneDNN": Contender(onednn, cases=("training", "tiny")),
        "transformers, Marian": Contender(marian, ("transformers",), cases=("greedy", "5 beams")),
    },
    cases={
        "training": {"kind": "training", "number": 128, **SIZES},
        "greedy": {"kind": "greedy", "number": 32, **SIZES},
        "5 beams": {"kind": "5 beams", "number": 8, **SIZES},
    },
    tiny={"kind": "training", "number": 4, "vocab": 11, "width": 8, "depth": 1},
    quality=Quality(
        "cross-entropy of held sentences after 12 steps, three seeds; what decoding found by the "
        "network's own measure",
        0.05,
        seeds=3,
    ),
    work=work,
)
