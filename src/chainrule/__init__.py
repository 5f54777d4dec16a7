"""chainrule: a deep-learning course as working software."""

from importlib import import_module
from types import ModuleType

__version__ = "0.1.0"


def __getattr__(name: str) -> ModuleType:
    """`chainrule.data` and its like, imported when first asked for: listing must stay quick."""
    if name.startswith("_"):
        raise AttributeError(name)
    try:
        return import_module(f"chainrule.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"chainrule.{name}":
            raise
        raise AttributeError(f"chainrule has no part named {name!r}") from None
