"""Downloads: bounded in size and time, verified, and put into their place whole or not at all."""

import hashlib
import os
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import IO

import pooch

from chainrule.data.files import FileError, TooLargeError, gunzip
from chainrule.errors import InputError

MAX_DOWNLOAD = 2 * 2**30  # bytes
DEADLINE = 3600.0  # seconds for one file, all attempts together
SILENCE = 30.0  # seconds without a byte
ATTEMPTS = 4
PAUSE = 1.0  # seconds after the first attempt that fails, and so many more after each


class ChecksumError(InputError):
    """A download that is not the published file."""


def download(name: str, url: str, path: Path, checksum: str | None) -> None:
    """Fetch a file that is not there yet.

    name: what messages call it.
    url: where it is published.
    path: its place; the folder is made.
    checksum: "md5:…" or "sha256:…" of the file, or "gunzip-sha256:…" of its unpacked content.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as part:
            try:
                failure = transfer(url, part)
                if failure is None:
                    os.fsync(part.fileno())
                    part.close()
                    verify(Path(part.name), checksum)
                    Path(part.name).replace(path)
            finally:
                Path(part.name).unlink(missing_ok=True)
    except OSError as error:
        raise InputError(
            f"cannot write {path} ({error.strerror or type(error).__name__}); "
            "set CHAINRULE_DATA to a writable folder, or free some space"
        ) from error
    except ChecksumError as error:
        raise InputError(
            f"the download of {name} was refused because it is not the published file "
            f"({error}); try again later, or put the right file at {path}"
        ) from error
    if failure is not None:
        raise InputError(
            f"{name} could not be fetched from {url} ({failure}); "
            f"check the network, or download it yourself and put it at {path}"
        )


def transfer(url: str, part: IO[bytes]) -> str | None:
    """Write what the address serves; the reason if it serves nothing usable in time.

    A server may send byte after byte and never end, so the clock does not wait for it: the transfer
    runs in a thread of its own, which ends with the program at the latest.
    """
    ended: list[str | BaseException | None] = []

    def work() -> None:
        try:
            ended.append(attempts(url, part))
        except BaseException as error:  # raised in the caller's thread
            ended.append(error)

    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    worker.join(DEADLINE)
    if not ended:
        return f"it took more than {DEADLINE:g} seconds"
    if isinstance(ended[0], BaseException):
        raise ended[0]
    return ended[0]


def attempts(url: str, part: IO[bytes]) -> str | None:
    """Try again after a failure of the network; the reason if the last attempt fails too."""
    from requests import RequestException  # kept here: only a download needs it

    fetch = pooch.HTTPDownloader(progressbar=sys.stderr.isatty(), timeout=SILENCE)
    reason = None
    for number in range(ATTEMPTS):
        time.sleep(number * PAUSE)
        part.seek(0)
        part.truncate()
        try:
            fetch(url, Bounded(part), None)
            return None
        except TooLargeError as error:
            return str(error)
        except (RequestException, ValueError) as error:  # a ValueError: no sense in a header
            reason = type(error).__name__
    return reason


class Bounded:
    """A file that takes no more than MAX_DOWNLOAD bytes."""

    def __init__(self, part: IO[bytes]):
        self.part, self.size = part, 0

    def write(self, content: bytes) -> None:
        self.size += len(content)
        if self.size > MAX_DOWNLOAD:
            raise TooLargeError(f"it is larger than {MAX_DOWNLOAD:,} bytes")
        self.part.write(content)

    def flush(self) -> None:
        self.part.flush()


def verify(path: Path, checksum: str | None) -> None:
    """Refuse a file with another checksum."""
    kind, _, wanted = (checksum or "").rpartition(":")
    if kind and digest(path, kind) != wanted:
        raise ChecksumError(f"its checksum is not {checksum}")


def digest(path: Path, kind: str) -> str:
    """The checksum of a file, or of what it unpacks to."""
    if kind != "gunzip-sha256":
        return pooch.file_hash(path, kind)
    try:
        return hashlib.sha256(gunzip(path)).hexdigest()
    except FileError:
        return "no gzipped file"
