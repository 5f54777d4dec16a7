"""The public classes and functions of a file, read without importing it."""

import ast
from pathlib import Path
from typing import NamedTuple

from book.text import escaped, fence, prose

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class Named(NamedTuple):
    """A public definition of a file."""

    name: str
    node: Definition

    @property
    def docstring(self) -> str:
        return ast.get_docstring(self.node) or ""


def public(path: Path) -> list[Named]:
    """Classes and functions of a file whose names do not start with an underscore."""
    return defined(ast.parse(path.read_text("utf-8")).body)


def defined(body: list[ast.stmt]) -> list[Named]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return [Named(n.name, n) for n in body if isinstance(n, kinds) and n.name[0] != "_"]


def documented(path: Path) -> str:
    """All of them as sections of a page."""
    return "\n".join(section(found) for found in public(path))


def section(found: Named, level: str = "##") -> str:
    """Name, signature, docstring; the methods of a class below."""
    text = f"{level} {escaped(found.name)}\n\n{fence(signature(found.node), 'python')}\n"
    text += prose(found.docstring)
    if isinstance(found.node, ast.ClassDef):
        methods = [m for m in defined(found.node.body) if m.docstring]
        text += "\n" + "\n".join(section(method, level + "#") for method in methods)
    return text


def signature(node: Definition) -> str:
    """The line that defines it, as ruff would break it."""
    if isinstance(node, ast.ClassDef):
        start = next((m for m in node.body if getattr(m, "name", "") == "__init__"), None)
        if isinstance(start, ast.FunctionDef):
            return broken(f"class {node.name}", arguments(start), "")
        bases = ", ".join(map(ast.unparse, node.bases))
        fields = [ast.unparse(n) for n in node.body if isinstance(n, ast.AnnAssign)]
        lines = [f"class {node.name}({bases})" if bases else f"class {node.name}", *fields]
        return "\n    ".join(lines)
    returned = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return broken(f"def {node.name}", arguments(node), returned)


def arguments(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """Each argument with its type and default; without self."""
    a = node.args
    placed = [*a.posonlyargs, *a.args]
    missing: list[ast.expr | None] = [None] * (len(placed) - len(a.defaults))
    words = [one(arg, value) for arg, value in zip(placed, missing + a.defaults, strict=True)]
    if a.vararg or a.kwonlyargs:
        words.append(f"*{one(a.vararg, None)}" if a.vararg else "*")
    words += [one(arg, value) for arg, value in zip(a.kwonlyargs, a.kw_defaults, strict=True)]
    if a.kwarg:
        words.append(f"**{one(a.kwarg, None)}")
    return words[1:] if words[:1] in (["self"], ["cls"]) else words


def one(arg: ast.arg, default: ast.expr | None) -> str:
    """One argument."""
    typed = f"{arg.arg}: {ast.unparse(arg.annotation)}" if arg.annotation else arg.arg
    if default is None:
        return typed
    return (
        f"{typed} = {ast.unparse(default)}" if arg.annotation else f"{typed}={ast.unparse(default)}"
    )


def broken(head: str, words: list[str], tail: str) -> str:
    """On one line, or one line for each argument."""
    line = f"{head}({', '.join(words)}){tail}"
    return line if len(line) <= 88 else f"{head}(\n    " + ",\n    ".join(words) + f",\n){tail}"
