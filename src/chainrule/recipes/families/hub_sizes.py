"""Shared by the recipes that start from a folder of the Hugging Face hub: its sizes are theirs.

The sizes are fields of the recipe and recorded with the run, which can do without the folder later.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from chainrule.data.files import errors_naming
from chainrule.errors import InputError
from chainrule.runs.published import CONFIG, hub_config

LONGEST = ("max_length", "context_length")  # of which a run may use less than was published


def take_sizes(
    recipe: Any, sizes: Callable[[Mapping[str, Any]], dict[str, Any]], defaults: type
) -> None:
    """Set the sizes of the recipe to those of the folder in `from_run`, where that is one.

    recipe: changed in place, before anybody has seen it.
    sizes: reads the sizes from config.json.
    defaults: the class whose defaults mean that a size was not chosen.
    """
    start = Path(recipe.from_run)
    if not (config := hub_config(start)):
        return
    with errors_naming(start / CONFIG):
        found = sizes(config)
        usual = {field.name: field.default for field in fields(defaults)}
        for name, value in found.items():
            own = getattr(recipe, name)
            if own not in (value, usual[name]) and (name not in LONGEST or own > value):
                less = "at most " if name in LONGEST else ""
                raise InputError(f"expected `{name}` {less}{value}, got {own}; leave it out")
            object.__setattr__(recipe, name, min(own, value) if name in LONGEST else value)
