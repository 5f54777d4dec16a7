"""Files that are written whole or not at all, and the sentence where they cannot be written."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from chainrule.errors import InputError

PART = re.compile(r"\..+\.(json|jsonl|safetensors|txt|png)(\.\w+)?\.part")


class WriteError(InputError):
    """The system refuses to write: a full disk, a missing permission, a folder taken away."""


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn the system's refusal to write a file into one sentence."""
    try:
        yield
    except OSError as error:
        raise WriteError(f"cannot write {path}: {reason(error)}") from None


def reason(error: OSError) -> str:
    """What the system says, in lower case."""
    said = error.strerror or str(error)
    return said[:1].lower() + said[1:]


def replace(path: Path, content: bytes) -> None:
    """Write beside the target, flush to the disk, rename over it, flush the folder.

    A reader sees the old file or the new one, never half of one, whenever the writer was killed.
    The folder must exist: one that was taken away must not come back with a single file in it.
    """
    temporary = path.with_name(f".{path.name}.{uuid4().hex}.part")
    with writing(path):
        try:
            with temporary.open("xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
            flush(path.parent)
        finally:
            temporary.unlink(missing_ok=True)


def flush(folder: Path) -> None:
    """Write the names in a folder to the disk."""
    if os.name != "posix":  # elsewhere a folder cannot be opened
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def leftovers(folder: Path) -> Iterator[Path]:
    """Files that a killed process was writing."""
    return (path for path in folder.rglob(".*.part") if PART.fullmatch(path.name))


def read(path: Path) -> bytes:
    """The bytes of a file."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {reason(error)}") from None
