"""`chainrule predict RUN INPUT …`: apply a finished run to CSV rows or images of your own."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from chainrule.cli.options import parse
from chainrule.recipes.running import predict
from chainrule.report.console import out, print_json
from chainrule.report.tables import predictions_table


@dataclass(frozen=True)
class Predict:
    """Apply a run to your own files."""

    run: Annotated[Path, tyro.conf.Positional]
    """The run folder."""
    inputs: Annotated[tuple[Path, ...], tyro.conf.Positional]
    """CSV files (with a header) or images, as suits the recipe."""
    json: bool = False
    """Print one JSON object instead of a table."""


def run(arguments: list[str]) -> int:
    options = parse(Predict, arguments, "predict", "Apply a finished run to your own files.")
    found = [answer for path in options.inputs for answer in predict(options.run, path)]
    if options.json:
        print_json({"predictions": found})
        return 0
    header = list(found[0]) if found else []
    rows = [[words(value) for value in answer.values()] for answer in found]
    out.print(predictions_table(rows, header))
    return 0


def words(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
