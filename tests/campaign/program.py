"""The program as a user calls it, in a child process, and a judgment of how it ended."""

import os
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from campaign.attempt import Found, Outcome
from campaign.isolation import Ended, isolated

FAULTS = ("an unexpected fault", "Traceback (most recent call last)")
OFFLINE = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")


@dataclass(frozen=True)
class Call:
    """One call of the program: its words, how it ended, and what it said."""

    words: tuple[str, ...]
    ended: Ended
    out: str
    err: str

    @property
    def sentence(self) -> str:
        """The last line that the program said about itself."""
        lines = [line for line in self.err.splitlines() if line.startswith("chainrule: ")]
        return lines[-1] if lines else ""

    def __str__(self) -> str:
        said = " ".join(self.err.split())[-300:]
        end = f"signal {self.ended.signal}" if self.ended.signal else f"exit {self.ended.value}"
        return f"chainrule {shlex.join(self.words)} → {end}: {said}"


def called(
    words: list[str],
    folder: Path,
    before: Callable[[], object] | None = None,
    limit: float = 60.0,
) -> Call:
    """Call the program in a folder.

    Args:
        words: of the command line.
        folder: the working directory.
        before: done in the child first, such as setting a trap.
        limit: seconds until it counts as hung.
    """
    name = f".said-{os.urandom(6).hex()}"
    paths = [folder / f"{name}.{stream}" for stream in ("out", "err")]

    def action() -> int:
        os.chdir(folder)
        os.environ |= dict.fromkeys(OFFLINE, "http://127.0.0.1:9")
        for path, number, stream in zip(paths, (1, 2), ("stdout", "stderr"), strict=True):
            file = path.open("w", encoding="utf-8")
            os.dup2(file.fileno(), number)
            setattr(sys, stream, file)
        sys.argv = ["chainrule", *words]
        if before:
            before()
        return main()

    ended = isolated(action, limit)
    said = [path.read_text("utf-8", "replace") if path.exists() else "" for path in paths]
    for path in paths:
        path.unlink(missing_ok=True)
    return Call(tuple(words), ended, *said)


def main() -> int:
    """The program's own entry; --help leaves by itself."""
    from chainrule.cli.main import main as enter

    try:
        code = enter()
    except SystemExit as left:
        code = int(left.code or 0)
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def judged(call: Call) -> Found:
    """Whether a call that nobody disturbed ended as every call must."""
    ended = call.ended
    if ended.hung:
        return Found(Outcome.HANG, str(call))
    if ended.signal or ended.value is None:
        return Found(Outcome.CRASH, str(call))
    if ended.orphans:
        return Found(Outcome.ORPHAN, str(call))
    if not isinstance(ended.value, int) or any(fault in call.err for fault in FAULTS):
        return Found(Outcome.RAW, f"{call} {ended.value!r}")
    if ended.value in (0, 1):  # 1: a claim does not hold
        return Found(Outcome.RIGHT)
    if ended.value == 2 and call.sentence:
        return Found(Outcome.REFUSED, call.sentence)
    return Found(Outcome.RAW, f"no sentence: {call}")


def preload() -> None:
    """Import in the parent what children would import again and again."""
    import chainrule.api
    import chainrule.cli.evaluate
    import chainrule.cli.generate
    import chainrule.cli.lab
    import chainrule.cli.list
    import chainrule.cli.lr
    import chainrule.cli.predict
    import chainrule.cli.progress
    import chainrule.cli.resume
    import chainrule.cli.runs
    import chainrule.cli.show
    import chainrule.cli.train
    import chainrule.cli.tune
    import chainrule.plots.curves
    import chainrule.runs.execute
    import chainrule.tuning.search  # noqa: F401
    from chainrule.registry import entries

    for entry in entries("recipes"):
        entry.load()
