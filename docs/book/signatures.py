"""Signatures as Sphinx writes them, with types by their full names, so that they become links."""

import ast
import re
from functools import cache
from pathlib import Path

from chainrule.registry import ROOT

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
Names = dict[str, str]  # as written in a file → the full name
ALIASED = (ast.Subscript, ast.BinOp, ast.Attribute, ast.Name)  # what a name of a type stands for
ALIAS = re.compile(r"[A-Z][a-z]\w*$")
SHAPED = re.compile(r"(U?Int\d*|Float\d*|Bool|Integer|Num|Shaped|Complex\d*|Literal)$")
QUOTED = re.compile(r"[A-Za-z_][\w.]*(\[.*\])?( \| [A-Za-z_][\w.]*)*$")  # a type in quotes


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


@cache
def names_of(path: Path) -> Names:
    """The library's names that a file imports or defines, each with the module that defines it."""
    own = ".".join(("chainrule", *path.relative_to(ROOT).with_suffix("").parts))
    found = {name: f"{own}.{name}" for name in own_names(path)}
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("chainrule."):
            for alias in node.names:
                if home := home_of(node.module or "", alias.name):
                    found[alias.asname or alias.name] = f"{home}.{alias.name}"
    return found


def own_names(path: Path) -> list[str]:
    """Classes, functions and aliases of types that a file defines."""
    body = parsed(path).body
    return [n.name for n in body if isinstance(n, Definition)] + list(aliases(path))


def aliases(path: Path) -> dict[str, str]:
    """Names of types: `Images = Float[Tensor, "batch …"]`, each with what it stands for."""
    found = {}
    for node in parsed(path).body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ALIASED):
            target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
            if ALIAS.match(name := ast.unparse(target)):
                found[name] = ast.unparse(node.value)
    return found


@cache
def home_of(module: str, name: str) -> str:
    """The module that defines what this one exports; empty where the files do not tell."""
    place = ROOT.joinpath(*module.split(".")[1:])
    path = place.with_suffix(".py")
    if not path.exists():
        path = place / "__init__.py"
    elif name in own_names(path):
        return module
    for node in ast.walk(parsed(path)) if path.exists() else ():
        if isinstance(node, ast.ImportFrom) and name in [alias.name for alias in node.names]:
            return home_of(node.module or "", name)
    return ""


def kind_of(node: Definition, inside: bool) -> str:
    """The directive of Sphinx."""
    if isinstance(node, ast.ClassDef):
        words = " ".join(map(ast.unparse, node.bases))
        return "exception" if re.search("Error|Exception", words) else "class"
    if inside:
        return "property" if is_property(node) else "method"
    return "function"


def is_property(node: Definition) -> bool:
    """Whether it is read like an attribute."""
    return any(ast.unparse(d).endswith("property") for d in node.decorator_list)


def is_data(node: ast.ClassDef) -> bool:
    """Whether its fields are the arguments of its constructor."""
    words = [ast.unparse(d) for d in node.decorator_list]
    data = any(word.endswith("estimator") or "dataclass" in word for word in words)
    return data or "NamedTuple" in map(ast.unparse, node.bases)


def options(node: Definition, known: Names) -> list[str]:
    """What stands below the first line of the directive."""
    if isinstance(node, ast.ClassDef):
        return []
    words = {ast.unparse(decorator) for decorator in node.decorator_list}
    found = [f":{flag}:" for flag in ("classmethod", "staticmethod") if flag in words]
    if isinstance(node, ast.AsyncFunctionDef):
        found.append(":async:")
    if node.returns and is_property(node):
        found.append(f":type: {typed(node.returns, known)}")
    return found


def arguments(node: Definition, path: Path) -> list[str]:
    """Each argument with its type and default; without self."""
    known = names_of(path)
    if not isinstance(node, ast.ClassDef):
        return of_function(node, known)
    start = next((m for m in node.body if getattr(m, "name", "") == "__init__"), None)
    if isinstance(start, ast.FunctionDef):
        return of_function(start, known)
    return of_fields(node, path)


def of_function(node: ast.FunctionDef | ast.AsyncFunctionDef, known: Names) -> list[str]:
    a = node.args
    placed = [*a.posonlyargs, *a.args]
    missing: list[ast.expr | None] = [None] * (len(placed) - len(a.defaults))
    defaults = missing + a.defaults
    words = [one(arg, value, known) for arg, value in zip(placed, defaults, strict=True)]
    if a.vararg or a.kwonlyargs:
        words.append(f"*{one(a.vararg, None, known)}" if a.vararg else "*")
    words += [one(arg, v, known) for arg, v in zip(a.kwonlyargs, a.kw_defaults, strict=True)]
    if a.kwarg:
        words.append(f"**{one(a.kwarg, None, known)}")
    return words[1:] if words[:1] in (["self"], ["cls"]) else words


def of_fields(node: ast.ClassDef, path: Path) -> list[str]:
    """The fields of a dataclass or a named tuple, which are its arguments."""
    by_name: dict[str, str] = {}
    for one_class, file in lineage(node, path):
        for field in one_class.body if is_data(one_class) else ():
            if isinstance(field, ast.AnnAssign) and "ClassVar" not in ast.unparse(field.annotation):
                name = ast.unparse(field.target)
                default = f" = {ast.unparse(field.value)}" if field.value else ""
                by_name[name] = f"{name}: {typed(field.annotation, names_of(file))}{default}"
    words = [word for name, word in by_name.items() if name[0] != "_"]
    decorators = [ast.unparse(d) for d in node.decorator_list]
    only = any("kw_only=True" in d or d.endswith("estimator") for d in decorators)
    return ["*", *words] if only and words else words


def lineage(node: ast.ClassDef, path: Path) -> list[tuple[ast.ClassDef, Path]]:
    """The class after the classes of the library from which it inherits, each with its file."""
    found: list[tuple[ast.ClassDef, Path]] = []
    for base in node.bases:
        home, _, name = names_of(path).get(ast.unparse(base), "").rpartition(".")
        if home:
            file = ROOT.joinpath(*home.split(".")[1:]).with_suffix(".py")
            wanted = [
                n for n in parsed(file).body if isinstance(n, ast.ClassDef) and n.name == name
            ]
            found += [one for cls in wanted for one in lineage(cls, file)]
    return [*found, (node, path)]


def one(arg: ast.arg, default: ast.expr | None, known: Names) -> str:
    """One argument."""
    word = f"{arg.arg}: {typed(arg.annotation, known)}" if arg.annotation else arg.arg
    if default is None:
        return word
    between = " = " if arg.annotation else "="
    return f"{word}{between}{ast.unparse(default)}"


def returned(node: Definition, known: Names) -> str:
    if isinstance(node, ast.ClassDef) or node.returns is None:
        return ""
    return f" -> {typed(node.returns, known)}"


def typed(annotation: ast.expr, known: Names) -> str:
    """A type, with the library's own by their full names and without quotes."""
    return ast.unparse(FullNames(known).visit(ast.parse(ast.unparse(annotation), mode="eval").body))


class FullNames(ast.NodeTransformer):
    """Names become full names, and quoted types types; the strings of shapes stay."""

    def __init__(self, known: Names) -> None:
        self.known = known

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Name(self.known.get(node.id, node.id))

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if not isinstance(node.value, str) or not QUOTED.match(node.value):
            return node
        inside: ast.expr = self.visit(ast.parse(node.value, mode="eval").body)
        return inside

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        if SHAPED.search(ast.unparse(node.value)):
            return ast.parse(ast.unparse(node).replace("' ", "'"), mode="eval").body
        self.generic_visit(node)
        return node
