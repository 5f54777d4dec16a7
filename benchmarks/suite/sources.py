"""Which sources a record depends on, and whether they are still the same.

Those are the row, the suite, and the modules of this library that were loaded when the row ended.
An edit of another room leaves the record as it is.
"""

import sys
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from benchmarks.suite.process import ROOT

WHOLE = "src/chainrule"  # of rows that start other processes
OURS = ("src/chainrule", "benchmarks/rows")


def loaded(root: Path = ROOT) -> list[str]:
    """Files of this library and of rows that this process has imported, below the root."""
    files = [getattr(module, "__file__", None) for module in [*sys.modules.values()]]
    paths = [Path(file) for file in files if file]
    below = [path.relative_to(root).as_posix() for path in paths if path.is_relative_to(root)]
    return sorted(path for path in below if path.startswith(OURS))


def digest(row: Path, used: Iterable[str], root: Path = ROOT) -> str:
    """Of the row, the suite and what the row used."""
    found = sha256()
    paths = {row, *(root / "benchmarks/suite").glob("*.py")}
    for name in used:
        place = root / name
        paths |= set(place.rglob("*.py")) if place.is_dir() else {place}
    for path in sorted(paths):
        found.update(str(path.name).encode())
        found.update(path.read_bytes() if path.is_file() else b"it is gone")
    return found.hexdigest()[:16]
