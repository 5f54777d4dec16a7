"""Files that hold a table: text of any usual encoding, and formats that other libraries read.

Text may be UTF-8, UTF-16, Windows-1252 or Latin-1, and gzipped. Parquet and Feather are read by
pyarrow, Excel workbooks by openpyxl, SQLite by Python itself, other databases by pandas: all these
libraries come with `pip install 'chainrule[tables]'`.
"""

import importlib
import sqlite3
import zipfile
from collections.abc import Iterable, Sequence
from contextlib import closing
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from chainrule.data.files import MAX_UNPACKED, FileError, gunzip, opened, read_bytes
from chainrule.errors import InputError

MAX_CELLS = 50_000_000  # of a table in a binary format
MAX_REASON = 200  # characters of what a library says
STRANGE = 0.01  # share of control characters above which a file is not text
SQLITE = b"SQLite format 3\x00"
SIGNATURES = {  # first bytes of files that are sometimes taken for tables
    b"PK\x03\x04": "a zip archive; unpack it first",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook; save it as .xlsx or CSV",
    b"\x89PNG": "a PNG image; expected a table",
    b"\xff\xd8\xff": "a JPEG image; expected a table",
    b"%PDF": "a PDF document; expected a table",
    b"\x93NUMPY": "a NumPy array; load it in Python and pass it to chainrule.data.arrays",
}


class Sheet(NamedTuple):
    """A table of values: a header, rows, and what a reader should know."""

    header: list[str]
    rows: Iterable[Sequence[Any]]
    remarks: tuple[str, ...] = ()


def is_address(source: str | Path) -> bool:
    """Whether this is the address of a database and not a path."""
    return "://" in str(source)


def is_database(source: str | Path) -> bool:
    """Whether a query can be put to it."""
    if is_address(source):
        return True
    with opened(source) as stream:
        return stream.read(len(SQLITE)) == SQLITE


def load(source: str | Path, query: str = "") -> tuple[str, tuple[str, ...]] | Sheet:
    """The text of a CSV file with remarks, or the sheet of another format.

    source: the path of a file, or the address of a database.
    query: SQL, for a database.
    """
    if is_address(source):
        return database(str(source), query)
    content = read_bytes(source)
    if content.startswith(b"\x1f\x8b"):
        content = gunzip(source)
    if content.startswith(SQLITE):
        return sqlite(source, query)
    if query:
        raise InputError(f"{source} is not a database; expected no `query`")
    if content.startswith((b"PAR1", b"ARROW1", b"FEA1")):
        return arrow(source, content)
    if content.startswith(b"PK") and b"xl/workbook" in content:
        return workbook(source, content)
    for start, what in SIGNATURES.items():
        if content.startswith(start):
            raise InputError(f"{source} is {what}")
    return decoded(source, content)


def decoded(path: str | Path, content: bytes) -> tuple[str, tuple[str, ...]]:
    """(text, remarks): UTF-8 if it can be, else UTF-16, Windows-1252 or Latin-1."""
    encodings = ["utf-8-sig", "cp1252", "latin-1"]
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        encodings = ["utf-16"]
    elif b"\x00" in content[:200]:  # ASCII in UTF-16 is half zeros
        encodings = ["utf-16-be" if content[:1] == b"\x00" else "utf-16-le"]
    for encoding in encodings:
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        strange = {letter for letter in set(text) if letter < " "} - set("\t\n\r\f\v")
        if "\0" in strange or sum(map(text.count, strange)) > STRANGE * len(text):
            break
        names = {"cp1252": "Windows-1252", "latin-1": "Latin-1"}
        read = f"read as {names.get(encoding, 'UTF-16')}, because it is not UTF-8"
        remarks = () if encoding == "utf-8-sig" else (read,)
        return text.replace("\r\n", "\n").replace("\r", "\n"), remarks
    raise InputError(f"{path} is not text; expected a table as CSV, Parquet, Feather or .xlsx")


def arrow(path: str | Path, content: bytes) -> Sheet:
    """A Parquet or Feather file."""
    needed("pyarrow", path, "a Parquet or Feather file")
    import pyarrow
    from pyarrow import feather, parquet

    try:
        if content.startswith(b"PAR1"):
            about = parquet.read_metadata(BytesIO(content))
            check_size(path, about.num_rows, about.num_columns)
            table = parquet.read_table(BytesIO(content))
        else:
            table = feather.read_table(BytesIO(content))
            check_size(path, table.num_rows, table.num_columns)
        columns = [column.to_pylist() for column in table.columns]
    except FileError:
        raise
    except (pyarrow.ArrowException, *FAULTS) as error:
        raise broken(path, "a Parquet or Feather file", error) from error
    names = ["" if name.startswith("__index_level_") else name for name in table.column_names]
    return Sheet(names, zip(*columns, strict=True))


def workbook(path: str | Path, content: bytes) -> Sheet:
    """The first sheet of an Excel workbook."""
    needed("openpyxl", path, "an Excel workbook")
    import openpyxl

    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            if sum(member.file_size for member in archive.infolist()) > MAX_UNPACKED:
                raise FileError(f"{path} unpacks to more than {MAX_UNPACKED:,} bytes")
        book = openpyxl.load_workbook(BytesIO(content), read_only=True, data_only=True)
        sheets = book.worksheets
        rows = [row for row in sheets[0].iter_rows(values_only=True) if any_value(row)]
    except FileError:
        raise
    except FAULTS as error:
        raise broken(path, "an Excel workbook", error) from error
    check_size(path, len(rows), max(map(len, rows), default=0))
    others = [repr(sheet.title) for sheet in sheets[1:]]
    remark = f"read the sheet {sheets[0].title!r}; not {', '.join(others)}"
    header = ["" if name is None else str(name).strip() for name in rows[0]] if rows else []
    return Sheet(header, rows[1:], (remark,) if others else ())


def sqlite(path: str | Path, query: str) -> Sheet:
    """The rows of a query; without one, of the only table."""
    try:
        address = f"{Path(path).resolve().as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True)) as connection:
            if not query:
                found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
                names = [name for (name,) in found if not name.startswith("sqlite_")]
                if len(names) != 1:
                    raise FileError(
                        f"{path} has {len(names)} tables ({', '.join(names[:10])}); choose rows "
                        "with `query`, such as 'SELECT * FROM sales'"
                    )
                query = 'SELECT * FROM "{}"'.format(names[0].replace('"', '""'))
            cursor = connection.execute(query)
            header = [name for name, *_ in cursor.description or ()]
            rows = cursor.fetchmany(MAX_CELLS // max(1, len(header)) + 1)
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise FileError(f"{path}: the database refuses `query`: {error}") from error
    if not header:
        raise FileError(f"{path}: `query` returns no columns; expected a SELECT")
    check_size(path, len(rows), len(header))
    return Sheet(header, rows)


def database(address: str, query: str) -> Sheet:
    """The rows of a query to a database that SQLAlchemy can reach."""
    if not query:
        raise InputError(f"expected a `query` for the database {hidden(address)}, got none")
    needed("pandas", hidden(address), "a database")
    needed("sqlalchemy", hidden(address), "a database")
    import pandas
    import sqlalchemy

    try:
        frame = pandas.read_sql(sqlalchemy.text(query), sqlalchemy.create_engine(address))
    except (sqlalchemy.exc.SQLAlchemyError, *FAULTS) as error:
        raise broken(hidden(address), "a database", error) from error
    return Sheet([str(name) for name in frame.columns], frame.astype(object).values.tolist())


def hidden(address: str) -> str:
    """An address without its user and password."""
    scheme, _, rest = address.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}"


FAULTS = (
    ArithmeticError,
    AttributeError,
    EOFError,
    ImportError,
    LookupError,
    MemoryError,
    OSError,
    RuntimeError,
    SyntaxError,  # of XML
    TypeError,
    ValueError,
    zipfile.BadZipFile,
)


def needed(library: str, path: str | Path, what: str) -> None:
    """Refuse a file whose library is not installed."""
    try:
        importlib.import_module(library)
    except ImportError:
        raise InputError(
            f"{path} is {what}, which needs {library}: pip install 'chainrule[tables]', or save "
            "it as CSV"
        ) from None


def broken(path: str | Path, what: str, error: Exception) -> FileError:
    said = (str(error).partition("\n")[0] or type(error).__name__)[:MAX_REASON]
    return FileError(f"{path} cannot be read as {what}: {said}")


def check_size(path: str | Path, rows: int, columns: int) -> None:
    if rows * columns > MAX_CELLS:
        raise FileError(
            f"{path} has {rows:,} rows and {columns:,} columns; "
            f"expected at most {MAX_CELLS:,} cells"
        )


def any_value(row: Sequence[Any]) -> bool:
    return any(value is not None for value in row)
