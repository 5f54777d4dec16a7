"""The files of a run folder.

config.json         recipe, settings, versions
data.json           shape of an example, classes, how to read a user's file
metrics.jsonl       one line per epoch
checkpoints/        the last state and the best weights while training
model.safetensors   the final weights
result.json         every final metric
*.png               pictures
*.txt               what a language model writes
"""

import hashlib
import json
import math
import platform
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import torch

import chainrule
from chainrule.console.output import to_json
from chainrule.errors import InputError
from chainrule.runs import schema
from chainrule.runs.lock import LOCK
from chainrule.training import Record
from chainrule.training.files import leftovers, read, replace, writing
from chainrule.training.schema import conform, parsed
from chainrule.training.state import LAST, SHARDS, load

T = TypeVar("T")
Json = dict[str, Any]
CONFIG, DATA, METRICS = "config.json", "data.json", "metrics.jsonl"
MODEL, RESULT, CHECKPOINTS = "model.safetensors", "result.json", "checkpoints"
CHECKSUM = "checksum"  # its key in every JSON file


def claim(folder: Path) -> bool:
    """Make a folder for a new run; False where the user has made it already."""
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        if folder.is_dir():
            return False
        said = "Not a directory" if folder.exists() else error.strerror
        raise InputError(f"cannot make the run folder {folder}: {said}") from None
    return True


def next_folder(name: str, root: Path = Path("runs")) -> Path:
    """Make runs/NAME-1, or the first number that is free."""
    number = 1
    while (root / f"{name}-{number}").exists() or not claim(root / f"{name}-{number}"):
        number += 1
    return root / f"{name}-{number}"


def is_empty(folder: Path) -> bool:
    """Whether a folder holds nothing besides what a killed process has left."""
    ours = {folder / LOCK, *leftovers(folder)}
    return all(path in ours for path in folder.iterdir())


def check_empty(folder: Path) -> None:
    """Refuse a folder that is in use."""
    if not is_empty(folder):
        raise InputError(
            f"the folder {folder} is not empty; choose another `out`, or continue an "
            f"interrupted run with: chainrule resume {folder}"
        )


def discard(folder: Path, made: bool) -> None:
    """Remove what a run that was refused before training has written.

    made: whether the folder was made for the run, and goes with it.
    """
    if (folder / CHECKPOINTS).exists() or (folder / MODEL).exists():
        return
    for name in (CONFIG, DATA, METRICS, LOCK, "logs.json", "log.csv"):
        (folder / name).unlink(missing_ok=True)
    for path in folder.glob("log-*.txt"):
        path.unlink()
    shutil.rmtree(folder / "tensorboard", ignore_errors=True)
    if made:
        with suppress(OSError):  # it holds something else, or is the working directory
            folder.rmdir()


def epochs_behind(folder: Path) -> int | None:
    """Completed epochs by the last checkpoints of all networks; None without a checkpoint."""
    files = list((folder / CHECKPOINTS).rglob(LAST))
    ends = {path.parent: load(path)[1]["epoch"] for path in files}
    for path in (folder / CHECKPOINTS).rglob(SHARDS):
        from chainrule.training.distributed import shards

        ends[path.parent] = max(ends.get(path.parent, 0), shards.numbers(path.parent)["epoch"])
    members = any(path.name.startswith("members-") for path in ends)
    return (min if members else sum)(ends.values()) if ends else None


def what_is_safe(folder: Path) -> str:
    """What remains of a run that could not go on writing, and how to continue it."""
    epochs = epochs_behind(folder)
    safe = "nothing was learned yet" if epochs is None else f"all up to epoch {epochs} is saved"
    return f"{safe}; when there is room and permission, go on with: chainrule resume {folder}"


def versions() -> Json:
    """Versions that the results depend on."""
    return {
        "chainrule": chainrule.__version__,
        "torch": torch.__version__,
        "numpy": version("numpy"),
        "python": platform.python_version(),
        "threads": torch.get_num_threads(),
        "processor": platform.machine(),
    }


def records(folder: Path) -> list[Record]:
    """One record per epoch, NaN for null; the last line may be cut off where a run was killed."""
    path = folder / METRICS
    found: list[Record] = []
    for number, line in enumerate(read(path).split(b"\n")[:-1] if path.is_file() else [], 1):
        place = f"{path}, line {number}"
        record = conform(parsed(line, place), schema.Record, place)
        conform(record, schema.Epoch, place)
        found.append({name: math.nan if v is None else v for name, v in record.items()})
    return found


@contextmanager
def lines(path: Path) -> Iterator[Callable[[str], None]]:
    """A new file in the place of an old one, and a function that adds a line to it."""
    with writing(path):
        path.unlink(missing_ok=True)
        file = path.open("x", encoding="utf-8")

    def write(line: str) -> None:
        with writing(path):
            file.write(line + "\n")
            file.flush()

    try:
        yield write
    finally:
        with suppress(OSError):  # every line was flushed, or its failure told
            file.close()


def read_json(path: Path, form: type[T]) -> T:
    """The content of a file, which must have this form and fit its checksum, where it has one."""
    value = parsed(read(path), path)
    written = value.pop(CHECKSUM, None) if isinstance(value, dict) else None
    if written is not None and written != checksum(value):
        raise InputError(
            f"{path} was edited or is damaged: its content does not fit its checksum; "
            "bring the old one back, or start again"
        )
    return conform(value, form, path)


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write a file with a checksum of its content."""
    plain = to_plain(value)
    replace(path, (to_json(plain | {CHECKSUM: checksum(plain)}) + "\n").encode())


def to_plain(value: Any) -> Any:
    """A value as it comes back from JSON: tuples are lists."""
    return json.loads(to_json(value))


def checksum(value: Any) -> str:
    """SHA-256 of a value as JSON, whatever the order of its keys."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
