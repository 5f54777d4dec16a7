"""Claim: positions that were not seen in training are useless, learned ones at once (L 8, A 2.6.1).

    trained on texts of L words   ⇒   p_t = its initial value for t ≥ L,   accuracy_t ≤ c for t ≥ L
    c = E max_v (how often word v occurs among the L words before) / L

Measured: a causal transformer block learns to repeat the word before, on random texts of L words;
its largest accuracy at a position t ≥ L, with learned positions.
Bound: c plus 5 standard errors of the accuracy. c is the best of a network that knows which words
came before, but not their order: all orders are equally likely, so the most frequent word is the
best guess. Positions t < L must be solved, learned positions t ≥ L must not have changed by a bit,
as no gradient reaches them.
With sinusoidal positions the word right after the L-th is still repeated better than that, as its
vector is close to the last ones seen; far beyond, they fail as well. So `position-range` is about
the vectors, not about networks. Vaswani et al. (2017), section 3.5, hoped for more.
"""

from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.nn.positions import LearnedPositions, sinusoidal
from chainrule.nn.transformer_block import PreNormBlock

WORDS, WIDTH = 16, 32
LONGEST, SEEN = 40, 20
BATCH, RATE, STEPS = 64, 1e-2, 300
TEXTS, ERRORS = 500, 5
SOLVED = 0.9


def check(steps: int = STEPS, seed: int = 0) -> Verdict:
    """Trained on 20 words, tested on 40.

    Args:
        steps: Steps of training.
    """
    return verdict(steps, seed)


def broken() -> Verdict:
    """Trained on all 40 words."""
    return verdict(STEPS, 0, trained=LONGEST)


def near() -> Near:
    """Another length from which on positions are new; a few longer texts in training."""
    return {
        **ten_percent("L", lambda factor: verdict(STEPS // 2, 0, claimed=round(factor * SEEN))),
        "trained on one word more": partial(verdict, STEPS // 2, 0, trained=SEEN + 1),
    }


def verdict(steps: int, seed: int, trained: int = SEEN, claimed: int = SEEN) -> Verdict:
    """Accuracy by position of both networks."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        table = LearnedPositions(LONGEST, WIDTH)
        before = table.weight.detach().clone()
        learned, waves = Repeater(table), Repeater(None)
        for network in (learned, waves):
            train(network, trained, steps)
        x = torch.randint(WORDS, (TEXTS, LONGEST))
        c = best_without_order(claimed)
    found = {"learned": accuracies(learned, x), "sinusoidal": accuracies(waves, x)}
    bound = c + ERRORS * (c * (1 - c) / TEXTS) ** 0.5
    far = found["sinusoidal"][2 * claimed - claimed // 2 - 1 :]
    t = [float(k) for k in range(1, LONGEST)]
    return Verdict(
        quantity="largest accuracy at a position beyond L, learned positions",
        measured=found["learned"][claimed - 1 :].max().item(),
        relation="≤",
        bound=bound,
        conditions={
            "positions below L are solved": all(
                a[: claimed - 1].min().item() > SOLVED for a in found.values()
            ),
            "learned positions beyond L are as at first": torch.equal(
                table.weight[claimed:], before[claimed:]
            ),
            "sinusoidal ones carry over to the next word": found["sinusoidal"][claimed - 1].item()
            > bound,
            "but not far": far.mean().item() <= bound,
        },
        picture=Picture(
            title="Beyond the trained length learned positions tell a network nothing",
            x_label="position t",
            y_label="accuracy of repeating the word before",
            points={name: (t, a.tolist()) for name, a in found.items()},
            bounds={"without the order, and 5 standard errors": ([t[0], t[-1]], [bound, bound])},
            marks={"L": float(claimed)},
        ),
        details={"c": c, "mean beyond 3/2 L, sinusoidal": far.mean().item()},
    )


class Repeater(nn.Module):
    """Word embeddings and positions → a causal block → the word before."""

    def __init__(self, positions: LearnedPositions | None):
        super().__init__()
        self.embedding, self.positions = nn.Embedding(WORDS, WIDTH), positions
        self.block = PreNormBlock(WIDTH, num_heads=2, feed_forward_size=2 * WIDTH)
        self.output = nn.Linear(WIDTH, WORDS)

    def forward(self, x: Tensor) -> Tensor:
        steps = x.shape[1]
        p = sinusoidal(steps, WIDTH) if self.positions is None else self.positions(steps)
        return self.output(self.block(self.embedding(x) + p, causal=True))


def train(network: Repeater, length: int, steps: int) -> None:
    """Random texts of this length, new ones in every step; the learning rate falls to 0."""
    optimizer = torch.optim.Adam(network.parameters(), RATE, fused=True)
    decay = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, steps)
    for _ in range(steps):
        x = torch.randint(WORDS, (BATCH, length))
        optimizer.zero_grad()
        F.cross_entropy(network(x)[:, 1:].mT, x[:, :-1]).backward()
        optimizer.step()
        decay.step()


@torch.no_grad()
def accuracies(network: Repeater, x: Tensor) -> Tensor:
    """At positions 1, 2, …; there is nothing before position 0."""
    return (network(x)[:, 1:].argmax(2) == x[:, :-1]).double().mean(0)


def best_without_order(length: int, texts: int = 20_000) -> float:
    """c, by drawing texts."""
    counts = F.one_hot(torch.randint(WORDS, (texts, length)), WORDS).sum(1)
    return (counts.amax(1) / length).mean().item()
