"""How SQuAD judges an answer: by its words, without case, marks and articles.

    exact   1 if the words are those of a right answer, else 0
    F1      2 p r / (p + r),  p and r the shares of the words in common among those found and true

Each against all right answers, of which the best counts.
Rajpurkar, Zhang, Lopyrev and Liang (2016), EMNLP.
"""

import re
import string
from collections import Counter
from collections.abc import Callable, Sequence
from statistics import fmean

from chainrule.errors import InputError

ARTICLES = re.compile(r"\b(a|an|the)\b")
MARKS = str.maketrans("", "", string.punctuation)

Score = Callable[[list[str], list[str]], float]


def plain(text: str) -> list[str]:
    """Lower-case words without marks and articles."""
    return ARTICLES.sub(" ", text.lower().translate(MARKS)).split()


def same(found: list[str], true: list[str]) -> float:
    return float(found == true)


def overlap(found: list[str], true: list[str]) -> float:
    """2 p r / (p + r), and 0 where no word is common."""
    common = (Counter(found) & Counter(true)).total()
    return 2 * common / (len(found) + len(true)) if common else 0.0


def exact_match(found: Sequence[str], answers: Sequence[Sequence[str]]) -> float:
    """Mean over the questions."""
    return scored(found, answers, same)


def token_f1(found: Sequence[str], answers: Sequence[Sequence[str]]) -> float:
    """Mean over the questions."""
    return scored(found, answers, overlap)


def scored(found: Sequence[str], answers: Sequence[Sequence[str]], score: Score) -> float:
    if len(found) != len(answers) or not found or not all(answers):
        raise InputError(
            f"expected right answers to each of the answers found, got {len(answers)} for "
            f"{len(found)}"
        )
    return fmean(
        max(score(plain(one), plain(true)) for true in right)
        for one, right in zip(found, answers, strict=True)
    )
