"""What a user types after `cr.`: the functions, then the rooms with all they export."""

import inspect
from types import ModuleType

import chainrule
from book.text import cell, escaped, fence, prose, table


def front_door() -> str:
    """The page."""
    first, _, rest = (chainrule.__doc__ or "").partition("\n")
    lines = ["# chainrule\n", f"{escaped(first)}\n", prose(inspect.cleandoc(rest))]
    for name in chainrule.__all__:
        value = getattr(chainrule, name)
        lines.append(room(name, value) if isinstance(value, ModuleType) else one(name, value))
    return "\n".join(lines)


def one(name: str, value: object) -> str:
    """A function or class of the front door."""
    shown = f"chainrule.{name}{shape(value)}"
    return f"## {escaped(name)}\n\n{fence(shown, 'python')}\n{prose(inspect.getdoc(value) or '')}"


def shape(value: object) -> str:
    """The arguments without their types, which the docstring explains."""
    try:
        found = inspect.signature(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return ""
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in found.parameters.values()]
    words = ",\n    ".join(map(str, bare))
    line = "(" + ", ".join(map(str, bare)) + ")"
    return line if len(line) <= 70 else f"(\n    {words},\n)"


def room(name: str, module: ModuleType) -> str:
    """A package, and what it exports."""
    rows = [(f"`{export}`", cell(summary(value))) for export, value in exports(module).items()]
    head = f"## chainrule.{name}\n\n{prose(inspect.getdoc(module) or '')}\n"
    return head + (table(("name", "what it is"), rows) if rows else "")


def exports(module: ModuleType) -> dict[str, object]:
    """Public names of a package with their values."""
    names = getattr(module, "__all__", None)
    if names is None:
        names = module.__dir__() if "__dir__" in vars(module) else ()
    found = {n: getattr(module, n) for n in names if n[0] != "_"}
    return {n: v for n, v in found.items() if not isinstance(v, ModuleType)}


def summary(value: object) -> str:
    """The first sentence of its docstring."""
    return (inspect.getdoc(value) or "").split("\n\n", 1)[0]


def public_names() -> dict[str, object]:
    """Everything that the front door and its rooms export."""
    found: dict[str, object] = {}
    for name in chainrule.__all__:
        value = getattr(chainrule, name)
        found[name] = value
        if isinstance(value, ModuleType):
            found |= {f"{name}.{export}": v for export, v in exports(value).items()}
    return found
