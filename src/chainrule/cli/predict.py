"""`chainrule predict RUN FILE …`: apply a finished run to CSV rows or images of your own."""

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from chainrule.cli.options import parse
from chainrule.errors import InputError
from chainrule.recipes.running import predict
from chainrule.report.console import figure, out, print_json, say
from chainrule.report.tables import predictions_table


@dataclass(frozen=True)
class Predict:
    """Apply a run to your own files."""

    run: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """The run folder."""
    inputs: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="FILE …")]
    """CSV files (with a header) or images, as suits the recipe."""
    json: bool = False
    """Print one JSON object instead of a table."""
    out: Path | None = None
    """Write the predictions to this CSV file, one row each, with every class's probability."""


def run(arguments: list[str]) -> int:
    options = parse(Predict, arguments, "predict", "Apply a finished run to your own files.")
    if not options.inputs:
        raise InputError("expected files to predict from: chainrule predict RUN FILE …")
    found = predict(options.run, options.inputs)
    if options.out is not None:
        write(options.out, [flat(answer) for answer in found])
        say(f"{len(found)} predictions in {options.out}")
    elif options.json:
        print_json({"predictions": found})
    else:
        out.print(predictions_table([shown(answer) for answer in found]))
    return 0


def flat(answer: dict[str, Any]) -> dict[str, Any]:
    """One row of numbers and words."""
    rest = {k: v for k, v in answer.items() if k != "probabilities"}
    return rest | {f"p({name})": p for name, p in answer.get("probabilities", {}).items()}


def shown(answer: dict[str, Any]) -> dict[str, str]:
    """What fits on the screen: the likeliest class, and the next."""
    rest = {k: v for k, v in answer.items() if k != "probabilities"}
    likely = sorted(answer.get("probabilities", {}).items(), key=lambda pair: -pair[1])
    if len(likely) > 1:
        name, p = likely[1]
        rest["or"] = f"{name} ({figure('', p)})"
    return {k: figure("", v) if isinstance(v, float) else str(v) for k, v in rest.items()}


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    try:
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None
