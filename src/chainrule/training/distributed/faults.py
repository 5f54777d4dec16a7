"""Faults of several processes: one of them tells the user, in one sentence."""

import json
import os
import time
from pathlib import Path

from chainrule.training.distributed.group import SPEAKERS

FILE = "TORCHELASTIC_ERROR_FILE"  # names the file in which torchrun looks for the fault
NOTE = "CHAINRULE_FAULT"  # names the file in which a launched process leaves its fault
LOST = 75  # exit code of a process that has lost another (EX_TEMPFAIL): a restart may help
REASON = ".lost"  # ends the name of a file in which it says how, where nobody else says why
PATIENCE = 2.0  # seconds in which a process that ends says why


def told(line: str, code: int, lost: bool) -> tuple[int, str]:
    """The exit code of a process with a fault, and what it says unless another one does.

    A process that the launcher has started leaves a note and ends well: it is not worth a restart.
    """
    note = os.environ.get(NOTE)
    if note is None:
        speaker = SPEAKERS[0].speaks() if SPEAKERS else os.environ.get("RANK") == "0"
        if file := os.environ.get(FILE):
            told = {"message": line, "extraInfo": {"timestamp": str(int(time.time()))}}
            Path(file).write_text(json.dumps({"message": told}), encoding="utf-8")
        return LOST if lost else code, line if speaker else ""
    if lost:
        if noted(Path(note)):
            return 0, ""
        Path(f"{note}{REASON}").write_text(line, encoding="utf-8")
        return LOST, ""
    if SPEAKERS:
        SPEAKERS[0].speaks()  # those that wait for this process end
    partial = Path(f"{note}.{os.getpid()}")
    partial.write_text(f"{code} {line}", encoding="utf-8")
    try:
        os.link(partial, note)  # the first one stays
    except FileExistsError:
        pass
    finally:
        partial.unlink()
    return 0, ""


def noted(note: Path) -> bool:
    """Whether the lost process says why it has ended, within a moment."""
    end = time.monotonic() + PATIENCE
    while not note.exists() and time.monotonic() < end:
        time.sleep(0.05)
    return note.exists()
