"""The course: a folder per chapter, a file per model.

chainrule.models.MLP                     any model by its name
chainrule.models.feedforward.MLP         the same, by its chapter
"""

import ast
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any


@cache
def exports() -> dict[str, str]:
    """Every public name of the chapters, and the chapter that exports it; nothing is imported."""
    found: dict[str, str] = {}
    for path in sorted(Path(__file__).parent.glob("*/__init__.py")):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                found |= dict.fromkeys(ast.literal_eval(node.value), path.parent.name)
    return found


def __getattr__(name: str) -> Any:
    if name in exports():
        return getattr(import_module(f"chainrule.models.{exports()[name]}"), name)
    if name in exports().values():
        return import_module(f"chainrule.models.{name}")
    raise AttributeError(f"there is no model {name!r}; dir(chainrule.models) lists them")


def __dir__() -> list[str]:
    return sorted({*exports(), *exports().values()})
