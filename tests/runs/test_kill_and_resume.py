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
FLAGS = ["--epochs", "16", "--batch-size", "1", "--checkpoint-seconds", "0", "--patience", "12"]
FLAGS += ["--quiet"]


def killed(arguments: list[str], last: Path, delay: float) -> tuple[int, int] | None:
    """Kill the process a while after it wrote a new checkpoint and an epoch's figures.

    Returns (epoch, step) of what was left, or None if the run had ended.
    """
    before = last.stat().st_mtime_ns if last.exists() else 0
    metrics = last.parents[1] / "metrics.jsonl"
    process = subprocess.Popen([*COMMAND, *arguments])
    while process.poll() is None and not (
        last.exists()
        and last.stat().st_mtime_ns > before
        and metrics.exists()
        and metrics.stat().st_size
    ):
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
    last, metrics = broken / "checkpoints" / "last.safetensors", broken / "metrics.jsonl"
    places = [killed([*train, str(broken)], last, draw.uniform(0, 0.2))]
    first_epoch = metrics.read_text().splitlines()[0]
    for _ in range(2):
        places.append(killed(["resume", str(broken), "--quiet"], last, draw.uniform(0, 0.3)))
    assert None not in places, "the run ended before it could be killed"
    assert places == sorted(places, key=tuple) and places[0] > (0, 0), "progress was lost"
    assert any(place is not None and place[1] > 0 for place in places), "never inside an epoch"
    subprocess.run([*COMMAND, "resume", str(broken), "--quiet"], check=True)
    ours, theirs = (f / "model.safetensors" for f in (broken, straight))
    assert ours.read_bytes() == theirs.read_bytes()
    lines = metrics.read_text().splitlines()
    assert len(lines) == len((straight / "metrics.jsonl").read_text().splitlines())
    assert lines[0] == first_epoch, "the first epoch was trained again"


def test_a_run_killed_before_its_first_checkpoint_starts_again(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    flags = ["train", "digits-mlp", "--epochs", "3", "--quiet", "--out"]
    process = subprocess.Popen([*COMMAND, *flags, str(folder)])
    while not (folder / "config.json").exists():
        time.sleep(0.005)
    process.kill()
    assert process.wait() != 0
    assert not (folder / "model.safetensors").exists()
    subprocess.run([*COMMAND, "resume", str(folder), "--quiet"], check=True)
    assert (folder / "model.safetensors").exists()


def test_ctrl_c_saves_and_says_how_to_go_on(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    flags = ["train", "digits-mlp", "--epochs", "2000", "--out", str(folder)]
    process = subprocess.Popen([*COMMAND, *flags], stderr=subprocess.PIPE, text=True)
    while not ((folder / "metrics.jsonl").exists() and (folder / "metrics.jsonl").stat().st_size):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert f"chainrule resume {folder}" in said.replace("\n", "")
    assert "Traceback" not in said
    _, state = checkpoint.load(folder / "checkpoints" / "last.safetensors")
    assert state["epoch"] >= 1
