"""Export a finished run for other programs: ONNX, torch.export, plain weights, or a hub folder.

    export(run, "onnx")            model.onnx and model.json in RUN/export
    export(run, "torch-export")    model.pt2 and model.json
    export(run, "state-dict")      model.safetensors and model.json
    export(run, "hub")             a folder as `save_pretrained` of transformers writes it

model.json says what goes in and what comes out: shape and type of the input, how a user's file
becomes one, the classes. What was written is read back and run on rows of the test split; the
largest difference from the network is part of the report.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING
from uuid import uuid4

from chainrule.errors import InputError
from chainrule.registry import unknown
from chainrule.runs.export import hub, onnx, program, weights
from chainrule.runs.export.interface import Interface, interface
from chainrule.training.files import writing

if TYPE_CHECKING:
    from chainrule.runs.run import Run

TOLERANCE = 1e-3  # relative to the largest output; more is a fault of the exporter
FORMATS: Mapping[str, Callable[[Interface, Path], float]] = {
    "onnx": onnx.write,
    "torch-export": program.write,
    "state-dict": weights.write,
    "hub": hub.write,
}


@dataclass(frozen=True)
class Exported:
    """What was written, and how far its outputs are from the network's.

    Args:
        files: the files, the model first.
        difference: largest absolute difference of an output.
        rows: number of rows on which both were run.
        origin: where the rows come from.
    """

    files: tuple[Path, ...]
    difference: float
    rows: int
    origin: str


def export(run: "Run", format: str = "onnx", out: Path | None = None) -> Exported:
    """Write a finished run in another format, and check what was written.

    Args:
        run: a finished run.
        format: one of onnx, torch-export, state-dict and hub.
        out: the folder to write to, new or empty; by default RUN/export/FORMAT.
    """
    if format not in FORMATS:
        raise InputError(unknown("export format", format, list(FORMATS)))
    shape = interface(run, one_program=format in ("onnx", "torch-export"))
    folder = Path(out or run.folder / "export" / format)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} exists and is not an empty folder; choose another `out`")
    with beside(folder) as parts:
        difference = FORMATS[format](shape, parts)
        if not difference <= TOLERANCE * shape.largest:
            raise InputError(
                f"the exported model differs from the network by {difference:g}, where its outputs "
                f"reach {shape.largest:g}; this format cannot express the model, try another"
            )
        parts.replace(folder)
    return Exported(tuple(sorted(folder.iterdir())), difference, shape.rows, shape.origin)


@contextmanager
def beside(folder: Path) -> Iterator[Path]:
    """A folder to write to first, so that a half-written export is never found in its place."""
    with writing(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        parts = folder.with_name(f".{folder.name}.{uuid4().hex}.part")
        parts.mkdir()
        try:
            yield parts
        finally:
            rmtree(parts, ignore_errors=True)
