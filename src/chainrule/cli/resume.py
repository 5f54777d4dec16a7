"""`chainrule resume RUN`: carry an interrupted run on, to the same weights as without the break."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from chainrule.cli.following import follow, show
from chainrule.cli.options import Place, parse
from chainrule.recipes.running import open_run, read_json
from chainrule.report.console import print_json, say


@dataclass(frozen=True)
class Resume(Place):
    """Carry a run on."""

    run: Annotated[Path, tyro.conf.Positional] = Path()
    """The run folder."""


def run(arguments: list[str]) -> int:
    options = parse(Resume, arguments, "resume", "Carry an interrupted run on.")
    open_run(options.run)
    if not (options.run / "result.json").exists():
        follow(options.run, options)
        return 0
    say("this run is already finished", options.quiet or options.json)
    result = read_json(options.run / "result.json")
    print_json(result) if options.json else show(result, options.run)
    return 0
