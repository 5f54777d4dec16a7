"""A run is stopped from outside by asking its process, and no other process is ever asked."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from chainrule.errors import InputError
from chainrule.runs.interrupt import interrupt
from chainrule.runs.lock import LOCK, Signature, busy
from chainrule.runs.run import Run

pytestmark = pytest.mark.skipif(
    not hasattr(signal, "pidfd_send_signal"), reason="needs Linux's descriptors of processes"
)
HOLD = """
import sys, time
from pathlib import Path
from chainrule.runs.lock import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


@contextmanager
def process(*words: str) -> Iterator["subprocess.Popen[str]"]:
    with subprocess.Popen(
        [sys.executable, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    ) as started:
        try:
            yield started
        finally:
            started.kill()


def test_a_training_in_a_shell_saves_and_stops(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    words = ("train", "moons-mlp", "--epochs", "100000", "--no-pictures", "--out", str(folder))
    with process("-m", "chainrule", *words) as shell:
        while not (folder / "metrics.jsonl").exists() or not Run.load(folder).history:
            assert shell.poll() is None
            time.sleep(0.05)
        interrupt(folder)
        _, said = shell.communicate(timeout=60)
    assert shell.returncode == 130
    assert "saved in epoch" in said
    assert list((folder / "checkpoints").iterdir())
    assert Run.load(folder).history
    with pytest.raises(InputError, match="run is not being trained now"):
        interrupt(folder)


def test_a_program_of_somebodys_own_is_not_interrupted(tmp_path: Path) -> None:
    with process("-c", HOLD, str(tmp_path)) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(InputError, match="stop it in the page, notebook or program"):
            interrupt(tmp_path)
        assert other.poll() is None and busy(tmp_path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"host": "elsewhere"}, "is being trained on elsewhere; stop it there"),
        ({"process": 2**30}, "has ended"),
        ({"process": 2**80}, "has ended"),
        ({"process": -1}, "has ended"),
        ({"process": "x"}, "is not being trained now"),
    ],
)
def test_a_forged_lock_interrupts_nobody(
    tmp_path: Path, change: dict[str, object], words: str
) -> None:
    with process("-c", HOLD, str(tmp_path)) as other:
        assert other.stdout is not None
        other.stdout.readline()
        forged = {"process": other.pid, "host": socket.gethostname(), "since": ""} | change
        (tmp_path / LOCK).write_text(json.dumps(forged))  # the same file, so it is still locked
        with pytest.raises(InputError, match=words):
            interrupt(tmp_path)


def test_another_chainrule_process_is_not_interrupted(tmp_path: Path) -> None:
    runs = [tmp_path / "held", tmp_path / "busy"]
    runs[0].mkdir()
    words = ("train", "moons-mlp", "--epochs", "100000", "--no-pictures", "--out", str(runs[1]))
    with process("-c", HOLD, str(runs[0])) as holder, process("-m", "chainrule", *words) as shell:
        assert holder.stdout is not None
        holder.stdout.readline()
        while not busy(runs[1]):
            assert shell.poll() is None
            time.sleep(0.05)
        forged = Signature(process=shell.pid, host=socket.gethostname(), since="")
        (runs[0] / LOCK).write_text(json.dumps(forged))
        with pytest.raises(InputError, match="is not being trained by a `chainrule` command"):
            interrupt(runs[0])
        assert busy(runs[1])
