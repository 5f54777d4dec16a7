"""Ask the process that trains in a run folder to save and stop, as Ctrl-C in its shell does.

What the lock file says is not trusted: only a process of this machine that was started as
`chainrule` and has that very lock file open is asked. A descriptor of the process is held while
this is verified, so the signal cannot reach another one that has taken its number meanwhile.
"""

import os
import signal
import socket
from contextlib import suppress
from pathlib import Path

from chainrule.errors import InputError
from chainrule.runs.lock import LOCK, busy, signature

PROGRAM = "chainrule"


def interrupt(folder: Path) -> None:
    """Ask the process that trains in the folder to save and stop; refused unless that is certain.

    Args:
        folder: of a run.
    """
    who = signature(folder)
    if who is None or not busy(folder):
        raise InputError(f"{folder.name} is not being trained now")
    if who["host"] != socket.gethostname():
        raise InputError(f"{folder.name} is being trained on {who['host']}; stop it there")
    if not hasattr(signal, "pidfd_send_signal"):
        raise InputError(f"{folder.name} can be stopped only by Ctrl-C in its shell on this system")
    process = who["process"]
    try:
        handle = os.pidfd_open(process)
    except (OSError, OverflowError):
        raise InputError(f"{folder.name}: process {process} has ended") from None
    try:
        if not (has_open(process, folder / LOCK) and is_program(process)):
            raise InputError(
                f"{folder.name} is not being trained by a `chainrule` command in a shell; "
                "stop it in the page, notebook or program that started it"
            )
        signal.pidfd_send_signal(handle, signal.SIGINT)
    finally:
        os.close(handle)


def has_open(process: int, path: Path) -> bool:
    """Whether the process has this very file open."""
    with suppress(OSError):  # it has ended, or belongs to somebody else
        wanted = path.stat()
        for entry in Path(f"/proc/{process}/fd").iterdir():
            with suppress(OSError):  # closed meanwhile
                if os.path.samestat(entry.stat(), wanted):
                    return True
    return False


def is_program(process: int) -> bool:
    """Whether it runs as `chainrule …` or `python -m chainrule …`."""
    try:
        words = Path(f"/proc/{process}/cmdline").read_text("utf-8", "replace").split("\0")
    except OSError:
        return False
    match words:
        case [_, "-m", module, *_]:
            return module.split(".")[0] == PROGRAM
        case [_, script, *_]:
            return Path(script).name == PROGRAM
    return False
