"""Claim: BERT selects 15 % of the words: 80 % masked, 10 % replaced, 10 % unchanged (J 6.5).

    P(word t becomes [MASK]) = 0.15 · 0.8,     P(random word) = P(asked for as it is) = 0.15 · 0.1

Measured: over many texts, for each position, how many words were masked, replaced or kept; the
largest distance from the predicted count, in standard deviations of the binomial law. One random
word in V equals the old one. Exactly round(0.15 n) words of a text must be selected, and [CLS],
[SEP] and padding never.
Bound: the normal quantile that all positions together exceed for one seed in 10⁶.
Devlin et al. (2019). J footnote 11.
"""

from dataclasses import replace

import torch
from scipy.stats import norm
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.learning.masking import MaskingScheme, mask_tokens

LEVEL = 1e-6
SPECIAL = (2, 3, 0)  # [CLS], [SEP], [PAD]
SYMBOLS = 104
SCHEME = MaskingScheme(vocab_size=SYMBOLS, mask_token=1, num_special=4)


def check(texts: int = 8000, words: int = 40, seed: int = 0) -> Verdict:
    """BERT's scheme.

    Args:
        texts: Random texts to mask.
        words: Words per text.
    """
    return verdict(SCHEME, texts, words, seed)


def broken() -> Verdict:
    """Every selected word becomes [MASK]."""
    return verdict(
        MaskingScheme(vocab_size=SYMBOLS, mask_token=1, num_special=4, masked=1.0, random=0.0),
        8000,
        40,
        0,
    )


def near() -> Near:
    """Other fractions."""
    return {
        **ten_percent(
            "80 %", lambda factor: verdict(replace(SCHEME, masked=0.8 * factor), 8000, 40, 0)
        ),
        **ten_percent("15 %", lambda c: verdict(replace(SCHEME, mask_rate=0.15 * c), 8000, 40, 0)),
    }


def verdict(scheme: MaskingScheme, texts: int, words: int, seed: int) -> Verdict:
    """What happened to the word at each position."""
    generator = torch.Generator().manual_seed(seed)
    text = torch.randint(scheme.num_special, SYMBOLS, (texts, words), generator=generator)
    cls, sep, pad = (torch.full((texts, 1), token) for token in SPECIAL)
    tokens = torch.cat([cls, text, sep, pad], 1)
    hidden = mask_tokens(tokens, scheme, generator)
    asked = torch.zeros_like(tokens, dtype=torch.bool)
    asked.scatter_(1, hidden.positions, hidden.valid)
    changed = hidden.tokens != tokens
    fates = {
        "[MASK]": asked & (hidden.tokens == scheme.mask_token),
        "another word": asked & changed & (hidden.tokens != scheme.mask_token),
        "the word itself": asked & ~changed,
    }
    number, again = round(0.15 * words), 0.1 / (SYMBOLS - scheme.num_special)
    predicted = {"[MASK]": 0.8, "another word": 0.1 - again, "the word itself": 0.1 + again}
    p = {name: number / words * share for name, share in predicted.items()}
    inside = slice(1, 1 + words)
    distances = [distance(fates[name][:, inside].sum(0), texts, p[name]) for name in p]
    right = bool((asked.sum(1) == number).all()) and not bool((changed & ~asked).any())
    right = right and not bool(asked[:, [0, -2, -1]].any())
    bound = float(norm.isf(LEVEL / 2 / 3 / words))
    places = [float(t) for t in range(1, words + 1)]
    return Verdict(
        quantity="largest |count - predicted|, standard deviations",
        measured=max(distances),
        relation="≤",
        bound=bound,
        conditions={"exactly 15 % of each text selected, special tokens never": right},
        picture=Picture(
            title="12 % of the words are masked, 1.5 % replaced, 1.5 % selected but unchanged",
            x_label="position in the text",
            y_label="fraction of the texts",
            curves={name: ([1.0, places[-1]], [share, share]) for name, share in p.items()},
            points={
                name: (places, fate[:, inside].double().mean(0).tolist())
                for name, fate in fates.items()
            },
        ),
        details={"fraction of words selected": asked.sum().item() / (texts * words)},
    )


def distance(counts: Tensor, texts: int, p: float) -> float:
    """The largest |count - N p| / √(N p (1 - p))."""
    return float((counts - texts * p).abs().max()) / (texts * p * (1 - p)) ** 0.5
