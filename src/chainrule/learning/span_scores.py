"""SQuAD's scores of an answer: by its words, ignoring case, punctuation and articles.

    exact   1 if the words equal those of a correct answer, else 0
    F1      2 p r / (p + r),  p and r: fraction of the predicted and of the correct words in common

A question may have several correct answers, of which the best match counts.
Rajpurkar, Zhang, Lopyrev and Liang (2016), EMNLP.
"""

import re
import string
from collections import Counter
from collections.abc import Callable, Sequence
from statistics import fmean

from chainrule.arguments import checked
from chainrule.errors import InputError

ARTICLES = re.compile(r"\b(a|an|the)\b")
PUNCTUATION = str.maketrans("", "", string.punctuation)

Score = Callable[[list[str], list[str]], float]


@checked
def normalize_answer(text: str) -> list[str]:
    """Lower-case words without punctuation and articles."""
    return ARTICLES.sub(" ", text.lower().translate(PUNCTUATION)).split()


@checked
def words_equal(found: list[str], true: list[str]) -> float:
    return float(found == true)


@checked
def words_f1(found: list[str], true: list[str]) -> float:
    """2 p r / (p + r), or 0 if no word is common."""
    common = (Counter(found) & Counter(true)).total()
    return 2 * common / (len(found) + len(true)) if common else 0.0


@checked
def exact_match(found: Sequence[str], answers: Sequence[Sequence[str]]) -> float:
    """Fraction of the questions with an exact match."""
    return mean_best(found, answers, words_equal)


@checked
def token_f1(found: Sequence[str], answers: Sequence[Sequence[str]]) -> float:
    """Mean F1 over the questions."""
    return mean_best(found, answers, words_f1)


@checked
def mean_best(found: Sequence[str], answers: Sequence[Sequence[str]], score: Score) -> float:
    """Mean over the questions of the best score against any correct answer."""
    if len(found) != len(answers) or not found or not all(answers):
        raise InputError(
            "expected at least one correct answer for every prediction, got answers for "
            f"{len(answers)} questions and {len(found)} predictions"
        )
    return fmean(
        max(score(normalize_answer(one), normalize_answer(true)) for true in right)
        for one, right in zip(found, answers, strict=True)
    )
