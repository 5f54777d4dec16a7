"""Shared by `train` and `resume`: a run in several processes."""

import os
import sys
from typing import TYPE_CHECKING

from chainrule.cli.options import Parallel, as_flags
from chainrule.training.distributed.group import by_torchrun as among_several

if TYPE_CHECKING:
    from chainrule.runs.processes import Processes
    from chainrule.runs.run import Run


def is_first() -> bool:
    """Whether this process prints."""
    return not among_several() or os.environ["RANK"] == "0"


def speaks() -> bool:
    """Whether this process says what it does; those of a launcher follow its words."""
    return is_first() and "CHAINRULE_LAUNCHER" not in os.environ


def chosen(place: Parallel, number: int) -> "Processes":
    """The processes that the flags ask for."""
    from chainrule.runs.processes import Processes

    return Processes(number, place.sharded, place.elastic)


def in_processes(run: "Run", place: Parallel, several: "Processes", force: bool = False) -> int:
    """Train in processes of this machine to the end; returns the exit code."""
    from chainrule.runs.processes import train_in_processes

    flags = {"force": force, "no-pictures": place.no_pictures}
    flags |= {"quiet": place.quiet, "json": place.json}
    words = [f"--{name}" for name, given in flags.items() if given]
    code, line = train_in_processes(run, several, place.device, words)
    if line:
        print(as_flags(line), file=sys.stderr)
    return code
