"""The notes as the documentation lists them: titles of the sections, and slips with what is right.

Read from `docs/course.md` and `docs/errata.md`, which an installed package carries along.
"""

import re
from functools import cache
from typing import NamedTuple

from chainrule.registry import ROOT, references

PLACES = (ROOT / "notes", ROOT.parents[1] / "docs")  # of an installed package, of a checkout
LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
TITLE = re.compile(r"^\| ((?:J|A|L) \d+(?:\.\d+)*) ([^|]+?) \|", re.MULTILINE)


class Slip(NamedTuple):
    """A slip: where, as printed, what is right, and the claims or tests that show it."""

    where: str
    printed: str
    right: str
    shown_by: tuple[str, ...]


@cache
def section_titles() -> dict[str, str]:
    """Such as {"J 1.2": "Perceptron"}."""
    return dict(TITLE.findall(text("course.md")))


@cache
def slips() -> list[Slip]:
    """Every row of the table."""
    lines = [line for line in text("errata.md").splitlines() if line.startswith("| ")][1:]
    rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return [
        Slip(where, plain(printed), plain(right), tuple(LINK.findall(shown)))
        for where, printed, right, shown in rows
    ]


def slips_of(name: str, sections: set[str]) -> list[Slip]:
    """Those that an entry shows, and those of its own sections."""
    return [
        slip
        for slip in slips()
        if name in slip.shown_by or sections.intersection(references(slip.where))
    ]


def plain(cell: str) -> str:
    """A cell without the marks of Markdown."""
    return LINK.sub(r"\1", cell).replace("\\|", "|").replace("`", "")


def text(name: str) -> str:
    """A page of the documentation; empty where it is not installed."""
    found = next((place / name for place in PLACES if (place / name).is_file()), None)
    return found.read_text("utf-8") if found else ""
