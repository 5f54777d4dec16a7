"""Files of data sets: the data folder, downloads, and decoded copies of slow formats."""

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pooch

from chainrule.errors import InputError


def user_cache() -> Path:
    """The platform's cache folder for this library."""
    return Path(pooch.os_cache("chainrule"))


def folder(explicit: Path | None = None) -> Path:
    """The data folder: the given one, else $CHAINRULE_DATA, else the user's cache."""
    chosen = explicit or os.environ.get("CHAINRULE_DATA") or user_cache()
    return Path(chosen).expanduser()


def fetch(name: str, url: str, checksum: str | None = None, into: Path | None = None) -> Path:
    """The file `name` of the data folder, downloaded on first use.

    name: the path of the file within the data folder.
    url: where it is published.
    checksum: "md5:…" or "sha256:…" of the download; None if the publisher gives none. A file that
        exists already is not compared with it; its reader checks its structure.
    into: the data folder; None for the default.
    """
    path = folder(into) / name
    if path.is_file():
        return path
    from requests import RequestException  # kept here: only a download needs it

    pooch.get_logger().setLevel("WARNING")
    files = pooch.create(
        path.parent,
        base_url="",
        registry={path.name: checksum},
        urls={path.name: url},
        retry_if_failed=3,
    )
    try:
        files.fetch(path.name, progressbar=sys.stderr.isatty())
    except RequestException as error:
        raise InputError(
            f"{name} could not be fetched from {url} ({type(error).__name__}); "
            f"check the network, or download it yourself and put it at {path}"
        ) from error
    except ValueError as error:
        raise InputError(
            f"the download of {name} was refused because it is not the published file "
            f"(its checksum is not {checksum}); try again later, or put the right file at {path}"
        ) from error
    except OSError as error:
        raise InputError(
            f"cannot write {path} ({error.strerror or type(error).__name__}); "
            "set CHAINRULE_DATA to a writable folder, or free some space"
        ) from error
    return path


def damaged(path: Path, why: str) -> InputError:
    """The error for a file with a wrong structure."""
    return InputError(f"{path} is damaged ({why}); delete it to download it again")


def decoded(path: Path, decode: Callable[[Path], np.ndarray]) -> np.ndarray:
    """`decode(path)`, cached as .npy in the user's cache folder until the file changes."""
    status = path.stat()
    reader = f"{decode.__module__}.{decode.__qualname__}"
    key = f"{path.resolve()}|{status.st_size}|{status.st_mtime_ns}|{reader}"
    copy = user_cache() / "decoded" / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.npy"
    try:
        return np.load(copy, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        array = decode(path)
        _save(copy, array)
        return array


def _save(path: Path, array: np.ndarray) -> None:
    """Write a temporary file and rename it; if that fails, the next call decodes again."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".tmp", delete=False) as temporary:
            try:
                np.save(temporary, array, allow_pickle=False)
                temporary.close()
                Path(temporary.name).replace(path)
            finally:
                Path(temporary.name).unlink(missing_ok=True)
    except OSError:
        return
