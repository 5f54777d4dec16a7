"""Standard streams that no encoding, closed pipe or full disk can break.

Printing never stops the work: a run trains on when the reader of its output has left.
"""

import codecs
import io
import os
import shutil
import sys
from typing import TextIO

PLAIN = "chainrule.plain"
NARROWEST = 40  # columns: in very few, tyro wraps the help of the flags without end
SIGNS = {"→": "->", "↦": "->", "–": "-", "…": "...", "±": "+-", "×": "x", "·": ".", "−": "-"}
SIGNS |= {"≤": "<=", "≥": ">=", "✓": "yes", "✗": "no", "²": "^2", "“": '"', "”": '"', "’": "'"}
SIGNS |= dict.fromkeys("─━═╌╴╶╸╺", "-") | dict.fromkeys("│┃║", "|") | dict.fromkeys("╭╮╰╯┌┐└┘", "+")


class Lenient(io.FileIO):
    """A file that takes every byte; what the system refuses is dropped, and the reason kept."""

    lost: OSError | None = None

    def write(self, data: "bytes | bytearray | memoryview") -> int:  # type: ignore[override]
        try:
            return super().write(data)
        except OSError as error:
            self.lost = error
            return len(data)


def plain(error: UnicodeError) -> tuple[str, int]:
    """What stands for signs that the encoding of the terminal does not have."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    return "".join(SIGNS.get(sign, "?") for sign in text), error.end


codecs.register_error(PLAIN, plain)


def lenient(stream: TextIO | None) -> io.TextIOWrapper:
    """The same stream, which takes every sign and never fails; nothing where there is none."""
    if stream is None:  # closed by whoever started the program
        return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123
    buffer = io.BufferedWriter(Lenient(stream.fileno(), "w", closefd=False))  # type: ignore[type-var]
    lines = bool(stream.line_buffering)
    return io.TextIOWrapper(buffer, stream.encoding, errors=PLAIN, line_buffering=lines)


def secure() -> None:
    """Make standard output and error lenient, and wide enough, for the rest of the program."""
    sys.stdout, sys.stderr = lenient(sys.stdout), lenient(sys.stderr)
    if shutil.get_terminal_size().columns < NARROWEST:
        os.environ["COLUMNS"] = str(NARROWEST)


def lost_output() -> OSError | None:
    """Why standard output was not written whole, unless its reader left on purpose."""
    sys.stdout.flush()
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    lost = raw.lost if isinstance(raw, Lenient) else None
    return None if isinstance(lost, BrokenPipeError) else lost
