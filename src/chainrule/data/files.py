"""Reading files: bounded in size, and an error says what the system said.

A file that cannot be read (no permission, a folder, a broken disk) is never called damaged.
Compressed content is unpacked up to a limit, so that a small file cannot fill the memory.
"""

import gzip
import json
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import IO, Any, Protocol, runtime_checkable

from chainrule.errors import InputError

MAX_FILE = 2**30  # bytes of a file that is read into memory
MAX_UNPACKED = 2**27  # bytes of compressed content in memory
MAX_ARCHIVE = 2**33  # bytes of all that an archive holds
MAX_REASON = 200  # characters of what a library says
CHUNK = 2**20
UNZIPPABLE = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


@runtime_checkable
class Stream(Protocol):
    """Bytes, read part by part."""

    def read(self, size: int, /) -> bytes: ...


class FileError(InputError):
    """A file that cannot be used; the message names it."""


def unreadable(path: str | Path, error: OSError | ValueError) -> FileError:
    """The error for a file that the system does not let us read."""
    if isinstance(error, FileNotFoundError):
        return FileError(f"there is no file {path}")
    if isinstance(error, IsADirectoryError):
        return FileError(f"{path} is a folder; expected a file")
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return FileError(f"{path} cannot be read: {reason}")


def damaged(path: str | Path, why: str) -> FileError:
    """The error for a published file with a wrong structure."""
    return FileError(f"{path} is damaged ({why}); delete it to download it again")


@contextmanager
def reading(path: str | Path) -> Iterator[None]:
    """What goes wrong within is an unreadable or a damaged file."""
    try:
        yield
    except FileError:
        raise
    except OSError as error:  # a damaged archive raises it too, but without a number
        raise unreadable(path, error) if error.errno else damaged(path, str(error)) from error
    except (
        ArithmeticError,
        EOFError,
        LookupError,
        MemoryError,
        RuntimeError,
        SyntaxError,
        TypeError,
        ValueError,
        struct.error,
        tarfile.TarError,
        zipfile.BadZipFile,
        zlib.error,
    ) as error:
        first_line = str(error).partition("\n")[0][:MAX_REASON]
        raise damaged(path, first_line or type(error).__name__) from error


@contextmanager
def errors_naming(path: str | Path) -> Iterator[None]:
    """Prefix errors within with the path of the file."""
    try:
        yield
    except FileError:
        raise
    except InputError as error:
        raise FileError(f"{path}: {error}") from error


def exists(path: Path) -> bool:
    """Whether there is a file; a folder that may not be searched is an error."""
    try:
        return path.is_file()
    except OSError as error:
        raise unreadable(path, error) from error


@contextmanager
def opened(path: str | Path) -> Iterator[IO[bytes]]:
    """The file as a stream of bytes."""
    try:
        stream = Path(path).open("rb")  # noqa: SIM115  (errors within are the caller's)
    except (OSError, ValueError) as error:  # a ValueError: no name of a file at all
        raise unreadable(path, error) from error
    with stream:
        yield stream


def read_bytes(path: str | Path, limit: int = MAX_FILE) -> bytes:
    """The content of a file."""
    with opened(path) as stream:
        try:
            return at_most(stream, limit)
        except OSError as error:
            raise unreadable(path, error) from error
        except TooLargeError as error:
            raise FileError(f"{path}: {error}") from error


class TooLargeError(InputError):
    """A stream holds more than it may."""


def at_most(stream: Stream, limit: int) -> bytes:
    """All bytes of a stream, if there are no more than `limit`."""
    parts, size = [], 0
    while part := stream.read(CHUNK):
        size += len(part)
        if size > limit:
            raise TooLargeError(f"expected at most {limit:,} bytes, got more; use a smaller file")
        parts.append(part)
    return b"".join(parts)


def gunzip(path: str | Path, limit: int = MAX_UNPACKED) -> bytes:
    """The unpacked content of a gzipped file."""
    packed = read_bytes(path)
    with reading(path), gzip.GzipFile(fileobj=BytesIO(packed)) as stream:
        return at_most(stream, limit)


def unzip(archive: zipfile.ZipFile, name: str, limit: int = MAX_UNPACKED) -> bytes:
    """One file of a zip archive, stored or deflated."""
    member = archive.getinfo(name)
    if member.compress_type not in UNZIPPABLE or member.flag_bits & 1:
        raise ValueError(f"expected {name} deflated and not encrypted")
    with archive.open(member) as stream:
        return at_most(stream, limit)


class Limited:
    """A stream that ends with an error after `left` bytes."""

    def __init__(self, stream: Stream, left: int):
        self.stream, self.left = stream, left

    def read(self, size: int, /) -> bytes:
        content = self.stream.read(min(size, CHUNK))
        self.left -= len(content)
        if self.left < 0:
            raise TooLargeError("the archive unpacks to more than is published")
        return content


@contextmanager
def opened_tar(path: Path, limit: int = MAX_ARCHIVE) -> Iterator[tarfile.TarFile]:
    """A .tar.gz as a stream of members, each of which is read when it comes."""
    with opened(path) as packed, reading(path), gzip.GzipFile(fileobj=packed) as stream:
        source: Any = Limited(stream, limit)
        with tarfile.open(fileobj=source, mode="r|") as archive:
            yield archive


def read_member(archive: tarfile.TarFile, member: tarfile.TarInfo, limit: int) -> bytes:
    """One plain file of a tar archive."""
    stream = archive.extractfile(member) if member.isreg() and not member.issparse() else None
    if stream is None or member.size > limit:
        raise ValueError(f"expected {member.name} to be a file of at most {limit:,} bytes")
    return at_most(stream, limit)


def parse_json(text: str | bytes) -> Any:
    """The value of a JSON text; one that is too deeply nested is a ValueError like any other."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
