"""Texts to learn from: Shakespeare's plays if present, the course's own words, yours."""

from typing import Literal

from chainrule.catalog import listed
from chainrule.data import cache
from chainrule.data.text.vocabulary import read_text
from chainrule.errors import InputError

Corpus = Literal["shakespeare", "course", "own"]
SHORTEST = 1000  # characters of a text of your own
PLAYS = "tinyshakespeare/input.txt"
ABSENT = (
    "Tiny Shakespeare is not in the data folder (chainrule train shakespeare-gpt fetches it), so "
    "the course's own words are read."
)


def corpus(name: Corpus, own: str) -> tuple[str, str, str]:
    """(what it is, the text, a remark if it is not what was wanted)."""
    if name == "own":
        if len(own) < SHORTEST:
            raise InputError(
                f"a text of your own must have at least {SHORTEST} characters, got {len(own)}"
            )
        return "your text", own, ""
    path = cache.folder() / PLAYS
    if name == "shakespeare" and path.is_file():
        return "Tiny Shakespeare", read_text(path), ""
    return "the course's own words", course(), ABSENT if name == "shakespeare" else ""


def course() -> str:
    """What every model, data set, recipe and claim says of itself, without its equations."""
    blocks = (
        block
        for kind in ("models", "data", "recipes", "claims")
        for item in listed(kind)
        for block in item.docstring.split("\n\n")
    )
    return "\n\n".join(block for block in blocks if not block.startswith("    "))
