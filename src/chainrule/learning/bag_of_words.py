"""Bag-of-words prediction: the words of a text from one vector.

    loss(z, x) = -Σ_w a_w log softmax(z)_w / Σ_w a_w      over the different words w of the text x
    a_w = min(1, √(t / f_w))                              so that "the" counts less than "dreadful"

z are the logits of all words, for BERT those at [CLS], whose vector must then represent the whole
text with its masked words; f_w is the frequency of a word in the training texts.

Ma, Wu, Lin and Hu (2024), SIGIR; Mikolov, Sutskever, Chen, Corrado and Dean (2013), NeurIPS, for
the weights a, there the probability of keeping a word. Notes: J 6.5 (pre-training).
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from chainrule.arguments import Count, Natural, Positive, checked

THRESHOLD = 1e-4  # t: more frequent words count less


@checked
def rarity(
    tokens: Int[Tensor, "n steps"],
    vocab_size: Count,
    num_special: Natural,
    threshold: Positive = THRESHOLD,
) -> Float[Tensor, " vocab_size"]:
    """a_w; zero for the first `num_special` tokens, which are not words."""
    words = tokens[tokens >= num_special]
    frequency = words.bincount(minlength=vocab_size).double() / max(1, len(words))
    weights = (threshold / frequency).sqrt().clamp(max=1).float()
    weights[:num_special] = 0
    return weights


@checked
def word_targets(
    tokens: Int[Tensor, "batch steps"], weights: Float[Tensor, " vocab_size"]
) -> Float[Tensor, "batch vocab_size"]:
    """a_w for the words of each text, 0 for all others."""
    targets = weights.new_zeros(len(tokens), len(weights))
    return targets.scatter_(1, tokens, 1.0) * weights


@checked
def bag_of_words(
    logits: Float[Tensor, "batch vocab_size"],
    tokens: Int[Tensor, "batch steps"],
    weights: Float[Tensor, " vocab_size"],
) -> Float[Tensor, " batch"]:
    """The loss of each text; 0 for a text without words."""
    targets = word_targets(tokens, weights)
    loss = -(logits.log_softmax(1) * targets).sum(1)
    return loss / targets.sum(1).clamp_min(torch.finfo(targets.dtype).tiny)
