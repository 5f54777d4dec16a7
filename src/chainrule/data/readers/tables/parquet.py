"""Parquet files as row groups: the parts of a table that can be read one at a time."""

from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from chainrule.data.files import FileError, opened
from chainrule.data.readers.tables.column_kinds import LARGEST
from chainrule.data.readers.tables.table_files import FAULTS, MAX_CELLS, broken, needed
from chainrule.data.state import shown
from chainrule.errors import InputError

MAGIC = b"PAR1"
BOOLEANS = {"true": "True", "false": "False"}


class RowGroup(NamedTuple):
    """A part of a file: the file's number, the part's number, and its rows."""

    file: int
    group: int
    rows: int


class Words(NamedTuple):
    """A column of words: the different ones, and which of them each row has; -1 for none."""

    words: list[str]
    codes: np.ndarray


class ParquetFiles:
    """One Parquet file, or a folder of them with the same columns.

    source: the path.
    """

    def __init__(self, source: str | Path):
        needed("pyarrow", source, "a Parquet file")
        self.paths, self.lock = parquet_paths(source), Lock()
        self.files = [self.open(path) for path in self.paths]
        schemas = [file.schema_arrow for file in self.files]
        for path, schema in zip(self.paths, schemas, strict=True):
            if not schema.equals(schemas[0]):
                raise FileError(f"{path} has other columns than {self.paths[0]}; expected the same")
        self.types = {
            field.name: field.type
            for field in schemas[0]
            if not field.name.startswith("__index_level_")  # what pandas calls an index
        }
        about = [file.metadata for file in self.files]
        self.groups = [
            RowGroup(k, g, one.row_group(g).num_rows)
            for k, one in enumerate(about)
            for g in range(one.num_row_groups)
        ]

    @property
    def rows(self) -> int:
        return sum(group.rows for group in self.groups)

    def open(self, path: Path) -> Any:
        import pyarrow
        from pyarrow import parquet

        try:
            return parquet.ParquetFile(path)
        except (pyarrow.ArrowException, *FAULTS) as error:
            raise broken(path, "a Parquet file", error) from error

    def read(self, number: int, columns: Sequence[str]) -> Any:
        """These columns of a row group, as pyarrow's table."""
        import pyarrow

        group = self.groups[number]
        try:
            with self.lock:
                return self.files[group.file].read_row_group(
                    group.group, list(columns), use_threads=False
                )
        except (pyarrow.ArrowException, *FAULTS) as error:
            raise broken(self.paths[group.file], "a Parquet file", error) from error


def parquet_paths(source: str | Path) -> list[Path]:
    """The file, or the .parquet files of a folder in the order of their names."""
    source = Path(source)
    if not source.is_dir():
        if not is_parquet(source):
            raise InputError(f"{source} is not a Parquet file; only those are read part by part")
        return [source]
    found = sorted(source.glob("*.parquet"))
    if not found:
        raise InputError(f"{source} holds no .parquet files; expected a file, or a folder of them")
    return found


def is_parquet(path: str | Path) -> bool:
    with opened(path) as stream:
        return stream.read(len(MAGIC)) == MAGIC


def is_large(source: str | Path) -> bool:
    """Whether this is a folder of Parquet files, or one that does not go into memory."""
    if Path(source).is_dir():
        return True
    if not is_parquet(source):
        return False
    files = ParquetFiles(source)
    return files.rows * len(files.types) > MAX_CELLS


def kind_of(type_: Any) -> str:
    """What a column of such a type holds: numbers, words, dates, or something else."""
    from pyarrow import types

    number = types.is_integer(type_) or types.is_floating(type_) or types.is_decimal(type_)
    if types.is_dictionary(type_):
        return kind_of(type_.value_type)
    word = types.is_string(type_) or types.is_large_string(type_) or types.is_boolean(type_)
    if types.is_timestamp(type_) or types.is_date(type_):
        return "dates"
    return "numbers" if number else "words" if word else "other"


def days(column: Any) -> np.ndarray:
    """Days since 1970 of dates and times, NaN where one is missing."""
    import pyarrow

    moments = column.cast(pyarrow.timestamp("us", tz=getattr(column.type, "tz", None)), safe=False)
    stamps = values(moments.cast(pyarrow.int64()))
    return stamps / 86_400_000_000


def numbers(name: str, column: Any) -> np.ndarray:
    """One float64 per row, NaN where it is missing; refused where they are too large."""
    x = values(column)
    wrong = np.flatnonzero(np.abs(x) > LARGEST)
    if len(wrong):
        raise InputError(
            f"column {name!r}: expected finite numbers up to {LARGEST:g}, got {x[wrong[0]]}"
        )
    return x


def values(column: Any) -> np.ndarray:
    """One float64 per row, NaN where it is missing."""
    import pyarrow

    decoded = column.cast(column.type.value_type) if is_dictionary(column) else column
    return decoded.cast(pyarrow.float64(), safe=False).to_numpy(zero_copy_only=False)


def words(column: Any) -> Words:
    """The words of each row."""
    import pyarrow

    if not is_dictionary(column):
        if pyarrow.types.is_boolean(column.type):
            column = column.cast(pyarrow.string())
        column = column.dictionary_encode()
    whole = column.unify_dictionaries().combine_chunks()
    if isinstance(whole, pyarrow.ChunkedArray):  # no rows
        return Words([], np.empty(0, np.int64))
    codes = whole.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    found = [str(word).strip() for word in whole.dictionary.to_pylist()]
    return Words([BOOLEANS.get(word, word) for word in found], codes)


def is_dictionary(column: Any) -> bool:
    from pyarrow import types

    return bool(types.is_dictionary(column.type))


def require(files: ParquetFiles, names: Sequence[str]) -> None:
    """Refuse columns that are not there."""
    from chainrule.registry import unknown

    for name in names:
        if name not in files.types:
            raise InputError(unknown("column", name, list(files.types)))
    if not files.rows:
        raise InputError(f"{files.paths[0]} has no rows; expected some, {shown(names)} among them")
