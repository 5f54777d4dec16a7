"""The rows that exist: files of benchmarks/rows/, listed without importing them."""

from importlib import import_module
from pathlib import Path

from benchmarks.suite.contract import Growth, Race
from chainrule.errors import InputError
from chainrule.registry import Entry, unknown

FOLDER = Path(__file__).parents[1] / "rows"


def entries() -> list[Entry]:
    """Name and first sentence of every row."""
    paths = sorted(FOLDER.glob("*.py"))
    return [Entry("rows", path) for path in paths if path.stem != "__init__"]


def chosen(names: tuple[str, ...]) -> list[Entry]:
    """The rows of these names, or all."""
    known = {entry.name: entry for entry in entries()}
    for name in names:
        if name.replace("_", "-") not in known:
            raise InputError(unknown("row", name, list(known), "chainrule bench --list"))
    return [known[name.replace("_", "-")] for name in names] or list(known.values())


def load(name: str) -> Race | Growth:
    """The row itself."""
    return import_module(f"benchmarks.rows.{name.replace('-', '_')}").ROW
