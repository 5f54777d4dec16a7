"""What a resumed run must share with the run that began: its data and its settings."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from chainrule.data.splits import Split, Splits
from chainrule.errors import InputError
from chainrule.graphs import Graph
from chainrule.runs.configuration import Configuration
from chainrule.runs.folder import CONFIG, DATA, Json, checksum, read_json, to_plain
from chainrule.runs.recipe import DataSummary
from chainrule.runs.schema import Config, Data
from chainrule.training import checkpoint

FREE = ("checkpoint_seconds", "threads")  # settings that a run may change on its way


def describe(summary: DataSummary) -> Json:
    """The summary of the data as JSON."""
    plain = {f.name: getattr(summary, f.name) for f in fields(summary)}
    del plain["remarks"]
    return to_plain(plain | {"encoder": summary.encoder.to_json() if summary.encoder else None})


def fingerprints(configuration: Configuration, data: Any) -> Json:
    """Checksums of the settings and of the data."""
    number = 1 if configuration.options.members == 1 else configuration.options.processes
    return {"settings": of_settings(configuration, number), "content": fingerprint(data)}


def of_settings(configuration: Configuration, processes: int) -> str:
    """Checksum of the settings.

    processes: how many are written down; one network may go on in another number of them, so it is
        1 for all of its runs. Earlier versions wrote the number that the run began with.
    """
    values = configuration.values()
    settings = {k: processes if k == "processes" else v for k, v in values.items() if k not in FREE}
    return checksum(to_plain(settings))


def check_same(folder: Path, now: Json, configuration: Configuration | None = None) -> None:
    """Refuse data or settings that have changed since the run began.

    configuration: by which settings that an earlier version has written down are known.
    """
    path = folder / DATA
    if not path.is_file():
        return
    begun = read_json(path, Data)
    other = [name for name, value in begun.items() if name in now and now[name] != value]
    if other == ["settings"] and configuration is not None:
        number = read_json(folder / CONFIG, Config)["settings"].get("processes", 1)
        if begun.get("settings") == of_settings(configuration, number):
            return
    if other:
        what = "settings" if other == ["settings"] else "data"
        raise InputError(
            f"the {what} have changed since the run in {folder} began ({', '.join(other)} differ); "
            "bring the old ones back, or train anew"
        )


def fingerprint(data: Any) -> str:
    """SHA-256 of what is learned from: all tensors, arrays, texts and numbers of the data.

    Of splits these are the examples. What a recipe computes from them besides is left out: sums of
    many numbers depend on the number of threads.
    """
    if isinstance(data, Splits) and data.fingerprint:
        return data.fingerprint
    found = hashlib.sha256()
    for part in contents(examples(data) if isinstance(data, Splits) else data):
        found.update(part)
    return found.hexdigest()


def examples(data: Splits) -> dict[str, Any]:
    """The splits, the graph, and what the examples are indices of."""
    named = {f.name: getattr(data, f.name) for f in fields(data)}
    return {
        name: value
        for name, value in named.items()
        if isinstance(value, Split | Graph)
        or (isinstance(value, Tensor) and not value.is_floating_point())
    }


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
        yield from contents({f.name: getattr(value, f.name) for f in fields(value)})
    elif isinstance(value, Mapping):
        yield from contents(list(value.items()))
    elif isinstance(value, list | tuple):
        yield f"{len(value)} parts".encode()
        for part in value:
            yield from contents(part)
    else:
        yield type(value).__qualname__.encode()
