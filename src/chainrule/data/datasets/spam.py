"""Spam: 4,601 e-mails as frequencies of words and characters.

57 features, transformed by log(x + 0.1) as in ESL 9.1.2 and standardized. The authors' 1,536 test
e-mails are the test split; the seed draws 230 e-mails for validation from the 3,065 others.
"""

from pathlib import Path

from chainrule.data import cache
from chainrule.data.files import exists, read_bytes
from chainrule.data.readers.islp import read_checked
from chainrule.data.readers.tables.columns import Columns
from chainrule.data.readers.tables.table import TableOptions, table
from chainrule.data.splits import About, Splits

ABOUT = About(
    task="classification",
    source="https://hastie.su.domains/ElemStatLearn/datasets/",
    license="CC BY 4.0 (UCI 94)",
    citation="Hopkins, Reeber, Forman and Suermondt (1999), Spambase, UCI",
    shapes="x (n, 57) standardized; y email, spam; 2,835 / 230 / 1,536",
)
ROWS, TEST_ROWS = 4_601, 1_536
WORDS = (
    "make address all 3d our over remove internet order mail receive will people report addresses "
    "free business email you credit your font 000 money hp hpl george 650 lab labs telnet 857 data "
    "415 85 technology 1999 parts pm direct cs meeting original project re edu table conference"
)
FEATURES = (
    *(f"word_freq_{word}" for word in WORDS.split()),
    *(f"char_freq_{character}" for character in ";([!$#"),
    *(f"capital_run_length_{size}" for size in ("average", "longest", "total")),
)


def load(folder: Path | None = None, seed: int = 0) -> Splits:
    whole = cache.folder(folder) / "spam/Spam.txt"
    columns = from_table(whole) if exists(whole) else from_text(folder)
    test_rows = [flag == "1" for flag in columns.pop("test")]
    columns["spam"] = ["spam" if float(flag) else "email" for flag in columns["spam"]]
    return table(
        columns,
        target="spam",
        seed=seed,
        validation_fraction=0.05,
        options=TableOptions(test_rows, dict.fromkeys(FEATURES, 0.1)),
    )


def from_table(path: Path) -> Columns:
    """One CSV file with the authors' split in the column `test`."""
    return checked(path, read_checked(path, ROWS, ("test", *FEATURES, "spam")))


def from_text(folder: Path | None) -> Columns:
    """Rows of 58 numbers in one file and the split in another, as the authors publish them."""
    names = ("spam.data", "spam.traintest")
    paths = [cache.fetch(f"spam/{name}", ABOUT.source + name, None, folder) for name in names]
    rows, split = (read_bytes(path).decode("ascii", "replace").split("\n") for path in paths)
    values = [row.split() for row in rows if row.strip()]
    if len(values) != ROWS or {len(row) for row in values} != {58}:
        raise cache.damaged(paths[0], f"expected {ROWS} rows of 58 numbers")
    columns = {
        name: list(column)
        for name, column in zip((*FEATURES, "spam"), zip(*values, strict=True), strict=True)
    }
    return checked(paths[1], {"test": " ".join(split).split(), **columns})


def checked(path: Path, columns: Columns) -> Columns:
    flags = columns["test"]
    if len(flags) != ROWS or set(flags) != {"0", "1"} or flags.count("1") != TEST_ROWS:
        raise cache.damaged(path, f"expected {ROWS} split flags 0 or 1, of which {TEST_ROWS} are 1")
    if not set(columns["spam"]) <= {"0", "1"}:
        raise cache.damaged(path, "expected 0 or 1 in the column spam")
    return columns
