"""The folder is the registry: what exists is what has a file.

A file is an entry of its folder when it defines the folder's contract: a data set defines `load`,
a model `example`, a recipe `Recipe`, a claim `check`. Its name is the file's name with dashes.
Listing reads text and imports nothing, so `chainrule list` answers at once.
"""

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256
from importlib import import_module
from inspect import cleandoc
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
DOCSTRING = re.compile(r'r?"""(.*?)"""', re.DOTALL)
REFERENCE = re.compile(
    r"\b(?P<numbered>[JA] \d+(?:\.\d+)*)"
    r"|(?:L )?(?P<exercise>exercise 10\.\d)"
    r"|\bL (?P<quote>[\"'])(?P<heading>.+?)(?P=quote)"
    r"|\b(?P<part>L \d+|L appendix)\b",
    re.DOTALL,
)
LISTED = 12  # names that a message spells out
NEAR = 0.7  # similarity of a name that a message offers


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
        """The sub-folder, such as `feedforward`."""
        folder = ROOT / FOLDERS.get(self.kind, self.kind)
        return self.path.parent.relative_to(folder).as_posix().strip(".")

    @property
    def chapter_title(self) -> str:
        """The first line of its folder: `Chapter 2, feedforward networks`."""
        return title_of(self.path.parent)

    @property
    def sections(self) -> set[str]:
        """The sections of the notes that the docstring names."""
        return set(references(self.docstring))

    @cached_property
    def text(self) -> str:
        return self.path.read_text("utf-8")

    @cached_property
    def docstring(self) -> str:
        """The docstring of the file, found without parsing the rest."""
        found = DOCSTRING.match(self.text)
        if found is None:
            return ast.get_docstring(ast.parse(self.text)) or ""
        escaped = "\\" in found[0] and not found[0].startswith("r")
        return cleandoc(ast.literal_eval(found[0]) if escaped else found[1])

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
    found = [entry for path in paths if contract.search((entry := Entry(kind, path)).text)]
    return sorted(found, key=lambda entry: (entry.chapter_title, entry.path))


def references(text: str) -> Iterator[str]:
    """Sections of the notes, in the order of the text: `J 7.4`, `L exercise 10.1`, `L Dropout`."""
    for found in REFERENCE.finditer(text):
        if exercise := found["exercise"]:
            yield f"L {exercise}"
        elif heading := found["heading"]:
            words = " ".join(heading.split())
            yield "L " + words[0] + re.sub(r"\b[A-Z][a-z]+", lambda w: w[0].lower(), words[1:])
        else:
            yield found["numbered"] or found["part"]


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
    what = kind.rstrip("s") if kind != "data" else "data set"
    raise InputError(unknown(what, name, list(known), f"chainrule list {kind} --search WORD"))


def unknown(what: str, name: str, known: Sequence[str], command: str = "") -> str:
    """One sentence for a name that does not exist.

    Args:
        what: the kind of thing.
        name: as it was given.
        known: names that exist.
        command: finds a name among many.
    """
    if near := nearest(name, known):
        hint = f"did you mean {' or '.join(near)}?"
    elif command and len(known) > LISTED:
        hint = f"search with: {command}"
    else:
        more = ", …" if len(known) > LISTED else ""
        hint = f"known: {', '.join(known[:LISTED])}{more}"
    return f"there is no {what} named {name!r}; {hint}"


def nearest(name: str, known: Sequence[str]) -> list[str]:
    """Names that a slip of the fingers may have meant, most similar first."""
    from difflib import SequenceMatcher  # kept here: listing must stay quick

    wanted = name.lower().replace("_", "-")
    scores = {
        other: SequenceMatcher(None, wanted, other.lower().replace("_", "-")).ratio()
        for other in known
    }
    best = max(scores.values(), default=0.0)
    near = [other for other, score in scores.items() if score >= max(NEAR, best - 0.1)]
    return sorted(near, key=lambda other: -scores[other])[:3]
