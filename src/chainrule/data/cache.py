"""Files of data sets: the data folder, downloads, and decoded copies of slow formats."""

import hashlib
import os
import tempfile
import zlib
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import numpy as np
import pooch
from jaxtyping import UInt8

from chainrule.data.download import download
from chainrule.data.files import damaged as damaged
from chainrule.data.files import exists, unreadable
from chainrule.errors import InputError

CHECKSUM = 4  # bytes at the end of a decoded copy: CRC-32, quick, and finds every flipped bit
MAX_HEADER = 10_000  # bytes of it that hold shape and type


def user_cache() -> Path:
    """The platform's cache folder for this library."""
    try:
        return Path(pooch.os_cache("chainrule")).expanduser()
    except RuntimeError as error:
        raise _homeless() from error


def folder(explicit: Path | None = None) -> Path:
    """The data folder: the given one, else $CHAINRULE_DATA, else the user's cache."""
    chosen = explicit or os.environ.get("CHAINRULE_DATA") or user_cache()
    try:
        return Path(chosen).expanduser()
    except RuntimeError as error:
        raise _homeless() from error


def _homeless() -> InputError:
    return InputError("there is no home folder for data; set CHAINRULE_DATA to a writable folder")


def fetch(name: str, url: str, checksum: str | None = None, into: Path | None = None) -> Path:
    """The file `name` of the data folder, downloaded on first use.

    name: the path of the file within the data folder.
    url: where it is published.
    checksum: of the download, see `download`; None if the publisher gives none. A file that
        exists already is not compared with it; its reader checks its structure.
    into: the data folder; None for the default.
    """
    path = folder(into) / name
    if not exists(path):
        download(name, url, path, checksum)
    return path


def decoded(path: Path, decode: Callable[[Path], np.ndarray]) -> np.ndarray:
    """`decode(path)`, cached as .npy in the user's cache folder until the file changes.

    The checksum of a copy stands at its end; a copy that does not match is decoded anew.
    """
    try:
        status = path.stat()
    except OSError as error:
        raise unreadable(path, error) from error
    reader = f"{decode.__module__}.{decode.__qualname__}"
    key = f"{path.resolve()}|{status.st_size}|{status.st_mtime_ns}|{reader}"
    name = f"{hashlib.sha256(key.encode('utf-8', 'surrogateescape')).hexdigest()[:32]}.npy"
    try:
        copy = user_cache() / "decoded" / name
    except InputError:  # no home folder: nothing is cached
        return decode(path)
    array = _load(copy)
    if array is None:
        array = decode(path)
        _save(copy, array)
    return array


def crc(content: UInt8[np.ndarray, " bytes"]) -> bytes:
    return zlib.crc32(content.data).to_bytes(CHECKSUM, "little")


def _load(copy: Path) -> np.ndarray | None:
    """The array of a copy; None if there is none, or if it is not what was written."""
    try:
        content = np.fromfile(copy, np.uint8)
    except OSError:
        return None
    end = max(0, len(content) - CHECKSUM)
    if crc(content[:end]) != content[end:].tobytes():
        return None
    header = BytesIO(content[:MAX_HEADER].tobytes())
    np.lib.format.read_magic(header)
    shape, fortran_order, dtype = np.lib.format.read_array_header_1_0(header)
    values = content[header.tell() : end].view(dtype)
    return values.reshape(shape, order="F" if fortran_order else "C")


def _save(path: Path, array: np.ndarray) -> None:
    """Write a temporary file and rename it; if that fails, the next call decodes again."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".tmp", delete=False) as temporary:
            try:
                np.save(temporary, array, allow_pickle=False)
                temporary.flush()
                temporary.write(crc(np.fromfile(temporary.name, np.uint8)))
                temporary.close()
                Path(temporary.name).replace(path)
            finally:
                Path(temporary.name).unlink(missing_ok=True)
    except OSError:
        return
