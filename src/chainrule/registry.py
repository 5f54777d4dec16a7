"""The folder is the registry: what exists is what has a file.

A file is an entry of its folder when it defines the folder's contract: a data set defines `load`,
a model `example`, a recipe `Recipe`, a claim `check`. Its name is the file's name with dashes.
Listing reads text and imports nothing, so `chainrule list` answers at once.
"""

import ast
import re
import sys
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from types import ModuleType

from chainrule.errors import InputError

ROOT = Path(__file__).parent
CONTRACTS = {
    "models": r"^def example\(",
    "environments": r"^def example\(",
    "data": r"^def load\(",
    "recipes": r"^class Recipe\(",
    "claims": r"^def check\(",
}
FOLDERS = {"claims": "lab", "data": "data/datasets"}


@dataclass(frozen=True)
class Entry:
    """One file of a registry folder, not yet imported."""

    kind: str
    path: Path

    @property
    def name(self) -> str:
        return self.path.stem.replace("_", "-")

    @property
    def ours(self) -> bool:
        """Whether it is a file of the library, not of the user."""
        return self.path.is_relative_to(ROOT)

    @property
    def reference(self) -> str:
        """By what it is found again: its name, or the path of a user's file."""
        return self.name if self.ours else str(self.path.resolve())

    @property
    def chapter(self) -> str:
        """The sub-folder, for models: `feedforward`."""
        folder = ROOT / FOLDERS.get(self.kind, self.kind)
        return self.path.parent.relative_to(folder).as_posix().strip(".")

    @property
    def chapter_title(self) -> str:
        """The first line of its folder: `Chapter 2, feedforward networks`."""
        return title_of(self.path.parent)

    @cached_property
    def docstring(self) -> str:
        return ast.get_docstring(ast.parse(self.path.read_text("utf-8"))) or ""

    @property
    def title(self) -> str:
        """The first sentence of the file."""
        return self.docstring.split("\n", 1)[0].rstrip(".:")

    def load(self) -> ModuleType:
        """The module; a user's file is imported once, under a name no other file has."""
        if not self.ours:
            return load_file(self.path)
        parts = self.path.relative_to(ROOT).with_suffix("").parts
        return import_module(".".join(("chainrule", *parts)))


def entries(kind: str) -> list[Entry]:
    """All entries of one kind, in the order of their chapters and names."""
    contract = re.compile(CONTRACTS[kind], re.MULTILINE)
    paths = (ROOT / FOLDERS.get(kind, kind)).rglob("*.py")
    found = [Entry(kind, path) for path in paths if contract.search(path.read_text("utf-8"))]
    return sorted(found, key=lambda entry: (entry.chapter_title, entry.path))


def entry_from_file(kind: str, path: Path) -> Entry:
    """A user's own file of the same contract, wherever it lies."""
    what = kind.rstrip("s") if kind != "data" else "data set"
    if not path.is_file():
        raise InputError(f"there is no file {path}; expected a Python file that defines a {what}")
    text = path.read_text("utf-8")
    if not re.search(CONTRACTS[kind], text, re.MULTILINE):
        needed = CONTRACTS[kind].strip("^(\\")
        raise InputError(f"{path} is no {what}: it must define `{needed}`")
    try:
        ast.parse(text)
    except SyntaxError as error:
        raise InputError(f"{path}, line {error.lineno}: {error.msg}") from None
    return Entry(kind, path.resolve())


@cache
def load_file(path: Path) -> ModuleType:
    """Import a file by its path, not by its place in a package."""
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location(f"chainrule_file_{sha256(bytes(path)).hexdigest()[:12]}", path)
    if spec is None or spec.loader is None:
        raise InputError(f"{path} cannot be imported; expected a file that ends in .py")
    module = sys.modules[spec.name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[spec.name]
        raise
    return module


@cache
def title_of(folder: Path) -> str:
    """What a folder says of itself, up to the colon."""
    first = (folder / "__init__.py").read_text("utf-8").split("\n", 1)[0]
    return first.strip('"').split(":")[0].rstrip(".")


def find(kind: str, name: str) -> Entry:
    """The entry of that name, or an error that offers the nearest ones."""
    known = {entry.name: entry for entry in entries(kind)}
    wanted = name.replace("_", "-")
    if wanted in known:
        return known[wanted]
    raise InputError(unknown(kind.rstrip("s") if kind != "data" else "data set", name, list(known)))


def unknown(what: str, name: str, known: list[str]) -> str:
    """One sentence for a name that does not exist."""
    import difflib  # kept here: listing must stay quick

    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(known)}"
    return f"there is no {what} named {name!r}; {hint}"
