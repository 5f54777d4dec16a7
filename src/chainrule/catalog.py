"""Everything that has a name, found without importing it.

Entries of the registries; functions that are chosen by name, as the table in their file's docstring
lists them; and tools, which are all other files.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from chainrule.errors import InputError
from chainrule.registry import CONTRACTS, ROOT, Entry, entries, references, unknown

TABLES = {
    "optimizers": "learning/optimizers.py",
    "schedules": "learning/schedules.py",
    "losses": "learning/losses.py",
    "metrics": "learning/metrics.py",
    "activations": "nn/activations.py",
    "initializations": "nn/initialization.py",
}
USES = {
    "optimizers": "--optimizer {}",
    "schedules": "--schedule {}",
    "metrics": "--monitor {}",
    "losses": "chainrule.learning.losses.{}",
    "activations": 'chainrule.nn.activations.activation("{}")',
    "initializations": 'chainrule.nn.initialization.initialize(layer, "{}")',
}
KINDS = (*CONTRACTS, *TABLES)
LINKED = ("models", "data", "recipes", "claims")
ROW = re.compile(r"^ {4}(\S+(?:, \S+)*)  +(\S.*)$", re.MULTILINE)
IMPORT = re.compile(r"^\s*from (chainrule[\w.]*) import (\([^)]*\)|[^\n]*)", re.MULTILINE)
SECTION = re.compile(r"([JAL])\s*(\d+(?:\.\d+)*)$")
WHOLE_CHAPTER = re.compile(r"[JAL] \d+$|L appendix$")  # too much to lead anywhere
SHARED = ("chainrule.recipes.families.", "chainrule.lab.helpers.")


@dataclass(frozen=True)
class Function(Entry):
    """An optimizer, activation or the like: one row of the table in its file's docstring."""

    row_name: str
    row: str

    @property
    def name(self) -> str:
        return self.row_name

    @property
    def title(self) -> str:
        return re.sub(r" {2,}", "   ", self.row)

    @property
    def chapter_title(self) -> str:
        return ""


Item = Entry | Function


def listed(kind: str) -> Sequence[Item]:
    """Everything of one kind, by chapter and name."""
    if kind == "tools":
        return tools()
    return functions(kind) if kind in TABLES else entries(kind)


def functions(kind: str) -> list[Function]:
    """The rows of a table of functions."""
    path = ROOT / TABLES[kind]
    rows = ROW.findall(Entry(kind, path).docstring)
    return [Function(kind, path, name, row) for names, row in rows for name in names.split(", ")]


def tools() -> list[Entry]:
    """The files that are no entry of a registry."""
    known = {entry.path for kind in CONTRACTS for entry in entries(kind)}
    paths = sorted(path for path in ROOT.rglob("*.py") if path.name != "__init__.py")
    return [Entry("tools", path) for path in paths if path not in known]


def named(name: str) -> list[Item]:
    """Everything of that name."""
    everything = [item for kind in KINDS for item in listed(kind)]
    wanted = name.lower().replace("_", "-")
    found = [item for item in everything if item.name.lower().replace("_", "-") == wanted]
    if found:
        return found
    others = tools()
    if found := [item for item in others if item.name == wanted]:
        return found
    names = list(dict.fromkeys(item.name for item in [*everything, *others]))
    raise InputError(unknown("entry", name, names, f"chainrule list --search {quoted(name)}"))


def quoted(word: str) -> str:
    return f'"{word}"' if " " in word else word


def section_of(text: str) -> str | None:
    """A section of the notes as the docstrings write it, if the text names one."""
    if numbered := SECTION.match(text.strip()):
        return f"{numbered[1]} {numbered[2]}"
    return next(iter(references(text)), None)


def search(word: str, kinds: Iterable[str]) -> list[Item]:
    """What has the section of the notes, or every one of the words, in its name or docstring."""
    items = [item for kind in kinds for item in listed(kind)]
    if section := section_of(word):
        return [item for item in items if within(section, item.sections)]
    words = word.lower().split()
    return [item for item in items if all(w in searched(item) for w in words)]


def within(section: str, sections: Iterable[str]) -> bool:
    """Whether one of the sections is this one or a part of it."""
    return any(other == section or other.startswith(f"{section}.") for other in sections)


def searched(item: Item) -> str:
    """The words by which an item is found."""
    own = item.title if isinstance(item, Function) else item.docstring
    return f"{item.name} {item.name.replace('-', ' ')} {own}".lower()


def facts_of(item: Item) -> dict[str, Any]:
    """What the file itself says, beyond its docstring."""
    if item.kind in USES:
        return {"use": USES[item.kind].format(item.name)}
    if item.kind == "claims":
        return {"run": f"chainrule lab {item.name}"}
    if item.kind not in ("data", "models", "recipes"):
        return {}
    module = item.load()
    if item.kind == "data":
        return asdict(module.ABOUT)
    if item.kind == "models":
        model, batch = module.example()
        tensors = list(model.parameters()) or model.state_dict().values()
        count = sum(t.numel() for t in tensors)
        return {
            "example": f"{type(model).__name__} with {count} parameters, "
            f"inputs {tuple(batch.shape)} → outputs {tuple(model(batch).shape)}"
        }
    recipe = module.Recipe
    printed = [f"{p.metric} {p.value:g} ({p.source})" for p in recipe.published]
    return {
        "run": f"chainrule train {item.name}",
        "notes": recipe.reference,
        "published": "; ".join(printed),
    }


class Links:
    """Which entry imports which, and which carry out the same section of the notes."""

    def __init__(self) -> None:
        self.entries = {module_of(e.path): e for kind in LINKED for e in entries(kind)}
        self.sections = {module: e.sections for module, e in self.entries.items()}
        self.uses = {module: self.imported(e.text) for module, e in self.entries.items()}

    def imported(self, text: str, follow: bool = True) -> set[str]:
        """Modules of entries that a file imports, directly or through what its family shares."""
        found: set[str] = set()
        for module, names in IMPORT.findall(text):
            candidates = {module, *(f"{module}.{name}" for name in re.findall(r"\w+", names))}
            found |= candidates & set(self.entries)
            if follow and module.startswith(SHARED):
                found |= self.imported(path_of(module).read_text("utf-8"), follow=False)
        return found

    def related(self, entry: Entry) -> dict[str, list[str]]:
        """Names by kind: what it imports, what imports it, then what shares a section with it."""
        own, uses = module_of(entry.path), self.imported(entry.text)
        linked = [m for m in self.entries if m in uses or own in self.uses[m]]
        sections = {section for section in entry.sections if not WHOLE_CHAPTER.match(section)}
        alike = [m for m in self.entries if self.sections[m] & sections]
        found = [self.entries[m] for m in dict.fromkeys([*linked, *alike]) if m != own]
        near = [e for e in found if e.kind != entry.kind or module_of(e.path) in linked]
        by_kind = {kind: [e.name for e in near if e.kind == kind] for kind in LINKED}
        return {kind: names for kind, names in by_kind.items() if names}


@cache
def links() -> Links:
    """Read once: a program may ask for many."""
    return Links()


def module_of(path: Path) -> str:
    return ".".join(("chainrule", *path.relative_to(ROOT).with_suffix("").parts))


def path_of(module: str) -> Path:
    return ROOT.joinpath(*module.split(".")[1:]).with_suffix(".py")
