"""A text larger than memory: its characters are numbered once, into a memory-mapped file.

The file holds one or two bytes per character and lies in the cache folder, with a checksum. Two
passes over the text make it: one finds the characters, the other numbers them.
"""

import gzip
import hashlib
import io
import zlib
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from chainrule.data.cache import mapped
from chainrule.data.files import opened, unreadable
from chainrule.data.splits import Split, Splits
from chainrule.data.text.vocabulary import SPECIAL, Vocabulary
from chainrule.errors import InputError

LONG = 2**26  # bytes; shorter texts are read into memory
HELD_OUT = 20  # validation and test are each one part in so many
MOST_HELD_OUT = 2**20  # characters of each
CHUNK = 2**22  # characters that are read at once
CODE_POINTS = 0x110000
GZIP = b"\x1f\x8b"
PACKED = 4  # bytes of text in one of a gzipped file, about


def text_files(path: str | Path) -> list[Path]:
    """The file, or the .txt files of a folder in the order of their names."""
    path = Path(path)
    if not path.is_dir():
        return [path]
    found = sorted(path.glob("*.txt"))
    if not found:
        raise InputError(f"{path} holds no .txt files; expected a text file, or a folder of them")
    return found


def is_long(paths: Sequence[Path]) -> bool:
    """Whether a text should stay on the disk."""
    try:
        sizes = [path.stat().st_size * (PACKED if path.suffix == ".gz" else 1) for path in paths]
        return sum(sizes) > LONG
    except (OSError, ValueError) as error:  # a ValueError: no name of a file at all
        raise unreadable(getattr(error, "filename", None) or paths[0], error) from error


def long_text(paths: Sequence[Path], context_length: int = 1) -> Splits:
    """The three splits of a long text: the training text is on the disk, the others in memory.

    paths: text files in UTF-8, which follow each other.
    context_length: characters that each split must be able to hold at least.
    """
    key = hashlib.sha256()
    for path in paths:
        status = path.stat()
        said = f"{path.absolute()}|{status.st_size}|{status.st_mtime_ns}|"
        key.update(said.encode("utf-8", "surrogateescape"))
    found = mapped(f"{key.hexdigest()}|characters", (1,), partial(survey, paths=paths)).notes
    length, held = found["length"], min(found["length"] // HELD_OUT, MOST_HELD_OUT)
    if held <= context_length:
        raise InputError(
            f"{paths[0]} has {length:,} characters; expected a validation split, {held:,} "
            f"characters, that exceeds `context_length` {context_length}"
        )
    vocabulary = Vocabulary((*SPECIAL[:2], *found["characters"]), "character")
    tokens = torch.from_numpy(
        mapped(
            f"{key.hexdigest()}|tokens",
            (length,),
            partial(number, paths=paths, vocabulary=vocabulary),
            token_type(len(vocabulary)),
            "make room there",
        ).array
    )
    ends = (length - 2 * held, length - held)
    train = Split(tokens[: ends[0] - 1], tokens[1 : ends[0]])
    validation, test = (shifted(tokens[a : a + held].long()) for a in ends)
    remarks = (
        f"{length:,} characters of {len(vocabulary) - 2:,} kinds are kept on the disk; validation "
        f"and test have {held:,} each",
    )
    return Splits(
        train,
        validation,
        test,
        vocabulary.tokens,
        vocabulary,
        remarks,
        fingerprint=found["checksum"],
    )


def shifted(tokens: Tensor) -> Split:
    """The tokens, and those that follow them."""
    return Split(tokens[:-1], tokens[1:])


def token_type(size: int) -> type[np.generic]:
    """The smallest type for so many tokens."""
    return np.uint8 if size <= 2**8 else np.int16 if size <= 2**15 else np.int32


def chunks(paths: Sequence[Path]) -> Iterator[str]:
    """The characters of all files, part by part, with every end of a line as a line feed."""
    for path in paths:
        with opened(path) as stream:
            packed = stream.read(len(GZIP)) == GZIP
            stream.seek(0)
            plain: Any = gzip.GzipFile(fileobj=stream) if packed else stream
            text = io.TextIOWrapper(plain, encoding="utf-8-sig", newline=None)
            try:
                while chunk := text.read(CHUNK):
                    yield chunk
            except UnicodeDecodeError:
                raise InputError(f"{path} is not a text file in UTF-8") from None
            except (gzip.BadGzipFile, EOFError, zlib.error):
                raise InputError(
                    f"{path} is a damaged gzip file; expected a text in UTF-8"
                ) from None
            except OSError as error:
                raise unreadable(path, error) from error


def codes(chunk: str) -> np.ndarray:
    """The code points of characters."""
    if chunk.isascii():
        return np.frombuffer(chunk.encode("ascii"), np.uint8)
    return np.frombuffer(chunk.encode("utf-32-le"), np.uint32)


def survey(array: np.ndarray, paths: Sequence[Path]) -> dict[str, Any]:
    """Which characters the text has, how many, and a checksum of them."""
    seen, length, checksum = np.zeros(CODE_POINTS, bool), 0, hashlib.blake2b(digest_size=32)
    for chunk in chunks(paths):
        seen[codes(chunk)] = True
        length += len(chunk)
        checksum.update(chunk.encode())
    if not seen.any():
        raise InputError(f"{paths[0]} is empty; expected text")
    return {
        "characters": [chr(code) for code in np.flatnonzero(seen)],
        "length": length,
        "checksum": checksum.hexdigest(),
    }


def number(array: np.ndarray, paths: Sequence[Path], vocabulary: Vocabulary) -> None:
    """Write the token of every character."""
    table, place = np.zeros(CODE_POINTS, array.dtype), 0
    for token, character in enumerate(vocabulary.tokens):
        if len(character) == 1:
            table[ord(character)] = token
    for chunk in chunks(paths):
        if place + len(chunk) > len(array):
            raise InputError(f"{paths[0]} grows while it is read; wait until it is complete")
        array[place : place + len(chunk)] = table[codes(chunk)]
        place += len(chunk)
