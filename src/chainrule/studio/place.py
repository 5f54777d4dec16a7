"""Where the runs are, as a child process of the server knows it.

The server hands the folder to every child (`play`); a page names a run and never sends a path.
"""

from pathlib import Path

from chainrule.errors import InputError
from chainrule.registry import unknown

_root = Path("runs")


def settle(folder: Path) -> None:
    """Take this folder as the root of this process; called once, when a child starts."""
    global _root
    _root = folder


def root() -> Path:
    """The folder of the runs."""
    return _root


def run_folder(name: str) -> Path:
    """The folder of a run, looked up by its name: no path can lead out of the root."""
    from chainrule.runs.overview import run_folders

    known = {folder.name: folder for folder in run_folders([_root])} if _root.is_dir() else {}
    if name not in known:
        raise InputError(unknown("run", name[:80], list(known)))
    return known[name]


def is_name(text: str) -> bool:
    """Whether a text names something inside a folder, and nothing beside or above it."""
    return bool(text) and text == Path(text).name and text not in (".", "..") and "\0" not in text
