"""The public classes and functions of a file, read without importing it, as objects of Sphinx.

Each becomes a directive of Sphinx's Python domain, so that the index, the search and links of types
know it: `{py:function}`, `{py:class}` with its methods inside.
"""

import ast
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from book.signatures import (
    Definition,
    Names,
    aliases,
    arguments,
    is_data,
    is_property,
    kind_of,
    lineage,
    names_of,
    options,
    parsed,
    returned,
)
from book.text import bullets, prose
from chainrule.registry import ROOT

OUTSIDE, INSIDE = "`" * 8, "`" * 6  # a directive may hold one of fewer backticks, and code of 4


class Named(NamedTuple):
    """A public definition of a file."""

    name: str
    node: Definition

    @property
    def docstring(self) -> str:
        return ast.get_docstring(self.node) or ""


@cache
def public(path: Path) -> list[Named]:
    """Classes and functions of a file whose names do not start with an underscore."""
    return defined(parsed(path).body)


def defined(body: list[ast.stmt]) -> list[Named]:
    """The last definition of each name."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    found = [Named(n.name, n) for n in body if isinstance(n, kinds) and n.name[0] != "_"]
    return list({named.name: named for named in found}.values())


def module_of(path: Path) -> str:
    """`chainrule.training.loop` of src/chainrule/training/loop.py."""
    return ".".join(("chainrule", *path.relative_to(ROOT).with_suffix("").parts))


def documented(path: Path) -> str:
    """All of them as sections of a page."""
    sections = [section(found, path) for found in public(path)]
    return "\n".join([beginning(path), *map(alias, aliases(path).items()), *sections])


def alias(named: tuple[str, str]) -> str:
    """The name of a type, and what it stands for."""
    value = named[1].replace("'", '"')
    return f"```{{py:data}} {named[0]}\n:value: '{value}'\n```\n"


def beginning(path: Path) -> str:
    """What makes the objects below belong to the module of this file."""
    return f"```{{py:module}} {module_of(path)}\n:no-index-entry:\n```\n"


def section(found: Named, path: Path, fences: str = OUTSIDE, name: str = "") -> str:
    """Signature and docstring; the fields and methods of a class inside."""
    node, known = found.node, names_of(path)
    words = arguments(node, path)
    head = f"{fences}{{py:{kind_of(node, fences == INSIDE)}}} {name or found.name}"
    if not is_property(node):
        head += f"({', '.join(words)}){returned(node, known)}"
    told = with_arguments(found.docstring, [re.split(r"\W", word.lstrip("*"))[0] for word in words])
    parts = [head, *options(node, known), "", bases(node, known), prose(told)]
    if isinstance(node, ast.ClassDef):
        parts += [fields(node, path), *methods(node, path)]
    return "\n".join([*parts, fences, ""])


def methods(node: ast.ClassDef, path: Path) -> list[str]:
    """Those that say something, and `forward`, whose signature has the shapes."""
    shown = [m for m in defined(node.body) if m.docstring or m.name == "forward"]
    return [section(method, path, INSIDE) for method in shown]


def with_arguments(docstring: str, names: list[str]) -> str:
    """The docstring with a paragraph of `name: what it is` as a list of arguments."""
    parts = docstring.split("\n\n")
    for k, part in enumerate(parts):
        if part.split(":")[0] in names and "\n    " not in part:
            marked = re.sub(rf"(?m)^(?!(?:{'|'.join(names)}): )", "    ", part)
            parts[k] = "Args:\n" + re.sub(r"(?m)^", "    ", marked)
    return "\n\n".join(parts)


def bases(node: Definition, known: Names) -> str:
    """From which classes it inherits; those of the library are links."""
    if not isinstance(node, ast.ClassDef) or not node.bases:
        return ""
    words = [ast.unparse(base) for base in node.bases]
    shown = [f"{{py:obj}}`{w} <{known[w]}>`" if w in known else f"`{w}`" for w in words]
    return f"Bases: {', '.join(shown)}\n"


def fields(node: ast.ClassDef, path: Path) -> str:
    """The fields of a class that say what they are, the base classes' fields first."""
    found = {name: text for name, text in described(node, path).items() if name[0] != "_"}
    title = "Arguments" if is_data(node) else "Attributes"
    return f"{title}:\n\n{bullets(found)}" if found else ""


def fields_of(path: Path, name: str) -> dict[str, str]:
    """What a class of a file says of its fields."""
    node = next(found.node for found in public(path) if found.name == name)
    return described(node, path) if isinstance(node, ast.ClassDef) else {}


def described(node: ast.ClassDef, path: Path) -> dict[str, str]:
    """Each field with the string below it."""
    found: dict[str, str] = {}
    for one, _ in lineage(node, path):
        for field, said in zip(one.body, one.body[1:], strict=False):
            if isinstance(field, ast.AnnAssign) and isinstance(said, ast.Expr):
                text = getattr(said.value, "value", None)
                if isinstance(text, str):
                    found[ast.unparse(field.target)] = text
    return found
