"""What a user types after `cr.`: the functions, then the rooms with all they export."""

import inspect
from types import ModuleType

import chainrule
from book.code import OUTSIDE, public
from book.text import cell, escaped, prose, table
from chainrule.registry import ROOT, entries

BEGINNING = "```{py:module} chainrule\n:no-index-entry:\n```\n"


def front_door() -> str:
    """The page."""
    first, _, rest = (chainrule.__doc__ or "").partition("\n")
    lines = ["# chainrule\n", f"{escaped(first)}\n", prose(inspect.cleandoc(rest))]
    named = {name: getattr(chainrule, name) for name in chainrule.__all__}
    rooms = {name: value for name, value in named.items() if isinstance(value, ModuleType)}
    own = {name: value for name, value in named.items() if name not in rooms}
    lines += [
        table(("name", "what it is"), summaries(own)),
        BEGINNING,
    ]
    lines += [one(name, value) for name, value in own.items() if inspect.isfunction(value)]
    return "\n".join([*lines, *(room(name, value) for name, value in rooms.items())])


def one(name: str, value: object) -> str:
    """A function of the front door."""
    head = f"{OUTSIDE}{{py:function}} {name}{shape(value)}"
    return f"{head}\n\n{prose(inspect.getdoc(value) or '')}\n{OUTSIDE}\n"


def summaries(named: dict[str, object]) -> list[tuple[object, ...]]:
    """Each name, led to where it is described, with the first sentence of its docstring."""
    return [(led(name, value), cell(summary(value))) for name, value in named.items()]


def led(name: str, value: object) -> str:
    """The name as a link to its description."""
    module = getattr(value, "__module__", "")
    if module.startswith("chainrule.data.datasets."):
        return f"[{name}](data/{data_sets()[module]}.md)"
    if module == "chainrule.api":
        return f"{{py:obj}}`{name} <chainrule.{name}>`"
    written = getattr(value, "__name__", "")
    file = ROOT.joinpath(*module.split(".")[1:]).with_suffix(".py")
    described = file.exists() and written in [found.name for found in public(file)]
    return f"{{py:obj}}`{name} <{module}.{written}>`" if described else f"`{name}`"


def data_sets() -> dict[str, str]:
    """The module of each data set and its name."""
    return {f"chainrule.data.datasets.{e.path.stem}": e.name for e in entries("data")}


def shape(value: object) -> str:
    """The arguments without their types, which the docstring explains."""
    try:
        found = inspect.signature(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return ""
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in found.parameters.values()]
    return "(" + ", ".join(map(str, bare)) + ")"


def room(name: str, module: ModuleType) -> str:
    """A package, and what it exports."""
    rows = summaries(exports(module))
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
