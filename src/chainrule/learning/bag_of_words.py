"""Bag-of-words prediction: from one vector, name the words that a text holds.

    loss(z, x) = -Σ_w a_w log softmax(z)_w / Σ_w a_w      over the different words w of the text x
    a_w = min(1, √(t / f_w))                              so that "the" counts less than "dreadful"

z are the logits of all words, for BERT those at [CLS], whose vector must then gather the whole
text, its hidden words too; f_w is the frequency of a word in the texts to learn from.

Ma, Wu, Lin and Hu (2024), SIGIR; Mikolov, Sutskever, Chen, Corrado and Dean (2013), NeurIPS, for
the weights a, there of a word's chance to be kept. Notes: J 6.5 (pre-training), which has none.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

COMMON = 1e-4  # t: words more frequent than this count less


def rarity(
    tokens: Int[Tensor, "n steps"], symbols: int, special: int, common: float = COMMON
) -> Float[Tensor, " symbols"]:
    """a; zero for the first `special` tokens, which are no words."""
    words = tokens[tokens >= special]
    frequency = words.bincount(minlength=symbols).double() / max(1, len(words))
    weights = (common / frequency).sqrt().clamp(max=1).float()
    weights[:special] = 0
    return weights


def words_held(
    tokens: Int[Tensor, "batch steps"], weights: Float[Tensor, " symbols"]
) -> Float[Tensor, "batch symbols"]:
    """a_w for the words of each text, zero for all others."""
    held = weights.new_zeros(len(tokens), len(weights))
    return held.scatter_(1, tokens, 1.0) * weights


def bag_of_words(
    logits: Float[Tensor, "batch symbols"],
    tokens: Int[Tensor, "batch steps"],
    weights: Float[Tensor, " symbols"],
) -> Float[Tensor, " batch"]:
    """The loss of each text; zero for one without words."""
    held = words_held(tokens, weights)
    surprise = -(logits.log_softmax(1) * held).sum(1)
    return surprise / held.sum(1).clamp_min(torch.finfo(held.dtype).tiny)
