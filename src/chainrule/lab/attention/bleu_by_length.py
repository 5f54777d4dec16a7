"""Claim: attention keeps BLEU on long sentences, where a vector of fixed size loses it (J 5.3).

    without:  z_0 = ζ_m, all that the decoder knows of x_1 … x_m
    with:     c_i = Σ_j a_ij ζ_j,     a_ij = softmax_j(vᵀ tanh(W s_{i-1} + U ζ_j))

Measured: `Bahdanau` and `Seq2Seq` networks with 32 GRU units learn from the same number of batches
to translate 2 to 12 random words, of 8, one by one; then they translate new sentences greedily.
BLEU on 9 to 12 words as a share of that on 2 to 5: the mean with attention less the mean without,
in standard errors over the networks.
Bound: Student's quantile at level 0.0001, for normal shares: kinds that keep the same share exceed
it in one of 10 000 checks. The mean BLEU on long sentences must be larger with attention, too.
The words of these sentences are independent, so a state must hold all of them. The claim is about
what is learned in the same few steps, not about what 32 numbers can hold: without attention, five
words are already too many after 150 steps. BLEU by the length of real sentences: recipes
`multi30k-gru`, `multi30k-bahdanau`.
Bahdanau, Cho and Bengio (2015), ICLR.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from scipy.stats import t
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.learning.bleu import bleu
from chainrule.models.recurrent import Bahdanau, Seq2Seq
from chainrule.nn.decoding import DecodingConfig, greedy

LEVEL = 1e-4
NETWORKS = 4  # of each kind
BEGIN, END, SPECIAL = 1, 2, 3  # token 0 is padding
WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight")
VOCAB_SIZE = SPECIAL + len(WORDS)
EMBEDDING, UNITS = 16, 32
BATCH, RATE, CLIP = 64, 2e-2, 1.0
TESTED = 40  # sentences of each length
SHORT, LONG = range(2, 6), range(9, 13)  # words of a sentence
Translator = Bahdanau | Seq2Seq


def check(steps: int = 150, seed: int = 0) -> Verdict:
    """Attention that learns where to look.

    Args:
        steps: Steps of training, each with a new batch of sentences of one length.
    """
    return verdict(steps, seed, with_attention)


def broken() -> Verdict:
    """Every word gets the same weight, so the context is one vector for all steps."""
    return verdict(150, 0, with_uniform_attention)


def near() -> Near:
    """Training too short to learn where to look."""
    return {"20 steps of training": lambda: verdict(20, 0, with_attention)}


def with_attention() -> Bahdanau:
    return Bahdanau(VOCAB_SIZE, VOCAB_SIZE, EMBEDDING, UNITS)


def with_uniform_attention() -> Bahdanau:
    """v = 0, so that a_ij = 1/m."""
    model = with_attention()
    model.score.weight.requires_grad_(False).zero_()
    return model


def without_attention() -> Seq2Seq:
    return Seq2Seq(VOCAB_SIZE, VOCAB_SIZE, "gru", EMBEDDING, UNITS)


def verdict(steps: int, seed: int, attending: Callable[[], Translator]) -> Verdict:
    """BLEU of short and long sentences with both kinds of network."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        found = [
            torch.tensor([scores(make(), steps) for _ in range(NETWORKS)]).double()
            for make in (attending, without_attention)
        ]
    kept = [kind[:, 1] / kind[:, 0] for kind in found]
    error = (sum(share.var().item() for share in kept) / NETWORKS) ** 0.5
    with_it, without = (kind.mean(0).tolist() for kind in found)
    return Verdict(
        quantity="share of BLEU kept: gain by attention, standard errors",
        measured=(kept[0].mean() - kept[1].mean()).item() / error,
        relation=">",
        bound=float(t.isf(LEVEL, 2 * NETWORKS - 2)),
        conditions={"attention gains on long sentences": with_it[1] > without[1]},
        picture=picture(found),
        details={
            "short, with attention": with_it[0],
            "long, with attention": with_it[1],
            "short, without": without[0],
            "long, without": without[1],
        },
    )


def scores(model: Translator, steps: int) -> list[float]:
    """BLEU on short and on long sentences after training on all lengths."""
    train(model, steps, range(SHORT[0], LONG[-1] + 1))
    return [bleu_of(model, group) for group in (SHORT, LONG)]


def sentences(number: int, length: int) -> tuple[Tensor, Tensor]:
    """Random words, and the translation: each word's successor, the first for the last."""
    x = torch.randint(len(WORDS), (number, length))
    return x + SPECIAL, (x + 1) % len(WORDS) + SPECIAL


def train(model: Translator, steps: int, lengths: range) -> None:
    """Teacher forcing; the learning rate falls linearly to 0."""
    weights = [w for w in model.parameters() if w.requires_grad]
    optimizer = torch.optim.Adam(weights, RATE, fused=True)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, steps)
    for _ in range(steps):
        x, y = sentences(BATCH, lengths[int(torch.randint(len(lengths), ()))])
        logits = model(x, F.pad(y, (1, 0), value=BEGIN))
        optimizer.zero_grad()
        F.cross_entropy(logits.flatten(0, 1), F.pad(y, (0, 1), value=END).flatten()).backward()
        torch.nn.utils.clip_grad_norm_(weights, CLIP)
        optimizer.step()
        schedule.step()


@torch.no_grad()
def bleu_of(model: Translator, lengths: range) -> float:
    """BLEU of greedy translations of new sentences with these lengths."""
    translations, references = [], []
    for length in lengths:
        x, y = sentences(TESTED, length)
        ends = DecodingConfig(BEGIN, END, 2 * length)
        translations += texts(greedy(model.decode_step, model.encode(x), TESTED, ends))
        references += texts(y)
    return bleu(translations, references)


def texts(tokens: Tensor) -> list[str]:
    """Rows of tokens as words."""
    return [" ".join(WORDS[k - SPECIAL] for k in row if k >= SPECIAL) for row in tokens.tolist()]


def picture(found: list[Tensor]) -> Picture:
    """Each network's BLEU, and the means as curves."""
    x = [(group[0] + group[-1]) / 2 for group in (SHORT, LONG)]
    kinds = dict(zip(("with attention", "without"), found, strict=True))
    return Picture(
        title="Attention keeps BLEU on long sentences",
        x_label="words of a sentence, middle of the group",
        y_label="BLEU",
        curves={f"{name}, mean": (x, kind.mean(0).tolist()) for name, kind in kinds.items()},
        points={name: (x * NETWORKS, kind.flatten().tolist()) for name, kind in kinds.items()},
    )
