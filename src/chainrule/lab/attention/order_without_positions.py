"""Claim: without position embeddings a transformer ignores the order of the words (J 6.3, A 2.6.1).

    p_t = 0 for all t   ⇒   f([CLS], x_π1, …, x_πn) = f([CLS], x_1, …, x_n)   for every order π

Measured: the largest change of a BERT classifier's logits when n words are reversed, with its
learned positions set to zero, in double precision.
Bound: 1e-12, sums in another order.
The order must matter once positions are present, and also, which is less known, in a causal network
of two blocks without them: how many words a token sees reveals its position. Vaswani et al. (2017);
Haviv et al. (2022) for the causal case.
"""

from functools import partial

import torch
from torch import Tensor, nn

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.models.attention.bert import BERT
from chainrule.models.attention.bert_classifier import BertClassifier
from chainrule.models.attention.gpt import GPT

ROUNDING = 1e-12
SYMBOLS = 50


def check(words: int = 20, hidden_size: int = 32, seed: int = 0) -> Verdict:
    """Position embeddings set to zero.

    Args:
        words: Words of the text.
        hidden_size: Hidden size of the networks.
    """
    return verdict(words, hidden_size, seed, strength=0.0)


def broken() -> Verdict:
    """Position embeddings left as they are."""
    return verdict(20, 32, 0, strength=1.0)


def near() -> Near:
    """A trace of the order: one word's vector scaled by its place, one position, small ones."""
    return {
        **ten_percent("vector of the first word", partial(verdict, 20, 32, 0, 0.0)),
        "a position for the first word only": partial(verdict, 20, 32, 0, strength=0.0, kept=1),
        "positions × 1e-3": partial(verdict, 20, 32, 0, strength=1e-3),
        "positions × 1e-6": partial(verdict, 20, 32, 0, strength=1e-6),
    }


@torch.no_grad()
def verdict(
    words: int, width: int, seed: int, strength: float, first: float = 1.0, kept: int = 0
) -> Verdict:
    """Change of the output by the number of words that moved.

    strength: of the positions; `kept` words keep theirs.
    first: factor of the vector that is read at the place of the first word.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        bert = BERT(SYMBOLS, words + 1, width, num_layers=2, num_heads=2, dropout=0.0)
        reader = BertClassifier(bert, classes=2).double().eval()
        writer = GPT(SYMBOLS, words + 2, width, num_layers=2, num_heads=2).double().eval()
        for parameter in (*reader.parameters(), *writer.parameters()):
            if parameter.ndim == 2:
                parameter.normal_(std=parameter.shape[1] ** -0.5)
        tokens = torch.randperm(SYMBOLS - 2)[:words] + 2
    moved = list(range(2, words + 1, 2))
    rows = torch.stack([tokens, *(exchanged(tokens, number) for number in moved)])
    one = torch.ones(len(rows), 1, dtype=torch.int64)
    with_positions = changes(reader(torch.cat([one, rows], 1)))
    bert.positions.weight[0] *= strength
    bert.positions.weight[1 + kept :] *= strength
    bert.blocks[0].register_forward_pre_hook(partial(scale_first_word, factor=first))
    writer.positions.weight.zero_()
    without = changes(reader(torch.cat([one, rows], 1)))
    causal = changes(writer(torch.cat([one, rows, one], 1))[:, -1])
    x = [float(number) for number in moved]
    return Verdict(
        quantity="largest change of a logit without positions",
        measured=max(without),
        relation="≤",
        bound=ROUNDING,
        conditions={
            "with positions, or causal, the order matters": min(*with_positions, *causal) > ROUNDING
        },
        picture=Picture(
            title="Without positions a shuffled text gives the same output",
            x_label="words moved",
            y_label="largest change of a logit",
            points={
                "with positions": (x, with_positions),
                "without": (x, [max(change, 1e-17) for change in without]),
                "without, causal": (x, causal),
            },
            bounds={"rounding": ([x[0], x[-1]], [ROUNDING] * 2)},
            log="y",
        ),
        details={"smallest change with positions": min(with_positions)},
    )


def scale_first_word(_: nn.Module, inputs: tuple[Tensor, ...], factor: float) -> tuple[Tensor, ...]:
    """The inputs of a block with the vector after [CLS] scaled."""
    x, *rest = inputs
    x = x.clone()
    x[:, 1] *= factor
    return (x, *rest)


def exchanged(tokens: Tensor, number: int) -> Tensor:
    """The first `number` tokens reversed."""
    return torch.cat([tokens[:number].flip(0), tokens[number:]])


def changes(outputs: Tensor) -> list[float]:
    """Largest change of each row from the first."""
    return (outputs[1:] - outputs[0]).abs().amax(1).tolist()
