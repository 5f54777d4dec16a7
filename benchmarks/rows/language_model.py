"""A language model, an LSTM of 256 units, by truncated backpropagation: 32 × 64 tokens a step."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.suite import synthetic
from benchmarks.suite.contract import Contender, Quality, Race, Ready, Work
from benchmarks.suite.tuning import alike, count, take_onednn, tuned

EMBEDDED, RATE, CLIP = 64, 2e-3, 1.0
State = tuple[Tensor, Tensor] | None


class Plain(nn.Module):
    """Embedding, torch's LSTM, an affine map."""

    def __init__(self, vocab: int, units: int):
        super().__init__()
        self.embedding = nn.Embedding(vocab, EMBEDDED)
        self.layer = nn.LSTM(EMBEDDED, units, batch_first=True)
        self.output = nn.Linear(units, vocab)

    def forward(self, tokens: Tensor, state: State = None) -> tuple[Tensor, State]:
        z, after = self.layer(self.embedding(tokens), state)
        return self.output(z), after


def held_loss(model: Callable[[Tensor], Tensor], vocab: int) -> float:
    """Of a text that nobody trained on."""
    text = synthetic.text(6401, vocab)[-3201:]
    x, y = text[:-1].view(32, -1), text[1:].view(32, -1)
    with torch.no_grad():
        return float(F.cross_entropy(model(x).flatten(0, 1), y.flatten()))


def stream(vocab: int, streams: int, chunk: int, steps: int) -> Tensor:
    return synthetic.text(streams * chunk * steps + 1, vocab)


def engine(vocab: int, units: int, streams: int, chunk: int, steps: int) -> Ready:
    from chainrule.learning.tasks import LANGUAGE_MODELING
    from chainrule.models.recurrent.language_model import LanguageModel
    from chainrule.training import iterate
    from chainrule.training.sources import TruncatedBPTT

    text = stream(vocab, streams, chunk, steps)

    def started(seed: int) -> tuple[nn.Module, Callable[[], object]]:
        model = LanguageModel(vocab, "lstm", units, 1, EMBEDDED)
        torch.manual_seed(seed)
        alike(model, Plain(vocab, units))
        reports = iterate(
            model,
            TruncatedBPTT((text[:-1], text[1:]), chunk),
            task=LANGUAGE_MODELING,
            epochs=10**6,
            batch_size=streams,
            learning_rate=RATE,
            clip_norm=CLIP,
            seed=seed,
            device="cpu",
        )
        return model, lambda: next(now for now in reports if now.record)

    model, unit = started(0)

    def quality(seed: int) -> float:
        fresh, run = started(seed)
        run()
        return held_loss(fresh.eval(), vocab)

    return Ready(lambda: unit() is None, quality, count(model))


def onednn(**sizes: int) -> Ready:
    """The same with the switch that gives oneDNN the float32 products."""
    take_onednn()
    return hand_tuned(**sizes)


def hand_tuned(vocab: int, units: int, streams: int, chunk: int, steps: int) -> Ready:
    """The state is handed on without its history; fused Adam, gradients clipped."""
    tuned()
    text = stream(vocab, streams, chunk, steps)
    x, y = text[:-1].view(streams, -1), text[1:].view(streams, -1)

    def started(seed: int) -> tuple[Plain, Callable[[int], None]]:
        torch.manual_seed(seed)
        model = Plain(vocab, units)
        adam = torch.optim.Adam(model.parameters(), RATE, fused=True)
        weights = list(model.parameters())

        def run(steps: int) -> None:
            state: State = None
            for step in range(steps):
                part = slice(step * chunk, (step + 1) * chunk)
                adam.zero_grad(set_to_none=True)
                logits, after = model(x[:, part], state)
                assert after is not None
                state = (after[0].detach(), after[1].detach())
                F.cross_entropy(logits.flatten(0, 1), y[:, part].flatten()).backward()
                nn.utils.clip_grad_norm_(weights, CLIP)
                adam.step()

        return model, run

    model, run = started(0)

    def quality(seed: int) -> float:
        fresh, run = started(seed)
        run(steps)
        return held_loss(lambda x: fresh(x)[0], vocab)

    return Ready(lambda: run(steps), quality, count(model), lambda: run(1))


def work(vocab: int, units: int, streams: int, chunk: int, steps: int) -> Work:
    """Four gates and the output, forward and backward."""
    tokens = streams * chunk * steps
    weights = 4 * units * (EMBEDDED + units) + units * vocab
    return Work(6.0 * weights * tokens, 0.0, tokens, "tokens")


ROW = Race(
    unit="10 steps",
    contenders={
        "chainrule": Contender(engine),
        "hand-tuned PyTorch": Contender(hand_tuned),
        "hand-tuned, oneDNN": Contender(onednn),
    },
    cases={"": {"vocab": 65, "units": 256, "streams": 32, "chunk": 64, "steps": 10}},
    tiny={"vocab": 7, "units": 8, "streams": 2, "chunk": 4, "steps": 2},
    quality=Quality("cross-entropy of a held text after 10 steps, three seeds", 0.05, seeds=3),
    work=work,
)
