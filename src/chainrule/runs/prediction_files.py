"""Predictions as a file, by its ending: CSV, TSV, Parquet, Feather or .xlsx."""

import csv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from chainrule.errors import InputError
from chainrule.training.files import writing

Rows = Sequence[Mapping[str, Any]]


def write_text(path: Path, rows: Rows) -> None:
    """Comma-separated values, or tab-separated ones."""
    with path.open("w", newline="", encoding="utf-8") as file:
        names = dict.fromkeys(name for row in rows for name in row)
        writer = csv.DictWriter(file, names, delimiter="\t" if path.suffix == ".tsv" else ",")
        writer.writeheader()
        writer.writerows(rows)


def by_pandas(method: str, needed: str, **options: Any) -> Callable[[Path, Rows], None]:
    """A writer of pandas, which also needs another library."""

    def write_frame(path: Path, rows: Rows) -> None:
        try:
            import pandas

            getattr(pandas.DataFrame([dict(row) for row in rows]), method)(path, **options)
        except ImportError:
            raise InputError(
                f"{path.suffix} files need pandas and {needed}: pip install 'chainrule[tables]', "
                "or name a .csv file in `out`"
            ) from None

    return write_frame


TABLES: dict[str, Callable[[Path, Rows], None]] = {
    ".csv": write_text,
    ".tsv": write_text,
    ".txt": write_text,
    ".parquet": by_pandas("to_parquet", "pyarrow"),
    ".feather": by_pandas("to_feather", "pyarrow"),
    ".xlsx": by_pandas("to_excel", "openpyxl", index=False),
}


def check_suffix(path: Path) -> None:
    """Refuse a name whose format is not written; one without an ending is CSV."""
    if path.suffix and path.suffix.lower() not in TABLES:
        raise InputError(f"`out` {path} has an unknown ending; expected one of {', '.join(TABLES)}")


def write(path: Path, rows: Rows) -> None:
    """Write the rows in the format of the file's ending."""
    check_suffix(path)
    with writing(path):
        TABLES.get(path.suffix.lower(), write_text)(path, rows)
