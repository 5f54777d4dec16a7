"""Files of data sets: the data folder, downloads, and decoded copies of slow formats."""

import hashlib
import json
import math
import os
import shutil
import tempfile
import zlib
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pooch
from jaxtyping import UInt8
from numpy.typing import DTypeLike

from chainrule.data.download import download
from chainrule.data.files import damaged as damaged
from chainrule.data.files import exists, unreadable
from chainrule.errors import InputError

CHECKSUM = 4  # bytes at the end of a decoded copy: CRC-32, quick, and finds every flipped bit
CHUNK = 2**24  # bytes that are read at once
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


class Mapped(NamedTuple):
    """An array that stays on the disk, and what was noted while it was made.

    array: read when it is used; changes stay in memory.
    notes: plain values.
    """

    array: np.ndarray
    notes: Any


def mapped(
    key: str,
    shape: tuple[int, ...],
    fill: Callable[[np.ndarray], Any],
    dtype: DTypeLike = np.uint8,
    instead: str = "choose a smaller `size`, or make room",
) -> Mapped:
    """An array on the disk: as cached under the key, or new and filled.

    A copy whose checksum does not match is made anew. Without a writable cache folder the array
    lives in a temporary file.

    key: whatever the content depends on.
    shape: of the array.
    fill: writes the content into an array of zeros and returns notes that JSON can hold.
    dtype: of its numbers.
    instead: what to do where the disk is too small.
    """
    name = hashlib.sha256(f"{key}|{shape}".encode("utf-8", "surrogateescape")).hexdigest()[:32]
    home, lasting = _home_of_maps()
    path = home / f"{name}.npy"
    found = _open_map(path, shape, dtype) if lasting else None
    if found is None:
        _check_room(path.parent, math.prod(shape) * np.dtype(dtype).itemsize, instead)
        found = _new_map(path, shape, fill, dtype)
        if not lasting:  # the open file stays until the array is no longer used
            for made in (path, path.with_suffix(".json")):
                made.unlink(missing_ok=True)
    return found


def _home_of_maps() -> tuple[Path, bool]:
    """The folder of mapped arrays, and whether it outlives this process."""
    try:
        home = user_cache() / "mapped"
        home.mkdir(parents=True, exist_ok=True)
        if os.access(home, os.W_OK):
            return home, True
    except (InputError, OSError):
        pass
    return Path(tempfile.gettempdir()), False


def _open_map(path: Path, shape: tuple[int, ...], dtype: DTypeLike) -> Mapped | None:
    """The array of a copy; None if there is none, or if it is not what was written."""
    try:
        said = json.loads(path.with_suffix(".json").read_text("utf-8"))
        array = np.lib.format.open_memmap(path, mode="c")
        same = array.shape == shape and array.dtype == dtype
        if same and said["checksum"] == _map_checksum(array, said["notes"]):
            return Mapped(array, said["notes"])
    except (OSError, ValueError, LookupError, TypeError):
        pass
    return None


def _check_room(folder: Path, size: int, instead: str) -> None:
    """Refuse an array that the disk cannot hold."""
    free = shutil.disk_usage(folder).free
    if size > free:
        raise InputError(
            f"the decoded data take {size / 2**30:.1f} GiB, and {folder} has "
            f"{free / 2**30:.1f} free; {instead}"
        )


def _new_map(
    path: Path, shape: tuple[int, ...], fill: Callable[[np.ndarray], Any], dtype: DTypeLike
) -> Mapped:
    """Fill a temporary file and rename it; its notes follow last, so that they vouch for it."""
    temporary = path.with_name(f"{path.stem}-{os.getpid()}.tmp")
    try:
        array = np.lib.format.open_memmap(temporary, "w+", dtype, shape)
        if hasattr(os, "posix_fallocate"):  # a full disk is an error here, and not a crash later
            with temporary.open("r+b") as file:
                os.posix_fallocate(file.fileno(), 0, temporary.stat().st_size)
        notes = fill(array)
        said = {"checksum": _map_checksum(array, notes), "notes": notes}
        array.flush()
        path.with_suffix(".json").unlink(missing_ok=True)
        temporary.replace(path)
        temporary.write_text(json.dumps(said), "utf-8")
        temporary.replace(path.with_suffix(".json"))
        return Mapped(np.lib.format.open_memmap(path, mode="c"), notes)
    except OSError as error:
        raise InputError(f"cannot write decoded data to {path.parent}: {error.strerror}") from None
    finally:
        temporary.unlink(missing_ok=True)


def _map_checksum(array: np.ndarray, notes: Any) -> int:
    """CRC-32 of the array and the notes, read part by part."""
    flat = array.reshape(-1).view(np.uint8)
    found = zlib.crc32(json.dumps(notes).encode())
    for start in range(0, len(flat), CHUNK):
        found = zlib.crc32(flat[start : start + CHUNK].data, found)
    return found


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
