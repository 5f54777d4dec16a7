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

import json
import math
import platform
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

import chainrule
from chainrule.errors import InputError
from chainrule.training import checkpoint

Json = dict[str, Any]
CONFIG, DATA, METRICS = "config.json", "data.json", "metrics.jsonl"
MODEL, RESULT, CHECKPOINTS = "model.safetensors", "result.json", "checkpoints"


def claim(folder: Path) -> None:
    """Make an empty folder for a new run."""
    try:
        if folder.exists() and any(folder.iterdir()):
            raise InputError(
                f"the folder {folder} is not empty; choose another `out`, or continue an "
                f"interrupted run with: chainrule resume {folder}"
            )
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the run folder {folder}: {error.strerror}") from None


def discard(folder: Path) -> None:
    """Remove the folder of a run that was refused before training."""
    if (folder / CHECKPOINTS).exists() or (folder / MODEL).exists():
        return
    for name in (CONFIG, DATA, METRICS):
        (folder / name).unlink(missing_ok=True)
    with suppress(OSError):  # it holds something else, or is the working directory
        folder.rmdir()


def next_folder(name: str, root: Path = Path("runs")) -> Path:
    """runs/NAME-1, or the first number that is free."""
    number = 1
    while (root / f"{name}-{number}").exists():
        number += 1
    return root / f"{name}-{number}"


def epochs_behind(folder: Path) -> int | None:
    """Completed epochs by the last checkpoints of all networks; None without a checkpoint."""
    last = list((folder / CHECKPOINTS).rglob("last.safetensors"))
    return sum(checkpoint.load(path)[1]["epoch"] for path in last) if last else None


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


def read_json(path: Path) -> Json:
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, json.JSONDecodeError) as error:
        raise InputError(f"cannot read {path}: {error}") from None


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    checkpoint.replace(path, (to_json(value) + "\n").encode())


def to_json(value: object, indent: int | None = 2) -> str:
    """Strict JSON: numbers that are not finite become null."""
    return json.dumps(
        finite(value), indent=indent, ensure_ascii=False, allow_nan=False, default=str
    )


def finite(value: Any) -> Any:
    """The value with None for every number that is not finite."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [finite(part) for part in value]
    return value
