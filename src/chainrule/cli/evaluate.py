"""`chainrule evaluate RUN`: measure a finished run again, on all its splits."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from chainrule.cli.options import Place, parse
from chainrule.recipes.running import measure_again
from chainrule.report.console import out, print_json
from chainrule.report.tables import result_table


@dataclass(frozen=True)
class Evaluate(Place):
    """Measure a finished run."""

    run: Annotated[Path, tyro.conf.Positional] = Path()
    """The run folder."""


def run(arguments: list[str]) -> int:
    options = parse(Evaluate, arguments, "evaluate", "Measure a finished run again.")
    result = measure_again(options.run, options.data)
    if options.json:
        print_json(result)
    elif not options.quiet:
        out.print(result_table(result))
    return 0
