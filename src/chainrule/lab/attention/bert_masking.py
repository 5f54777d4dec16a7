"""Claim: BERT asks for 15 % of the words: 80 % masked, 10 % replaced, 10 % as they are (J 6.5).

    P(word t becomes [MASK]) = 0.15 · 0.8,     P(random word) = P(asked for as it is) = 0.15 · 0.1

Measured: over many texts, at each place, how many words met each fate; the largest distance from
the predicted number in standard deviations of the binomial law. Of the random words one in V is
the old one again. Exactly round(0.15 n) words of a text must be asked for, and [CLS], [SEP] and
padding never. Bound: the normal quantile that all places together pass once in 10⁶ seeds.
Devlin et al. (2019). J footnote 11.
"""

import torch
from scipy.stats import norm
from torch import Tensor

from chainrule.lab.claim import Picture, Verdict
from chainrule.learning.masking import MaskingScheme, mask_tokens

LEVEL = 1e-6
SPECIAL = (2, 3, 0)  # [CLS], [SEP], [PAD]
SYMBOLS = 104
SCHEME = MaskingScheme(vocab_size=SYMBOLS, mask_token=1, num_special=4)


def check(texts: int = 8000, words: int = 40, seed: int = 0) -> Verdict:
    """BERT's scheme."""
    return verdict(SCHEME, texts, words, seed)


def broken() -> Verdict:
    """Every word that is asked for becomes [MASK]."""
    return verdict(
        MaskingScheme(vocab_size=SYMBOLS, mask_token=1, num_special=4, masked=1.0, random=0.0),
        8000,
        40,
        0,
    )


def verdict(scheme: MaskingScheme, texts: int, words: int, seed: int) -> Verdict:
    """Fates by place."""
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
        predicted="shares 0.12, 0.015 and 0.015 of all words",
        measured=max(distances),
        bound=bound,
        holds=right and max(distances) <= bound,
        picture=Picture(
            title="12 % of the words are hidden, 1.5 % exchanged, 1.5 % asked for as they are",
            x_label="place in the text",
            y_label="share of the texts",
            curves={name: ([1.0, places[-1]], [share, share]) for name, share in p.items()},
            points={
                name: (places, fate[:, inside].double().mean(0).tolist())
                for name, fate in fates.items()
            },
        ),
        details={"asked for, of all words": asked.sum().item() / (texts * words)},
    )


def distance(counts: Tensor, texts: int, p: float) -> float:
    """The largest |count - N p| / √(N p (1 - p))."""
    return float((counts - texts * p).abs().max()) / (texts * p * (1 - p)) ** 0.5
