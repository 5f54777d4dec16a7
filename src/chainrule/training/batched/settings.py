"""Settings of many networks from single ones: a value for all, or a list with one for each."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from chainrule.errors import InputError
from chainrule.training.settings import Settings

NAMES = frozenset(field.name for field in fields(Settings))


def settings_of_each(members: int, single: Mapping[str, Any]) -> list[Settings]:
    """One Settings for each network; seeds are 0, 1, 2, … unless they are given."""
    for name, value in single.items():
        if isinstance(value, list | tuple) and len(value) != members:
            raise InputError(f"`{name}` has {len(value)} values for {members} models")
    return [
        Settings(**{"seed": k} | {name: value_of(value, k) for name, value in single.items()})
        for k in range(members)
    ]


def value_of(value: Any, member: int) -> Any:
    """The value of one network."""
    return value[member] if isinstance(value, list | tuple) else value
