"""Plain text for pre-training: documents as lists of sentences, from data sets and from files.

Of each data set only what its own tasks may train on is read: the training reviews of IMDB, the
training sentences of EWT, the passages of SQuAD's training articles. Labels are ignored.
"""

import re
from collections.abc import Callable, Mapping
from itertools import groupby
from pathlib import Path

from chainrule.data.datasets import ewt, imdb, squad
from chainrule.data.text.vocabulary import read_text
from chainrule.errors import InputError

Document = list[str]
SENTENCE_END = re.compile(r"(?:(?<=[.!?])|(?<=[.!?][\"')\]]))\s+|\n+")
BLANK_LINE = re.compile(r"\n\s*\n")


def documents(names: tuple[str, ...], folder: Path | None = None) -> list[Document]:
    """The documents of several corpora, one after another.

    names: corpora (imdb, ewt, squad) and paths of text files with a blank line between documents.
    folder: the data folder.
    """
    found = []
    for name in names:
        if name in CORPORA:
            found += CORPORA[name](folder)
        elif Path(name).is_file():
            found += file_documents(Path(name))
        else:
            raise InputError(
                f"there is no corpus or file named {name!r}; expected {', '.join(CORPORA)}, or a "
                "text file with a blank line between two documents"
            )
    return found


def sentences(text: str) -> Document:
    """Split after . ! ? with their closing quotes or brackets, and at line ends."""
    return [part for part in SENTENCE_END.split(text) if part.strip()]


def file_documents(path: Path) -> list[Document]:
    """The documents of a text file, which blank lines separate."""
    return [sentences(part) for part in BLANK_LINE.split(read_text(path)) if part.strip()]


def imdb_documents(folder: Path | None) -> list[Document]:
    path, _ = imdb.paths(folder)
    return [sentences(text.replace("<br />", "\n")) for text, _ in imdb.reviews(path, "train")]


def ewt_documents(folder: Path | None) -> list[Document]:
    rows = ewt.sentences(folder)["train"]
    return [[row.text for row in rows] for _, rows in groupby(rows, lambda row: row.document)]


def squad_documents(folder: Path | None) -> list[Document]:
    """One document per training or validation article: all its passages."""
    parts = squad.questions(folder)
    passages: dict[str, dict[str, None]] = {}
    for question in parts["train"] + parts["validation"]:
        passages.setdefault(question.article, {})[question.passage] = None
    return [sentences("\n".join(found)) for found in passages.values()]


CORPORA: Mapping[str, Callable[[Path | None], list[Document]]] = {
    "imdb": imdb_documents,
    "ewt": ewt_documents,
    "squad": squad_documents,
}
