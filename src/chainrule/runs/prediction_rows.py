"""Rows of a user's tables beside their predictions."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chainrule.data.files import errors_naming
from chainrule.data.readers.encoders import VectorEncoder
from chainrule.data.readers.graphs.link_table import LinkEncoder
from chainrule.data.readers.graphs.node_encoder import NodeEncoder
from chainrule.data.readers.tables.columns import Columns, read_table, require_columns
from chainrule.data.readers.tables.reading import PLAIN
from chainrule.data.readers.tables.table_encoder import TableEncoder
from chainrule.data.text.encoders import SentenceEncoder
from chainrule.data.text.vocabulary import read_lines
from chainrule.errors import InputError

if TYPE_CHECKING:
    from chainrule.runs.run import Run

Json = dict[str, Any]
TEXT_TABLES = (".csv", ".tsv", ".parquet", ".feather", ".xlsx", ".db", ".sqlite")


def rows_with_inputs(run: "Run", paths: Sequence[Path], answers: Sequence[Json]) -> list[Json]:
    """Each answer with the columns of its row; where there are several files, with the file too.

    run: of a table; of other runs the answers are returned as they are.
    paths: the files that were read.
    answers: one for each row of these files.
    """
    encoder = run.summary.encoder
    if isinstance(encoder, SentenceEncoder):
        return texts_with_inputs(text_column(run), paths, answers)
    if not isinstance(encoder, TableEncoder | VectorEncoder | NodeEncoder | LinkEncoder):
        return list(answers)
    if isinstance(encoder, NodeEncoder):
        paths = encoder.divided(paths)[0]
    reading = encoder.reading if isinstance(encoder, TableEncoder) else PLAIN
    tables = [(path.name, reading.cells(path)) for path in paths]
    return joined_rows(tables, answers)


def joined_rows(tables: Sequence[tuple[str, Columns]], answers: Sequence[Json]) -> list[Json]:
    """The rows of these tables, each with its answer; the file too where there are several."""
    rest, rows = iter(answers), []
    for file, columns in tables:
        for cells in zip(*columns.values(), strict=True):
            row: Json = {"file": file} if len(tables) > 1 else {}
            row |= dict(zip(columns, cells, strict=True))
            answer = {k: v for k, v in next(rest).items() if k != "input"}
            row |= {f"{k} (model)" if k in columns else k: v for k, v in answer.items()}
            rows.append(row)
    return rows


def texts_with_inputs(column: str, paths: Sequence[Path], answers: Sequence[Json]) -> list[Json]:
    """The answers, with the columns of their rows where all inputs are tables."""
    if not paths or not all(is_text_table(str(path), column) for path in paths):
        return list(answers)
    return joined_rows([(path.name, read_table(path).columns) for path in paths], answers)


def text_column(run: "Run") -> str:
    """The column of texts of a run that has learned from a table of them; empty for others."""
    return run.recipe.text if hasattr(run.recipe, "table") and hasattr(run.recipe, "text") else ""


def is_text_table(given: str, column: str) -> bool:
    """Whether an input is a file of a table rather than a sentence or a file of sentences."""
    ending = given.lower().removesuffix(".gz").endswith(TEXT_TABLES)
    return bool(column) and ending and not any(map(str.isspace, Path(given).name))


def texts_of(given: str, column: str) -> list[str]:
    """The texts of a table."""
    columns = read_table(given).columns
    with errors_naming(given):
        require_columns(columns, [column])
    return columns[column]


def sentences(given: str) -> list[str]:
    """The input itself, or the lines of the file that it names."""
    try:
        names_file = Path(given).is_file()
    except (OSError, ValueError):  # too long for a name
        names_file = False
    if not names_file and given.endswith(".txt") and not any(map(str.isspace, given)):
        raise InputError(f"there is no file {given}")
    return read_lines(given) if names_file else [given]
