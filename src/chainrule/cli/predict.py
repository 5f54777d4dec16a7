"""`chainrule predict RUN FILE …`: apply a finished run to your own data.

The data are rows, images or point clouds in files; for models of text, sentences or files of them.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from chainrule.cli.options import parse
from chainrule.console.output import in_steps, number, out, print_json, say
from chainrule.console.tables import predictions_table
from chainrule.data.readers.graphs.graph_set import GraphEncoder
from chainrule.data.readers.graphs.node_encoder import NodeEncoder
from chainrule.errors import InputError
from chainrule.runs.configuration import require
from chainrule.runs.predict import notes, predict_files, text_encoder, with_folders_opened
from chainrule.runs.prediction_files import TABLES, check_suffix, write
from chainrule.runs.prediction_rows import rows_with_inputs
from chainrule.runs.run import Run

LEAST_SHOWN = 0.001  # probability of a class that the table names second or third


@dataclass(frozen=True)
class Predict:
    """Apply a run to your own files."""

    run: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """The run folder."""
    inputs: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="FILE …")]
    """Tables (CSV with a header, Parquet, Feather, .xlsx), images, meshes or lists of points, as
    suits the recipe, or folders of them; for models of text, sentences in quotes, text files with
    one per line, or tables with the column of texts; for graphs, tables of nodes and of edges."""
    json: bool = False
    """Print one JSON object instead of a table."""
    out: Path | None = None
    """Write the predictions to this file (.csv, .tsv, .parquet, .feather or .xlsx): the columns of
    the input, the prediction, every class's probability, or for a number the interval that holds
    90 % of validation targets. A run that predicts a class for every pixel or point draws them over
    the input: to FILE-overlay.png beside it, or to this PNG file; a run on masks writes the mask of
    every image into this folder."""


def run(arguments: list[str]) -> int:
    options = parse(Predict, arguments, "predict", "Apply a finished run to your own files.")
    finished = Run.load(options.run)
    require(type(finished.recipe), finished.name, "predict")
    if options.out is not None and not (is_picture(options.out) or writes_masks(finished)):
        check_suffix(options.out)
    if text_encoder(finished) is None:
        files = with_folders_opened(finished, tuple(map(Path, options.inputs)))
        found, read, refused = answered(finished, files)
    else:
        read, refused = list(map(Path, options.inputs)), []
        found = finished.predict(list(options.inputs))
    pixels, picture = "shares" in found[0], options.out is not None and is_picture(options.out)
    if picture and (not pixels or len(options.inputs) > 1):
        raise InputError(
            f"`out` {options.out} is a picture; expected a CSV file, or a run that gives a class "
            "to every pixel and a single file to predict from"
        )
    folder = options.out is not None and pixels and options.out.suffix.lower() not in TABLES
    if pixels:
        draw = masked if folder and not picture else painted
        found = draw(finished, options, read, found)
    if options.out is not None and not (picture or folder):
        write(options.out, rows_with_inputs(finished, read, [flat(answer) for answer in found]))
        say(f"{len(found)} predictions in {options.out}")
    elif options.json:
        print_json({"predictions": found})
    else:
        out.print(predictions_table([shown(answer) for answer in found]))
    for note in notes(finished, read):
        say(f"note: {note}")
    if refused:
        raise InputError("; ".join(refused))
    return 0


def answered(run: Run, paths: list[Path]) -> tuple[list[dict[str, Any]], list[Path], list[str]]:
    """The answers, the files they are for, and what is wrong with the other files."""
    try:
        return run.predict(paths), paths, []
    except InputError:
        if len(paths) == 1 or isinstance(run.summary.encoder, NodeEncoder | GraphEncoder):
            raise
    found: list[dict[str, Any]] = []
    read: list[Path] = []
    refused: list[str] = []
    for path in paths:
        try:
            found += predict_files(run, [path], paths)
            read.append(path)
        except InputError as error:
            refused.append(str(error))
    if not read:
        raise InputError("; ".join(dict.fromkeys(refused)))
    return found, read, refused


def writes_masks(run: Run) -> bool:
    """Whether `out` may be a folder of masks."""
    return getattr(run.summary.encoder, "mask", None) is not None


def is_picture(path: Path) -> bool:
    return path.suffix.lower() in (".png", ".jpg", ".jpeg")


def painted(
    run: Run, options: Predict, read: list[Path], found: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """The answers with the names of the overlays, which are drawn and saved here."""
    from chainrule.plots.style import save
    from chainrule.runs.predict import overlays

    beside = [path.with_name(f"{path.name}-overlay.png") for path in read]
    places = [options.out] if options.out and is_picture(options.out) else beside
    for drawn, place in zip(overlays(run, read), places, strict=True):
        save(drawn, place)
    return [answer | {"overlay": str(place)} for answer, place in zip(found, places, strict=True)]


def masked(
    run: Run, options: Predict, read: list[Path], found: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """The answers with the names of the masks, which are written to a folder here."""
    from chainrule.runs.predict import masks

    assert options.out is not None
    given = [Path(name) for name in options.inputs if Path(name).is_dir()]
    places = [options.out / mask_name(path, given) for path in read]
    if len({*places}) < len(places):
        raise InputError("two of the images have the same name; predict one folder at a time")
    for drawn, place in zip(masks(run, read), places, strict=True):
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            drawn.save(place)
        except OSError as error:
            raise InputError(f"cannot write {place}: {error.strerror}") from None
    return [answer | {"mask": str(place)} for answer, place in zip(found, places, strict=True)]


def mask_name(path: Path, folders: list[Path]) -> Path:
    """The path of an image within the folder that was given, as a PNG file."""
    inside = next((f for f in folders if path.is_relative_to(f)), path.parent)
    return path.relative_to(inside).with_suffix(".png")


def flat(answer: dict[str, Any]) -> dict[str, Any]:
    """One row of numbers and words."""
    numbers = {"probabilities": "p", "shares": "share"}
    rest = {k: v for k, v in answer.items() if k not in numbers}
    return rest | {
        f"{short}({name})": value
        for long, short in numbers.items()
        for name, value in answer.get(long, {}).items()
    }


def shown(answer: dict[str, Any]) -> dict[str, str]:
    """What fits on the screen: the most probable class and the next two."""
    rest = {k: v for k, v in answer.items() if k not in ("probabilities", "shares")}
    likely = sorted(answer.get("probabilities", {}).items(), key=lambda pair: -pair[1])
    if len(likely) > 1:
        others = [(name, p) for name, p in likely[1:3] if p >= LEAST_SHOWN]
        rest["or"] = ", ".join(f"{name} ({number(p)})" for name, p in others)
    if "upper" in answer:
        unit = answer["upper"] - answer["prediction"]
        numbers = [in_steps(answer[key], unit) for key in ("prediction", "lower", "upper")]
        return {"input": rest["input"], "prediction": numbers[0]} | {
            "90 % interval": f"{numbers[1]} to {numbers[2]}"
        }
    return {k: number(v) if isinstance(v, float) else str(v) for k, v in rest.items()}
