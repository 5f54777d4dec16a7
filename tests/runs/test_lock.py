"""One writer per run: the others are refused in a sentence, and nothing is lost."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from chainrule.errors import InputError
from chainrule.registry import find
from chainrule.runs.configuration import configure
from chainrule.runs.folder import next_folder
from chainrule.runs.lock import LOCK, busy, lock_file, locked
from chainrule.runs.run import Run

COMMAND = [sys.executable, "-m", "chainrule.cli.main"]
HOLD = """
import sys, time
from pathlib import Path
from chainrule.runs.lock import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def new_run(folder: Path | None = None, **values: object) -> Run:
    entry = find("recipes", "moons-mlp")
    kind = entry.load().Recipe
    return Run.create(entry, configure(kind, {"epochs": 3, "num_samples": 60} | values), folder)


def test_the_lock_names_its_holder_and_vanishes_with_it(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        words = rf"is already being trained by process {process.pid} on .+ since .+; wait, or"
        with pytest.raises(InputError, match=words), locked(tmp_path):
            pass
        process.kill()
        process.wait()
        assert (tmp_path / LOCK).exists()
        with locked(tmp_path) as lock:
            assert json.loads((tmp_path / LOCK).read_text())["process"] == os.getpid()
            assert lock.held
    assert not (tmp_path / LOCK).exists()


def test_a_look_whether_a_run_is_busy_does_not_keep_its_writer_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with locked(tmp_path):
        assert busy(tmp_path)
    assert not busy(tmp_path)
    with (tmp_path / LOCK).open("w") as looking:
        assert lock_file(looking)
        monkeypatch.setattr("time.sleep", lambda _: looking.close())  # the look ends meanwhile
        with locked(tmp_path) as lock:
            assert lock.held


def test_what_was_taken_over_stops_at_its_next_step(tmp_path: Path) -> None:
    first = new_run(tmp_path / "run")
    steps = first.train("cpu", pictures=False)
    next(steps)
    second = Run.load(first.folder)
    with pytest.raises(InputError, match="already being trained"):
        next(second.train("cpu"))
    taken = second.train("cpu", pictures=False, force=True)
    next(taken)
    with pytest.raises(InputError, match=r"was taken over by process \d+ .* nothing is lost"):
        list(steps)
    list(taken)
    assert second.finished and len(second.history) == 3
    assert not list(first.folder.rglob(".*"))


def test_two_resumes_at_once_end_in_the_weights_of_one(tmp_path: Path) -> None:
    flags = ["--epochs", "60", "--batch-size", "4", "--checkpoint-seconds", "0", "--no-pictures"]
    train = [*COMMAND, "train", "moons-mlp", *flags, "--quiet", "--out"]
    subprocess.run([*train, str(tmp_path / "straight")], check=True)
    folder = tmp_path / "run"
    started = subprocess.Popen([*train, str(folder)])
    while not (folder / "checkpoints" / "last.safetensors").exists():
        time.sleep(0.001)
    started.send_signal(signal.SIGSTOP)  # alive, so that it holds the run, but no further
    resume = [*COMMAND, "resume", str(folder), "--no-pictures", "--quiet"]
    refused = subprocess.run(resume, capture_output=True, text=True)
    assert refused.returncode == 2 and f"by process {started.pid} on" in refused.stderr
    assert "take it over with --force" in refused.stderr
    started.kill()
    assert started.wait() == -signal.SIGKILL
    both = [subprocess.Popen(resume, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    said = [process.communicate()[1] for process in both]
    codes = sorted(process.returncode for process in both)
    assert codes in ([0, 0], [0, 2]), said
    assert "Traceback" not in "".join(said)
    ours, theirs = (tmp_path / name / "model.safetensors" for name in ("run", "straight"))
    assert ours.read_bytes() == theirs.read_bytes()


@pytest.mark.parametrize("when", ["deleted", "moved", "replaced"])
def test_a_folder_taken_away_ends_training_with_a_sentence(when: str, tmp_path: Path) -> None:
    run = new_run(tmp_path / "run", checkpoint_seconds=0.0)
    steps = run.train("cpu", pictures=False)
    next(steps)
    if when == "deleted":
        shutil.rmtree(run.folder)
    else:
        run.folder.rename(tmp_path / "elsewhere")
    if when == "replaced":
        run.folder.mkdir()
    with pytest.raises(InputError, match="was moved or deleted while it was being trained"):
        list(steps)
    assert not run.finished
    if when == "deleted":
        assert not run.folder.exists()


def test_a_killed_first_write_is_no_dead_end(tmp_path: Path) -> None:
    for name in (".config.json.part", ".config.json.0f3a.part", LOCK):
        (tmp_path / name).write_text('{"rec')
    run = new_run(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config.json"]
    list(run.train("cpu", pictures=False))
    assert run.finished


def test_a_refused_run_leaves_the_users_folder_and_nothing_in_it(tmp_path: Path) -> None:
    for made in (True, False):
        folder = tmp_path / f"made {made}"
        if not made:
            folder.mkdir()
        run = new_run(folder, freeze="nothing.*")
        with pytest.raises(InputError, match="matches none of"):
            list(run.train("cpu"))
        assert folder.exists() is not made
        assert made or not list(folder.iterdir())


def test_a_refused_resume_deletes_nothing(tmp_path: Path) -> None:
    run = new_run(tmp_path / "run", freeze="nothing.*")
    again = Run.load(run.folder)
    with pytest.raises(InputError, match="matches none of"):
        list(again.train("cpu"))
    assert (run.folder / "config.json").exists()


def test_runs_of_the_same_instant_all_get_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    exists = Path.exists

    def other_was_faster(path: Path) -> bool:
        """Nobody has the name yet; before it can be used, somebody has."""
        there = exists(path)
        if path.name == "a-1":
            path.mkdir(parents=True, exist_ok=True)
        return there

    monkeypatch.setattr(Path, "exists", other_was_faster)
    assert next_folder("a") == Path("runs/a-2")
