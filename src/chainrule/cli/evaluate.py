"""`chainrule evaluate RUN`: recompute the metrics of a finished run on all its splits."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from chainrule.cli.options import Output, parse
from chainrule.console.output import out, print_json
from chainrule.console.tables import result_table
from chainrule.learning.metrics import format_metric
from chainrule.runs.run import Run


@dataclass(frozen=True, kw_only=True)
class Evaluate(Output):
    """Recompute the metrics of a run."""

    run: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """The run folder."""
    data: Path | None = None
    """Folder of the data sets (default: where the run found them)."""


def run(arguments: list[str]) -> int:
    options = parse(Evaluate, arguments, "evaluate", "Recompute the metrics of a finished run.")
    found = Run.load(options.run)
    metrics = found.evaluate(options.data)
    result = found.result | {"metrics": metrics}
    if options.json:
        print_json(result)
    elif not options.quiet:
        out.print(result_table(result, format_metric))
    return 0
