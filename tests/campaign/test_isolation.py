"""The harness itself: it sees crashes, hangs, orphans, costs, kills at every touch, and changes."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import os, signal, subprocess, sys, time
from campaign.isolation import isolated

def leave():
    subprocess.Popen(["sleep", "30"])

crash = isolated(lambda: os.kill(os.getpid(), signal.SIGSEGV))
hang = isolated(lambda: time.sleep(30), limit=0.2)
orphan = isolated(leave)
costly = isolated(lambda: len(bytearray(os.urandom(1 << 20) * 64)))
greedy = isolated(lambda: len(bytearray(1 << 40)))
right = isolated(lambda: "value")
assert crash.signal == signal.SIGSEGV and crash.value is None
assert hang.hung and not right.hung
assert orphan.orphans and not right.orphans
assert costly.grown > 64 * 2**20 and right.grown < 32 * 2**20
assert isinstance(greedy.value, MemoryError)
assert right.value == "value"
"""
TRAPPED = """
import os, sys
from pathlib import Path
from campaign.traps import Trap, die, failing
folder = Path(sys.argv[1])
def write(name):
    with (folder / ".part").open("wb") as file:
        file.write(b"x")
        os.fsync(file.fileno())
    (folder / ".part").replace(folder / name)
Trap(folder, sys.argv[2], 2, die if sys.argv[3] == "die" else failing(int(sys.argv[3]))).set()
write("first")
write("second")
"""


def python(code: str, *words: str) -> subprocess.CompletedProcess[str]:
    path = f"{Path(__file__).parents[1]}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    return subprocess.run(
        [sys.executable, "-c", code, *words],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def test_ends_of_a_child_are_told_apart() -> None:
    done = python(SCRIPT)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("kind", ["open", "rename", "fsync"])
def test_a_trap_springs_at_its_touch(kind: str, tmp_path: Path) -> None:
    killed = python(TRAPPED, str(tmp_path), kind, "die")
    assert killed.returncode == -9
    assert (tmp_path / "first").exists() and not (tmp_path / "second").exists()
    failed = python(TRAPPED, str(tmp_path), kind, "28")
    assert "No space left on device" in failed.stderr


def test_every_mutation_changes_and_repeats() -> None:
    from campaign import mutations

    content = b'{"a": [1, 2, {"b": "c"}], "d": null}'
    for change in (mutations.changed_bytes, mutations.changed_json, mutations.changed_lines):
        made = [change(content, random.Random(seed)) for seed in range(40)]
        assert made == [change(content, random.Random(seed)) for seed in range(40)]
        assert sum(one != content for one in made) > 30
