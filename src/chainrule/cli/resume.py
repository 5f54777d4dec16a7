"""`chainrule resume RUN`: carry an interrupted run on, to the same weights as without the break."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from chainrule.cli.options import Place, parse
from chainrule.cli.progress import follow, show
from chainrule.console.output import print_json, say
from chainrule.runs.run import open_run, progress_so_far, read_json


@dataclass(frozen=True, kw_only=True)
class Resume(Place):
    """Carry a run on."""

    run: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """The run folder."""


def run(arguments: list[str]) -> int:
    options = parse(Resume, arguments, "resume", "Carry an interrupted run on.")
    silent = options.quiet or options.json
    config, _ = open_run(options.run)
    if not (options.run / "result.json").exists():
        epochs = progress_so_far(options.run)
        place = "no checkpoint yet: from the start" if epochs is None else f"after epoch {epochs}"
        say(f"{config['recipe']} in {options.run}: going on, {place}", silent)
        follow(options.run, options)
        return 0
    say("this run is already finished", silent)
    result = read_json(options.run / "result.json")
    if options.json:
        print_json(result)
    elif not options.quiet:
        show(result, options.run)
    return 0
