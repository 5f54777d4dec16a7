"""Runs in several processes on the command line: one sentence for every fault, one result."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from safetensors.torch import load_file

from chainrule.cli.main import main
from chainrule.registry import find
from chainrule.runs.configuration import configure
from chainrule.runs.identity import describe, fingerprints, of_settings
from chainrule.runs.processes import Processes, continued
from chainrule.runs.run import Run
from chainrule.training.distributed import faults
from chainrule.training.distributed.faults import NOTE, told
from chainrule.training.distributed.launch import LAUNCHER, ended

COMMAND = [sys.executable, "-m", "chainrule"]
RUN = ["train", "digits-mlp", "--no-pictures", "--quiet"]


@pytest.mark.parametrize(
    "environment",
    [
        {"RANK": "0"},
        {"WORLD_SIZE": "2"},
        {"RANK": "2", "WORLD_SIZE": "2", "MASTER_ADDR": "localhost", "MASTER_PORT": "29500"},
        {"RANK": "one", "WORLD_SIZE": "2", "MASTER_ADDR": "localhost", "MASTER_PORT": "29500"},
        {"RANK": "0", "WORLD_SIZE": "2"},
    ],
)
def test_an_environment_that_is_not_torchruns_is_refused(
    environment: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert main(["train", "digits-mlp", "--out", str(tmp_path / "run")]) == 2
    if environment.get("RANK", "0") == "0":
        assert "start with torchrun, or unset them" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_processes_of_torchrun_are_not_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    torchrun = {"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "localhost", "MASTER_PORT": "29500"}
    for name, value in torchrun.items():
        monkeypatch.setenv(name, value)
    assert main([*RUN, "--processes", "2", "--out", str(tmp_path / "run")]) == 2
    assert "leave out --processes and --elastic" in capsys.readouterr().err


def test_what_torchrun_restarts_goes_on_with_its_run_and_with_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Even if one process is left, as after the loss of the other machine."""
    configuration = configure(find("recipes", "digits-mlp").load().Recipe, {"epochs": 1})
    folder, words = tmp_path / "run", [*RUN, "--out", str(tmp_path / "run")]
    Run.create(find("recipes", "digits-mlp"), configuration, folder)
    assert main([*words, "--epochs", "1"]) == 2
    monkeypatch.setenv("TORCHELASTIC_MAX_RESTARTS", "3")
    assert main([*words, "--epochs", "2"]) == 2
    assert "is not empty" in capsys.readouterr().err
    assert main([*words, "--epochs", "1"]) == 0
    assert (folder / "result.json").is_file()


def test_the_first_fault_is_told_and_later_ones_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = tmp_path / "note"
    monkeypatch.setenv(NOTE, str(note))
    assert told("chainrule: no data", 2, lost=False) == (0, "")
    assert told("chainrule: no room", 2, lost=False) == (0, "")
    assert note.read_text() == "2 chainrule: no data"
    assert told("chainrule: a process was lost", 2, lost=True) == (0, "")


def test_a_process_that_loses_the_others_says_how_where_nobody_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when memory ran out in a step, which looks like a lost process."""
    monkeypatch.setattr(faults, "PATIENCE", 0.0)
    monkeypatch.setenv(NOTE, str(tmp_path / "note"))
    assert told("chainrule: a process was lost: no memory", 2, lost=True) == (faults.LOST, "")
    failure = SimpleNamespace(exitcode=faults.LOST, timestamp=0)
    killed = SimpleNamespace(exitcode=-signal.SIGKILL, timestamp=1)
    both = SimpleNamespace(failures={0: failure, 1: killed})
    one = SimpleNamespace(failures={0: failure})
    assert ended(both, 2, tmp_path / "note") == "process 1 of 2 was ended by SIGKILL"
    assert ended(one, 2, tmp_path / "note") == "a process was lost: no memory"


def test_a_killed_process_is_started_again_and_the_weights_are_the_same(tmp_path: Path) -> None:
    """Without restarts the run says how to continue; continued, its launcher is killed; continued
    again, it survives another kill of a process."""
    words = [*RUN, "--epochs", "70", "--checkpoint-seconds", "0.1", "--processes", "2"]
    whole = subprocess.run([*COMMAND, *words, "--out", "whole"], cwd=tmp_path, timeout=400)
    assert whole.returncode == 0
    lost = start(tmp_path, [*words, "--out", "lost"])
    kill_one(lost, tmp_path / "lost")
    assert lost.wait(400) == 2
    said = (tmp_path / "said").read_text().splitlines()
    assert len(said) == 1
    assert "was ended by SIGKILL; continue with: chainrule resume lost --processes 2" in said[0]
    again = ["resume", "lost", "--processes", "2", "--quiet", "--no-pictures"]
    orphaned = start(tmp_path, again)
    last = tmp_path / "lost" / "checkpoints" / "last.safetensors"
    wait_for(last, orphaned, last.stat().st_mtime_ns)
    kill_launcher(orphaned)
    kept = start(tmp_path, [*again, "--elastic", "3"])
    kill_one(kept, tmp_path / "lost")
    assert kept.wait(400) == 0
    found = load_file(tmp_path / "lost" / "model.safetensors")
    for name, expected in load_file(tmp_path / "whole" / "model.safetensors").items():
        assert found[name].equal(expected), name


def test_ctrl_c_saves_and_ends_with_130(tmp_path: Path) -> None:
    words = [*RUN, "--epochs", "100000", "--processes", "2", "--out", "run"]
    started = start(tmp_path, [*words, "--checkpoint-seconds", "0.1"])
    wait_for(tmp_path / "run" / "checkpoints" / "last.safetensors", started)
    started.send_signal(signal.SIGINT)
    assert started.wait(100) == 130
    said = (tmp_path / "said").read_text()
    assert "continue with:  chainrule resume run" in said
    assert "Traceback" not in said


def test_workers_end_with_their_launcher(tmp_path: Path) -> None:
    words = [*RUN, "--epochs", "100000", "--processes", "2", "--out", "run"]
    started = start(tmp_path, [*words, "--checkpoint-seconds", "0.1"])
    wait_for(tmp_path / "run" / "checkpoints" / "last.safetensors", started)
    assert len(children(started.pid)) == 2
    kill_launcher(started)


def start(folder: Path, words: list[str]) -> "subprocess.Popen[bytes]":
    with (folder / "said").open("wb") as said:
        return subprocess.Popen([*COMMAND, *words], cwd=folder, stderr=said)


def wait_for(path: Path, started: "subprocess.Popen[bytes]", before: int = 0) -> None:
    """Until the file is there, later than before; a run that has ended first is a fault."""
    while not path.exists() or path.stat().st_mtime_ns <= before:
        assert started.poll() is None
        time.sleep(0.05)


def kill_launcher(started: "subprocess.Popen[bytes]") -> None:
    """Its processes end with it."""
    workers = children(started.pid)
    started.kill()
    started.wait(20)
    end = time.monotonic() + 20
    while any(Path(f"/proc/{pid}").exists() for pid in workers) and time.monotonic() < end:
        time.sleep(0.1)
    assert not any(Path(f"/proc/{pid}").exists() for pid in workers)


def kill_one(started: "subprocess.Popen[bytes]", run: Path) -> None:
    """Kill the last process of a run, as soon as it has written a checkpoint."""
    path = run / "checkpoints" / "last.safetensors"
    wait_for(path, started, path.stat().st_mtime_ns if path.exists() else 0)
    os.kill(children(started.pid)[-1], signal.SIGKILL)


def children(parent: int) -> list[int]:
    """The workers of a launcher, which know it by its number."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            variables = (path / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if f"{LAUNCHER}={parent}".encode() in variables:
            found.append(int(path.name))
    return sorted(found)


def test_python_trains_in_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import chainrule as cr

    monkeypatch.chdir(tmp_path)
    run = cr.train("digits-mlp", epochs=2, processes=2, pictures=False, progress=False)
    alone = cr.train("digits-mlp", epochs=2, pictures=False, progress=False)
    assert json.dumps(run.result["metrics"])
    for record, other in zip(run.history, alone.history, strict=True):
        assert record["train_loss"] == pytest.approx(other["train_loss"], rel=1e-5)


@pytest.mark.parametrize("command", ["tune", "list", "evaluate", "lab"])
def test_torchrun_starts_training_only(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert main([command]) == 2
    assert f"train and resume only; start {command} without torchrun" in capsys.readouterr().err


def test_torchrun_finds_the_sentence_of_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORCHELASTIC_ERROR_FILE", str(tmp_path / "error.json"))
    assert told("chainrule: no data", 2, lost=False)[0] == 2
    found = json.loads((tmp_path / "error.json").read_text())
    assert found["message"]["message"] == "chainrule: no data"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"processes": 2.5}, "`processes` must be a whole number, got 2.5"),
        ({"processes": "2"}, "`processes` must be a whole number, got '2'"),
        ({"processes": 2, "sharded": "no"}, "`sharded` must be True or False, got 'no'"),
        ({"processes": 2, "elastic": 1.5}, "`elastic` must be a whole number"),
    ],
)
def test_options_of_other_types_are_refused(
    given: dict[str, object], said: str, tmp_path: Path
) -> None:
    import chainrule as cr

    with pytest.raises(cr.InputError, match=said):
        cr.train("digits-mlp", out=tmp_path / "run", **given)
    assert not (tmp_path / "run").exists()


def begun(folder: Path, sharded: bool = False) -> Run:
    """A run of two processes that has not learned anything yet."""
    entry = find("recipes", "digits-mlp")
    configuration = configure(entry.load().Recipe, {"epochs": 1, "processes": 2})
    return Run.create(entry, configuration, folder, sharded=sharded)


def test_a_run_goes_on_in_another_number_of_processes(tmp_path: Path) -> None:
    """From Python too, in one; also a run of an earlier version, whose checksum has the number."""
    for name, number in (("run", 1), ("earlier", 2)):
        run = begun(tmp_path / name)
        data = run.recipe.data(None)
        marks = fingerprints(run.configuration, data)
        marks["settings"] = of_settings(run.configuration, number)
        described = describe(run.recipe.summarize(data)) | marks
        (tmp_path / name / "data.json").write_text(json.dumps(described))
        run = Run.load(tmp_path / name).resume(1, pictures=False, progress=False)
        assert run.finished


def test_a_sharded_run_goes_on_sharded(tmp_path: Path) -> None:
    begun(tmp_path / "run", sharded=True)
    run = Run.load(tmp_path / "run")
    assert continued(run, None, False, 0) == Processes(2, True)
    assert continued(run, 4, False, 3) == Processes(4, True, 3)
    assert continued(run, 1, False, 0) == Processes(1)
