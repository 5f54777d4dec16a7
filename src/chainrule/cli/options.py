"""Flags that several commands share, and the one way to parse them."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import tyro

T = TypeVar("T")


@dataclass(frozen=True)
class Output:
    """What is printed."""

    json: bool = False
    """Print one JSON object instead of tables."""
    quiet: bool = False
    """Print no progress and no tables."""


@dataclass(frozen=True)
class Place(Output):
    """Where a run lives and computes."""

    device: str = "auto"
    """cpu, cuda, mps, or auto for the best one present."""
    data: Path | None = None
    """Folder of the data sets (else $CHAINRULE_DATA, else the user's cache)."""


CONFIG: tuple[Any, ...] = (tyro.conf.OmitArgPrefixes, tyro.conf.FlagCreatePairsOff)


def parse(form: Callable[..., T], arguments: list[str], command: str, description: str) -> T:
    """The form filled in from the flags; a wrong flag ends with its own message and exit code 2."""
    return tyro.cli(
        form, args=arguments, prog=f"chainrule {command}", description=description, config=CONFIG
    )
