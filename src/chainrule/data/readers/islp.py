"""The tables of An Introduction to Statistical Learning: download and checks."""

from pathlib import Path

from chainrule.data import cache
from chainrule.data.files import FileError
from chainrule.data.readers.tables.columns import Columns, listed, read_csv
from chainrule.data.splits import About
from chainrule.errors import InputError

SOURCE = "https://raw.githubusercontent.com/intro-stat-learning/ISLP/main/ISLP/data/"


def about(task: str, name: str, shapes: str) -> About:
    return About(
        task=task,
        source=f"{SOURCE}{name}.csv",
        license="BSD (package ISLP)",
        citation="James, Witten, Hastie, Tibshirani and Taylor (2023), "
        "An Introduction to Statistical Learning with Applications in Python",
        shapes=shapes,
    )


def read_checked(path: Path, rows: int, columns: tuple[str, ...]) -> Columns:
    """The table; other column names or numbers of rows are refused."""
    try:
        table = read_csv(path)
    except FileError:
        raise
    except InputError as error:
        raise cache.damaged(path, str(error)) from error
    if tuple(table) != columns or len(table[columns[0]]) != rows:
        raise cache.damaged(path, f"expected {rows} rows of {listed(columns)}")
    return table


def islp_table(
    name: str, checksum: str, rows: int, columns: tuple[str, ...], folder: Path | None
) -> Columns:
    """A table of the book's package, downloaded on first use."""
    file = f"{name}.csv"
    path = cache.fetch(f"islp/{file}", SOURCE + file, f"sha256:{checksum}", folder)
    return read_checked(path, rows, columns)
