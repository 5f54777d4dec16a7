"""What a resumed run must share with the run that began: its data and its settings."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from chainrule.errors import InputError
from chainrule.runs.configuration import Configuration
from chainrule.runs.folder import DATA, Json, checksum, read_json, to_plain
from chainrule.runs.recipe import DataSummary
from chainrule.runs.schema import Data
from chainrule.training import checkpoint

FREE = ("checkpoint_seconds", "threads")  # settings that a run may change on its way


def describe(configuration: Configuration, summary: DataSummary) -> Json:
    """The summary of the data as JSON, and a checksum of the settings."""
    plain = {f.name: getattr(summary, f.name) for f in fields(summary)}
    del plain["remarks"]
    settings = {k: v for k, v in configuration.values().items() if k not in FREE}
    encoder = summary.encoder.to_json() if summary.encoder else None
    return to_plain(plain | {"encoder": encoder, "settings": checksum(to_plain(settings))})


def check_same(folder: Path, now: Json) -> None:
    """Refuse data or settings that have changed since the run began."""
    path = folder / DATA
    if not path.is_file():
        return
    begun = read_json(path, Data)
    other = [name for name, value in begun.items() if name in now and now[name] != value]
    if other:
        raise InputError(
            f"the data or settings have changed since the run in {folder} began "
            f"({', '.join(other)} differ); bring the old ones back, or train anew"
        )


def fingerprint(data: Any) -> str:
    """SHA-256 of all tensors, arrays, texts and numbers in the data."""
    found = hashlib.sha256()
    for part in contents(data):
        found.update(part)
    return found.hexdigest()


def contents(value: Any) -> Iterator[bytes | memoryview]:
    """Everything that a value holds, in a fixed order; of paths and foreign objects the type."""
    if isinstance(value, Tensor):
        yield f"{value.dtype} {tuple(value.shape)}".encode()
        yield checkpoint.as_bytes(value.to_dense())
    elif isinstance(value, np.ndarray) and value.dtype != object:
        yield f"{value.dtype} {value.shape}".encode()
        yield np.ascontiguousarray(value).reshape(-1).view(np.uint8).data
    elif isinstance(value, str | bytes | int | float | None):
        yield ascii(value).encode()
    elif is_dataclass(value) and not isinstance(value, type):
        named = {f.name: getattr(value, f.name) for f in fields(value) if f.name != "remarks"}
        yield from contents(named)
    elif isinstance(value, Mapping):
        yield from contents(list(value.items()))
    elif isinstance(value, list | tuple):
        yield f"{len(value)} parts".encode()
        for part in value:
            yield from contents(part)
    else:
        yield type(value).__qualname__.encode()
