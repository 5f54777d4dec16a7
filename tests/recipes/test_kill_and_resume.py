"""A run that is really killed, several times, ends in the weights of the uninterrupted one."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from chainrule.training import checkpoint

COMMAND = [sys.executable, "-m", "chainrule.cli.main"]
# One example per step: an epoch lasts long enough to be hit in the middle.
FLAGS = ["--epochs", "3", "--batch-size", "1", "--checkpoint-seconds", "0", "--quiet"]


def killed(arguments: list[str], last: Path, delay: float) -> tuple[int, int] | None:
    """Kill the process a while after its checkpoint moved; (epoch, step) of what was left."""
    before = last.stat().st_mtime_ns if last.exists() else 0
    process = subprocess.Popen([*COMMAND, *arguments])
    while process.poll() is None and not (last.exists() and last.stat().st_mtime_ns > before):
        time.sleep(0.005)
    time.sleep(delay)
    process.send_signal(signal.SIGKILL)
    if process.wait() == 0:
        return None
    _, state = checkpoint.load(last)
    return state["epoch"], state["step"]


def test_killed_runs_end_in_identical_weights(tmp_path: Path) -> None:
    straight, broken = tmp_path / "straight", tmp_path / "broken"
    train = ["train", "digits-mlp", *FLAGS, "--out"]
    subprocess.run([*COMMAND, *train, str(straight)], check=True)
    draw = random.Random(0)
    last = broken / "checkpoints" / "last.safetensors"
    places = [killed([*train, str(broken)], last, draw.uniform(0, 0.2))]
    for _ in range(2):
        places.append(killed(["resume", str(broken), "--quiet"], last, draw.uniform(0, 0.3)))
    assert None not in places, "the run ended before it could be killed"
    assert any(step > 0 for _, step in places if _ is not None), "never hit inside an epoch"
    subprocess.run([*COMMAND, "resume", str(broken), "--quiet"], check=True)
    ours, theirs = (f / "model.safetensors" for f in (broken, straight))
    assert ours.read_bytes() == theirs.read_bytes()
    lines = [(f / "metrics.jsonl").read_text().splitlines() for f in (broken, straight)]
    assert len(lines[0]) == len(lines[1]) == 3


def test_ctrl_c_saves_and_says_how_to_go_on(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    flags = ["train", "digits-mlp", "--epochs", "2000", "--out", str(folder)]
    process = subprocess.Popen([*COMMAND, *flags], stderr=subprocess.PIPE, text=True)
    while not (folder / "metrics.jsonl").exists():
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert f"chainrule resume {folder}" in said.replace("\n", "")
    assert "Traceback" not in said
    _, state = checkpoint.load(folder / "checkpoints" / "last.safetensors")
    assert state["epoch"] >= 1
