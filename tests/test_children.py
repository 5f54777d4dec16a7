"""A process started by ours ends when ours ends, however that ends."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

WORKER = """
import os, sys, time
sys.platform = "PLATFORM"
from chainrule.children import die_with_parent
die_with_parent(int(sys.argv[1]))
print(os.getpid(), flush=True)
time.sleep(60)
"""
PARENT = f"""
import os, subprocess, sys, time
subprocess.Popen([sys.executable, "-c", {WORKER!r}, str(os.getpid())])
time.sleep(60)
"""
LAB = """
import os, sys
from pathlib import Path
from chainrule.registry import find
from chainrule.lab import runner
runner.WORTH_PROCESSES = 1

if __name__ == "__main__":
    claims = [find("claims", "novikoff")] * 64
    for done in runner.check_many(claims, Path(sys.argv[1]), 1000):
        print("checked", flush=True)
"""
LOADER = """
import os, signal, time
import torch
from torch.utils.data import DataLoader, TensorDataset
import chainrule as cr

def init(worker):
    print(os.getpid(), flush=True)
    parent = os.getppid()
    if worker == 1:
        os.kill(parent, signal.SIGKILL)
        while os.getppid() == parent:  # so that torch's own watch begins too late
            time.sleep(0.01)

if __name__ == "__main__":
    data = TensorDataset(torch.randn(64, 4), torch.randint(2, (64,)))
    loader = DataLoader(data, batch_size=4, num_workers=2, worker_init_fn=init)
    cr.fit(cr.models.MLP(4, [4], 2), loader, epochs=1, progress=False)
"""


def ended(process: int, seconds: float = 20.0) -> bool:
    """Whether it ends in that time; a process nobody has waited for yet counts as ended."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state in "ZX":
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize("platform", [sys.platform, "one without signals"])
def test_a_child_dies_with_its_parent(platform: str) -> None:
    code = PARENT.replace("PLATFORM", platform)
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    assert ended(child)
    parent.stdout.close()


def test_a_child_whose_parent_is_already_gone_ends_at_once() -> None:
    done = subprocess.run([sys.executable, "-c", WORKER, "1"], capture_output=True, check=False)
    assert done.returncode == 1
    assert not done.stdout


def test_workers_of_the_lab_die_with_it(tmp_path: Path) -> None:
    script = tmp_path / "many.py"
    script.write_text(LAB)
    lab = subprocess.Popen([sys.executable, script, tmp_path / "lab"])
    workers: set[int] = set()
    until = time.monotonic() + 240
    while len(workers) < 2 and time.monotonic() < until and lab.poll() is None:
        time.sleep(0.05)
        workers = started_by(lab.pid)
    time.sleep(1)
    lab.kill()
    lab.wait()
    assert workers
    assert all(ended(worker) for worker in workers)


@pytest.mark.skipif(sys.platform != "linux", reason="needs workers that are forked")
def test_workers_of_a_data_loader_die_with_it(tmp_path: Path) -> None:
    script = tmp_path / "loads.py"
    script.write_text(LOADER)
    loads = subprocess.Popen(
        [sys.executable, script], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert loads.stdout is not None
    try:
        workers = [int(loads.stdout.readline()) for _ in range(2)]
        assert loads.wait(60) == -signal.SIGKILL
        assert all(ended(worker) for worker in workers)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(loads.pid, signal.SIGKILL)
        loads.stdout.close()


def started_by(parent: int) -> set[int]:
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = path.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(words[1]) == parent:
            found.add(int(path.parent.name))
    return found
