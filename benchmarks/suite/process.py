"""The parent's side of a contender: start its process, tell it what to do, read what it answers."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
POOLS = ("OMP", "MKL", "OPENBLAS", "NUMEXPR")  # libraries that start threads of their own
LAST = 2000  # letters of what a failed process wrote


class Failed(Exception):  # noqa: N818  a state of a contender, which the race goes on without
    """A contender could not do what it was told; the message says why."""


class Process:
    """One contender in a process of its own."""

    def __init__(self, *words: str, threads: int, environment: Mapping[str, str], source: Path):
        self.scratch = tempfile.TemporaryDirectory()  # of whatever it writes
        self.log = tempfile.TemporaryFile()  # noqa: SIM115  closed when the process is ended
        self.child = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.suite.worker", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            cwd=ROOT,
            env=os.environ
            | surroundings(threads, source)
            | {"TMPDIR": self.scratch.name}
            | dict(environment),
            text=True,
            bufsize=1,
        )

    def answer(self) -> dict[str, Any]:
        """The next line that the process writes."""
        assert self.child.stdout is not None
        line = self.child.stdout.readline()
        if not line:
            raise Failed(f"its process ended: {self.last_words()}")
        found = json.loads(line)
        if "error" in found:
            raise Failed(found["error"])
        return found

    def told(self, order: str) -> dict[str, Any]:
        """The answer to an order."""
        assert self.child.stdin is not None
        try:
            self.child.stdin.write(order + "\n")
            self.child.stdin.flush()
        except OSError:
            raise Failed(f"its process ended: {self.last_words()}") from None
        return self.answer()

    def stop(self) -> dict[str, Any]:
        """Its last answer."""
        try:
            return self.told("stop")
        finally:
            self.kill()

    def kill(self) -> None:
        self.child.kill()
        self.child.wait()
        for stream in (self.child.stdin, self.child.stdout):
            with suppress(OSError):  # what is left in the pipe has no reader
                if stream is not None:
                    stream.close()
        self.log.close()
        self.scratch.cleanup()

    def last_words(self) -> str:
        """The last line of what the process wrote beside its answers."""
        self.log.seek(0)
        lines = self.log.read()[-LAST:].decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else f"exit code {self.child.poll()}"


def surroundings(threads: int, source: Path) -> dict[str, str]:
    """The same number of threads for every library, and the sources to take."""
    pools = {f"{name}_NUM_THREADS": str(threads) for name in POOLS}
    return pools | {
        "PYTHONPATH": os.pathsep.join([str(source), str(ROOT)]),
        "XLA_FLAGS": f"--xla_cpu_multi_thread_eigen={str(threads > 1).lower()}",
        "TORCHINDUCTOR_CACHE_DIR": f"{tempfile.gettempdir()}/torchinductor_bench",
        "HF_HUB_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }
