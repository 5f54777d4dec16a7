"""Plain text to pre-train on: documents of sentences, from the data sets and from files.

Of each set only what its own tasks may learn from is read: the training reviews of IMDB, the
training sentences of EWT, the passages of SQuAD's training articles. Labels are not looked at.
"""

import re
from collections.abc import Callable, Mapping
from itertools import groupby
from pathlib import Path

from chainrule.data.datasets import ewt, imdb, squad
from chainrule.data.text.vocabulary import read_text
from chainrule.errors import InputError

Document = list[str]
SENTENCE = re.compile(r"(?:(?<=[.!?])|(?<=[.!?][\"')\]]))\s+|\n+")
PARAGRAPH = re.compile(r"\n\s*\n")


def documents(names: tuple[str, ...], folder: Path | None = None) -> list[Document]:
    """All documents of these sets and text files, one after another."""
    found = []
    for name in names:
        if name in SETS:
            found += SETS[name](folder)
        elif Path(name).is_file():
            found += from_file(Path(name))
        else:
            raise InputError(
                f"there is no text named {name!r}; expected {', '.join(SETS)}, or a text file with "
                "an empty line between two documents"
            )
    return found


def sentences(text: str) -> Document:
    """Cut behind . ! ? and the quotes or brackets that they close, and at the ends of lines."""
    return [part for part in SENTENCE.split(text) if part.strip()]


def from_file(path: Path) -> list[Document]:
    """Documents have an empty line between them."""
    return [sentences(part) for part in PARAGRAPH.split(read_text(path)) if part.strip()]


def reviews(folder: Path | None) -> list[Document]:
    path, _ = imdb.paths(folder)
    return [sentences(text.replace("<br />", "\n")) for text, _ in imdb.reviews(path, "train")]


def web(folder: Path | None) -> list[Document]:
    rows = ewt.sentences(folder)["train"]
    return [[row.text for row in rows] for _, rows in groupby(rows, lambda row: row.document)]


def articles(folder: Path | None) -> list[Document]:
    """Each with its passages one after another; validation articles, which a seed draws, too."""
    parts = squad.questions(folder)
    passages: dict[str, dict[str, None]] = {}
    for question in parts["train"] + parts["validation"]:
        passages.setdefault(question.article, {})[question.passage] = None
    return [sentences("\n".join(found)) for found in passages.values()]


SETS: Mapping[str, Callable[[Path | None], list[Document]]] = {
    "imdb": reviews,
    "ewt": web,
    "squad": articles,
}
