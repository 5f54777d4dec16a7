"""Sentence pairs from a small grammar: English with French, and number words with digits.

In French the adjective follows the noun and agrees with it, "looks for" becomes one word and "does
not see" two around the verb: an alignment of the words is not a diagonal.
"""

import random
from typing import Literal, NamedTuple

Task = Literal["phrases", "numbers"]
Pair = tuple[str, str]


class Noun(NamedTuple):
    """In English and in French, with its gender: 0 masculine, 1 feminine."""

    english: str
    french: str
    gender: int


PEOPLE = (
    Noun("cat", "chat", 0),
    Noun("dog", "chien", 0),
    Noun("boy", "garçon", 0),
    Noun("girl", "fille", 1),
    Noun("woman", "femme", 1),
    Noun("king", "roi", 0),
    Noun("queen", "reine", 1),
)
THINGS = (
    Noun("house", "maison", 1),
    Noun("car", "voiture", 1),
    Noun("garden", "jardin", 0),
    Noun("table", "table", 1),
    Noun("book", "livre", 0),
    Noun("flower", "fleur", 1),
    Noun("boat", "bateau", 0),
)
ADJECTIVES = {
    "black": ("noir", "noire"),
    "white": ("blanc", "blanche"),
    "green": ("vert", "verte"),
    "red": ("rouge", "rouge"),
    "quiet": ("tranquille", "tranquille"),
    "happy": ("heureux", "heureuse"),
}
ARTICLES = {"the": ("le", "la"), "a": ("un", "une"), "this": ("ce", "cette")}
VERBS = {
    "sees": "voit",
    "likes": "aime",
    "draws": "dessine",
    "looks for": "cherche",
    "does not see": "ne voit pas",
    "does not draw": "ne dessine pas",
}
UNITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
TEENS = [
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
TENS = ["-", "-", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def pairs(task: Task, count: int, seed: int) -> list[Pair]:
    """That many sentences with their translations; no number comes twice."""
    draw = random.Random(seed)
    if task == "numbers":
        return [number_pair(number) for number in draw.sample(range(1000), count)]
    return [phrase_pair(draw) for _ in range(count)]


def phrase_pair(draw: random.Random) -> Pair:
    """Somebody does something to a thing, or to somebody."""
    subject, others = draw.choice(PEOPLE), THINGS + PEOPLE
    verb = draw.choice(list(VERBS))
    halves = [noun_phrase(subject, draw), noun_phrase(draw.choice(others), draw)]
    (who, qui), (what, quoi) = halves
    return f"{who} {verb} {what}", f"{qui} {VERBS[verb]} {quoi}"


def noun_phrase(noun: Noun, draw: random.Random) -> Pair:
    """An article, most often an adjective, and the noun."""
    article = draw.choice(list(ARTICLES))
    adjective = draw.choice(list(ADJECTIVES)) if draw.random() < 0.75 else ""
    english = [article, adjective, noun.english]
    french = [ARTICLES[article][noun.gender], noun.french]
    if adjective:
        french.append(ADJECTIVES[adjective][noun.gender])
    return " ".join(filter(None, english)), " ".join(french)


def number_pair(number: int) -> Pair:
    """342: three hundred forty two → 3 4 2."""
    return number_words(number), " ".join(str(number))


def number_words(number: int) -> str:
    """A number below a thousand."""
    hundreds, rest = divmod(number, 100)
    words = [UNITS[hundreds], "hundred"] if hundreds else []
    if rest >= 20:
        words.append(TENS[rest // 10])
        rest %= 10
    elif rest >= 10:
        words.append(TEENS[rest - 10])
        rest = 0
    if rest or not words:
        words.append(UNITS[rest])
    return " ".join(words)


def english(count: int, seed: int) -> list[str]:
    """English sentences alone, each with a full stop."""
    return [f"{sentence} ." for sentence, _ in pairs("phrases", count, seed)]
