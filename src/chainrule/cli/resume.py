"""`chainrule resume RUN`: continue an interrupted run, to the same weights as without a break."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import tyro

from chainrule.cli.options import Parallel, parse
from chainrule.cli.processes import in_processes, speaks
from chainrule.cli.progress import follow, show
from chainrule.console.output import print_json, say
from chainrule.runs.folder import epochs_behind
from chainrule.runs.processes import check, continued
from chainrule.runs.run import Run


@dataclass(frozen=True, kw_only=True)
class Resume(Parallel):
    """Continue a run."""

    run: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """The run folder."""
    processes: int | None = None
    """Number of processes that share every batch (default: as the run began)."""
    force: bool = False
    """Take the run over from another process that trains it; that one stops."""


def run(arguments: list[str]) -> int:
    options = parse(Resume, arguments, "resume", "Continue an interrupted run.")
    silent = options.quiet or options.json or not speaks()
    found = Run.load(options.run)
    several = continued(found, options.processes, options.sharded, options.elastic)
    options = replace(options, sharded=several.sharded)
    check(found.configuration, found.name, several)
    found.data_folder = options.data or found.data_folder
    if not found.finished:
        epochs = epochs_behind(options.run)
        place = "no checkpoint yet: from the start" if epochs is None else f"after epoch {epochs}"
        say(f"{found.name} in {options.run}: continuing, {place}", silent)
        if several.launched(found.configuration):
            return in_processes(found, options, several, options.force)
        follow(found, options, options.force)
        return 0
    say("this run is already finished", silent)
    if options.json:
        print_json(found.result)
    elif not options.quiet:
        show(found.result, options.run)
    return 0
