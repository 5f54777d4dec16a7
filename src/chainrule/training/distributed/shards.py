"""Checkpoints of a sharded run: a folder of safetensors files, one a process, and a manifest.

    checkpoints/set-EPOCH-STEP/shard-….safetensors      written by all processes, in the background
    checkpoints/last.json                               names the last whole set; written last

A reader sees the old set or the new one, never a mixture, whenever a writer was killed. The files
are those of torch's distributed checkpoint, which another number of processes can read.
"""

import hashlib
import json
import shutil
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, cast

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch import Tensor
from torch.distributed.checkpoint import (
    CheckpointException,
    HuggingFaceStorageReader,
    HuggingFaceStorageWriter,
)

from chainrule.training import checkpoint
from chainrule.training.distributed.lost import answered, of_processes
from chainrule.training.files import WriteError, read, replace, writing
from chainrule.training.schema import parsed

MANIFEST = "last.json"


def save(
    folder: Path, tensors: Mapping[str, Tensor], numbers: Mapping[str, Any], group: Any
) -> "Future[Any]":
    """Begin to write a set; the first process publishes it when all shards are on the disk.

    Args:
        folder: of the checkpoints.
        tensors: by name; those of a sharded model are parts of larger ones.
        numbers: everything that is not a tensor.
        group: a process group of its own for the thread that writes.
    """
    copied = {key: t.detach().clone() for key, t in tensors.items()}
    text = json.dumps(numbers)
    first = dist.get_rank() == 0
    box = [cleared(folder, numbers) if first else ""]
    with answered():
        dist.broadcast_object_list(box)
    name = box[0]
    writer = HuggingFaceStorageWriter(str(folder / name), save_distributed=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begun = dcp.async_save(copied, storage_writer=writer, process_group=group)
    written = cast("Future[Any]", begun)
    return followed(written, partial(publish, folder, name, text)) if first else written


def cleared(folder: Path, numbers: Mapping[str, Any]) -> str:
    """The name of a new set, which is not that of the published one; nothing is there yet."""
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    name = f"set-{numbers['epoch']}-{numbers['step']}"
    if manifest(folder).get("folder") == name:
        name += "-again"
    shutil.rmtree(folder / name, ignore_errors=True)
    return name


def followed(done: "Future[Any]", action: Callable[[], None]) -> "Future[Any]":
    """A future that is done when the action is done too; a callback alone may end later."""
    both: Future[Any] = Future()

    def act(first: "Future[Any]") -> None:
        try:
            first.result()
            action()
            both.set_result(None)
        except BaseException as error:
            both.set_exception(error)

    done.add_done_callback(act)
    return both


def settled(pending: "Future[Any]") -> None:
    """Wait until a set is on the disk; a fault of any process is told in one sentence.

    A process that was lost meanwhile is no fault of the disk: a restart may help.
    """
    try:
        with answered(beside=True):
            pending.result()
    except CheckpointException as error:
        faults = [fault for fault, _ in error.failures.values()] or [error]
        for fault in filter(of_processes, faults):
            with answered():
                raise fault from error
        raise WriteError(f"cannot write the checkpoint: {faults[0]}") from error
    except OSError as error:
        raise WriteError(f"cannot write the checkpoint: {error}") from error


def publish(folder: Path, name: str, numbers: str) -> None:
    """Name a whole set in the manifest, then remove what it replaces."""
    files = {path.name: digest(path) for path in sorted((folder / name).iterdir())}
    state = {"folder": name, "files": files, "state": json.loads(numbers)}
    replace(folder / MANIFEST, json.dumps(state).encode())
    for old in folder.glob("set-*"):
        if old.name != name:
            shutil.rmtree(old, ignore_errors=True)
    with suppress(OSError):
        (folder / "last.safetensors").unlink()


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def manifest(folder: Path) -> dict[str, Any]:
    """What the manifest says; empty where there is none."""
    path = folder / MANIFEST
    if not path.is_file():
        return {}
    found = parsed(read(path), path, strict=False)
    names = ("folder", "files", "state")
    if not isinstance(found, dict) or not all(name in found for name in names):
        raise checkpoint.damaged(path, "is damaged: it names no set of files")
    return found


def numbers(folder: Path) -> dict[str, Any]:
    """The state that the manifest holds beside the tensors."""
    return manifest(folder)["state"]


def remove(folder: Path) -> None:
    """Remove a set that an ordinary checkpoint has replaced."""
    (folder / MANIFEST).unlink(missing_ok=True)
    for old in folder.glob("set-*"):
        shutil.rmtree(old, ignore_errors=True)


def verified(folder: Path) -> Path:
    """The folder of the last set, whose files must be those that were written."""
    found = manifest(folder)
    path = folder / Path(str(found["folder"])).name
    for name, expected in found["files"].items():
        file = path / Path(name).name
        if not file.is_file() or digest(file) != expected:
            raise checkpoint.damaged(file, "is missing or damaged")
    return path


def shapes(path: Path) -> dict[str, tuple[torch.Size, torch.dtype]]:
    """Name, shape and type of every tensor of a set."""
    entries = HuggingFaceStorageReader(str(path)).read_metadata().state_dict_metadata
    return {name: (entry.size, entry.properties.dtype) for name, entry in entries.items()}  # type: ignore[union-attr]


def load(path: Path, targets: dict[str, Tensor], alone: bool = False) -> dict[str, Tensor]:
    """Fill the targets, whole tensors or parts of them, from a set."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dcp.load(targets, storage_reader=HuggingFaceStorageReader(str(path)), no_dist=alone)
    return targets


def whole(folder: Path) -> dict[str, Tensor]:
    """Every tensor of the last set, put together: the ordinary form of a checkpoint."""
    path = verified(folder)
    targets = {name: torch.empty(size, dtype=kind) for name, (size, kind) in shapes(path).items()}
    return load(path, targets, alone=True)
