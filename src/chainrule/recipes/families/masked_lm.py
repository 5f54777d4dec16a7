"""BERT's pre-training as a network and a task of the engine.

    loss = mean over masked words of -log p(word | the rest) - log p(b follows a, or not)
           + λ mean over words of the text of -log p(word | [CLS])

The first two tasks are the paper's; the third is `bag_of_words`, which shares the head of the
masked words. Training masks other words in every step; evaluation masks the same ones in all epochs
and runs, by a fixed seed.
"""

from functools import partial

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.data.text.wordpiece import SPECIAL, WordPiece
from chainrule.learning.bag_of_words import bag_of_words
from chainrule.learning.masking import MaskedTokens, MaskingScheme, mask_tokens
from chainrule.learning.metrics import METRICS
from chainrule.learning.tasks import Task
from chainrule.models.attention.bert_pretraining import BertPretraining
from chainrule.recipes.families.bert import AT_ONCE, lengths, segments, trimmed

MEASURED = 0  # the seed of the words that are hidden to measure
# Columns of what `MaskedLM` gives.
SURPRISE, HIDDEN, RIGHT, FOLLOWS, GIST = 0, 1, 2, slice(3, 5), 5


class MaskedLM(nn.Module):
    """Rows of Σ -log p of the hidden words, how many, how many are right; logits of `follows`;
    and the mean -log p of the text's words at [CLS], by `weights`."""

    weights: Float[Tensor, " symbols"]

    def __init__(
        self, model: BertPretraining, pieces: WordPiece, weights: Float[Tensor, " symbols"]
    ):
        super().__init__()
        self.model = model
        self.register_buffer("weights", weights, persistent=False)
        self.sep = pieces.sep
        self.scheme = MaskingScheme(len(pieces), pieces.mask, len(SPECIAL))

    def forward(self, tokens: Int[Tensor, "batch steps"]) -> Float[Tensor, "batch 6"]:
        if self.training:
            tokens = trimmed(tokens)
            return self.guess(mask_tokens(tokens, self.scheme), tokens)
        chosen = mask_tokens(tokens.cpu(), self.scheme, torch.Generator().manual_seed(MEASURED))
        hidden = MaskedTokens(
            *(t.to(tokens.device) for t in chosen)
        )  # the same ones on every device
        order = lengths(tokens).argsort(stable=True)
        parts = [self.guess(part_of(hidden, rows), tokens[rows]) for rows in order.split(AT_ONCE)]
        return torch.cat(parts)[order.argsort()]

    def guess(
        self, hidden: MaskedTokens, original: Int[Tensor, "batch steps"]
    ) -> Float[Tensor, "batch 6"]:
        """The softmax is computed only at [CLS] and at masked words."""
        tokens, places, words, counts = hidden
        found = self.model.logits(tokens, segments(tokens, self.sep), F.pad(places, (1, 0)))
        logits = found.tokens.float()
        gist = bag_of_words(logits[:, 0], original, self.weights)
        surprise = F.cross_entropy(logits[:, 1:].mT, words, reduction="none") * counts
        right = (logits[:, 1:].argmax(2) == words) & counts
        sums = (surprise.sum(1), counts.sum(1).float(), right.sum(1).float())
        return torch.cat([torch.stack(sums, 1), found.next_sentence.float(), gist[:, None]], 1)


def part_of(hidden: MaskedTokens, rows: Int[Tensor, " rows"]) -> MaskedTokens:
    """Some rows, without the columns that none of them needs."""
    tokens, places, words, counts = (t[rows] for t in hidden)
    most = max(1, int(counts.sum(1).max()))
    return MaskedTokens(trimmed(tokens), places[:, :most], words[:, :most], counts[:, :most])


def all_tasks(
    output: Float[Tensor, "n 6"], y: Int[Tensor, " n"], gist: float
) -> Float[Tensor, " n"]:
    """The mean over rows is that over hidden words, plus that over pairs and λ that over texts."""
    pairs = F.cross_entropy(output[:, FOLLOWS], y, reduction="none")
    words = output[:, SURPRISE] / output[:, HIDDEN].mean().clamp_min(1e-9)
    return words + pairs + gist * output[:, GIST]


def perplexity(output: Float[Tensor, "n 6"], y: Int[Tensor, " n"]) -> float:
    """exp of the mean -log p of a masked word."""
    surprise, hidden = output[:, SURPRISE].double().sum(), output[:, HIDDEN].double().sum()
    return (surprise / hidden).exp().item()


def word_accuracy(output: Float[Tensor, "n 6"], y: Int[Tensor, " n"]) -> float:
    """Share of masked words whose most probable word is correct."""
    return (output[:, RIGHT].double().sum() / output[:, HIDDEN].double().sum()).item()


def pair_accuracy(output: Float[Tensor, "n 6"], y: Int[Tensor, " n"]) -> float:
    """Accuracy of the next-sentence prediction."""
    return (output[:, FOLLOWS].argmax(1) == y).double().mean().item()


def text_perplexity(output: Float[Tensor, "n 6"], y: Int[Tensor, " n"]) -> float:
    """exp of the weighted mean -log p of a text's words at [CLS]."""
    return output[:, GIST].double().mean().exp().item()


def masked_lm_task(gist: float) -> Task:
    """BERT's pre-training; gist: λ, the weight of the third task."""
    functions = {
        "word_accuracy": word_accuracy,
        "perplexity": perplexity,
        "pair_accuracy": pair_accuracy,
        "text_perplexity": text_perplexity,
    }
    metrics = tuple(METRICS[name].computed_by(function) for name, function in functions.items())
    return Task("masked language modeling", partial(all_tasks, gist=gist), metrics)
