"""An ensemble whose members are spread over processes: the same weights, whatever happens."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from chainrule.cli.main import main
from chainrule.errors import InputError
from chainrule.runs import member_processes
from chainrule.runs.configuration import configure
from chainrule.runs.run import Run, recipe_entry
from chainrule.training.batched.run import BatchedProgress

SETTINGS: dict[str, Any] = {
    "members": 3,
    "epochs": 6,
    "hidden": (8,),
    "patience": 2,
    "threads": 1,
    "checkpoint_seconds": 0.0,
}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def created(folder: str, **more: Any) -> Run:
    entry = recipe_entry("digits-mlp")
    return Run.create(entry, configure(entry.load().Recipe, SETTINGS | more), Path(folder))


def train(run: Run, at_epoch: Callable[[int], None] = lambda epoch: None) -> Run:
    for progress in run.train(pictures=False):
        if progress.record and not progress.past:
            at_epoch(progress.epoch)
    return run


def weights(run: Run) -> dict[str, torch.Tensor]:
    return load_file(run.folder / "model.safetensors")


def test_the_weights_and_records_are_those_of_one_process_after_a_kill_or_a_stop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two members in one process, one in the other, which is killed after the second epoch.

    Ctrl-C reaches all processes of a terminal; the parent alone decides.
    """
    alone = train(created("alone"))
    started: list[int] = []
    real = member_processes.start

    def noted(*arguments: Any) -> member_processes.Share:
        share = real(*arguments)
        started.append(share.process.pid)
        return share

    monkeypatch.setattr(member_processes, "start", noted)

    def kill(epoch: int) -> None:
        if epoch == 1:
            os.kill(started[0], signal.SIGINT)
        if epoch == 2 and len(started) == 2:
            os.kill(started[1], signal.SIGKILL)

    apart = train(created("apart", processes=2), kill)
    assert [path.name for path in sorted((apart.folder / "checkpoints").iterdir())] == [
        "members-0-1",
        "members-2-2",
    ]
    for name, values in weights(alone).items():
        torch.testing.assert_close(weights(apart)[name], values, rtol=1e-5, atol=1e-6)
    assert apart.result["stopped"] == alone.result["stopped"] != ""
    for ours, theirs in zip(apart.history, alone.history, strict=True):
        assert ours["validation_loss"] == pytest.approx(theirs["validation_loss"], rel=1e-5)
    assert not any("members 0 to 1 were" in remark for remark in apart.result["remarks"])
    if len(started) > 2:  # it had not ended by then
        assert "members 2 to 2 were continued by a new process" in apart.result["remarks"]
    again = resumed(created("broken", processes=2))
    assert [r["epoch"] for r in again.history] == [r["epoch"] for r in apart.history]
    for name, values in weights(apart).items():
        assert torch.equal(weights(again)[name], values), name


def resumed(run: Run) -> Run:
    """Stopped after the first epoch, and continued."""
    steps = run.train(pictures=False)
    for progress in steps:
        if progress.record:
            break
    steps.close()
    assert main(["resume", str(run.folder), "--quiet", "--no-pictures"]) == 0
    return Run.load(run.folder)


TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "--max-restarts=3"]
ONCE = """
import os, signal, sys
from chainrule.cli.main import main
from chainrule.runs import member_processes

real = member_processes.fit_members

def killed_once(*arguments):
    for now in real(*arguments):
        yield now
        again = os.environ["TORCHELASTIC_RESTART_COUNT"] != "0"
        if now.record and now.epoch == 2 and os.environ["RANK"] == "1" and not again:
            os.kill(os.getpid(), signal.SIGKILL)

member_processes.fit_members = killed_once
sys.exit(main(sys.argv[1:]))
"""


def test_torchrun_spreads_members_over_machines_and_starts_all_again_after_a_kill() -> None:
    """Two members in the first process; the second is killed after its second epoch."""
    alone = train(created("alone"))
    Path("once.py").write_text(ONCE)
    words = ["train", "digits-mlp", "--out", "apart", "--quiet", "--no-pictures"]
    for name, value in SETTINGS.items():
        given = value if isinstance(value, tuple) else (value,)
        words += [f"--{name.replace('_', '-')}", *map(str, given)]
    env = os.environ | {"TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}
    subprocess.run([*TORCHRUN, "once.py", *words], check=True, env=env, timeout=300)
    apart = Run.load("apart")
    assert [path.name for path in sorted((apart.folder / "checkpoints").iterdir())] == [
        "members-0-1",
        "members-2-2",
    ]
    for name, values in weights(alone).items():
        torch.testing.assert_close(weights(apart)[name], values, rtol=1e-5, atol=1e-6)
    assert apart.result["stopped"] == alone.result["stopped"] != ""
    assert len(apart.history) == len(alone.history)
    for ours, theirs in zip(apart.history, alone.history, strict=True):
        assert ours["validation_loss"] == pytest.approx(theirs["validation_loss"], rel=1e-5)


def test_more_processes_of_torchrun_than_members_are_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    torchrun = {"RANK": "0", "WORLD_SIZE": "3", "MASTER_ADDR": "localhost", "MASTER_PORT": "29500"}
    for name, value in torchrun.items():
        monkeypatch.setenv(name, value)
    assert main(["train", "digits-mlp", "--members", "2", "--out", "run"]) == 2
    assert "3 processes, which cannot share 2 --members" in capsys.readouterr().err


def test_the_fault_of_a_process_is_told_as_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["train", "digits-mlp", "--members", "2", "--processes", "2", "--optimizer", "sgd"]
    words += ["--epochs", "2", "--learning-rate", "1e30"]
    assert main([*words, "--out", "run", "--quiet"]) == 2
    said = capsys.readouterr().err
    assert "of the ensemble diverged; try a smaller --learning-rate" in said


def test_a_process_that_dies_again_and_again_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(InputError, match=r"members 0 to 1 ended 4 times \(exit code 1\)|2 to 2"):
        train(created("run", processes=2))


def report(epoch: int, losses: list[float], stopped: str = "", past: bool = False) -> Any:
    members = tuple({"train_loss": loss} for loss in losses)
    record: dict[str, int | float] = {"epoch": epoch, "seconds": float(epoch)}
    return BatchedProgress(epoch, 3, 5, 5, 0.0, record, stopped, None, past, members)


def share(*ended: BatchedProgress) -> member_processes.Share:
    made = member_processes.Share.__new__(member_processes.Share)  # without a process
    made.ended = list(ended)
    return made


def test_an_epoch_is_told_when_every_share_has_it_or_has_stopped() -> None:
    long = share(report(1, [1.0, 2.0]), report(2, [3.0, 5.0]))
    short = share(report(1, [6.0], past=True))
    assert member_processes.epochs_known([long, short]) == 1
    first = member_processes.merged([long, short], 0)
    assert (first.record or {})["train_loss"] == first.loss == 3.0
    assert not first.past and not first.stopped
    short.ended = [report(1, [6.0], "no better validation loss")]
    assert member_processes.epochs_known([long, short]) == 2
    second = member_processes.merged([long, short], 1)
    assert (second.record or {}) == {"epoch": 2, "train_loss": 14 / 3, "seconds": 2.0}
    assert not second.stopped
    long.ended.append(report(3, [1.0, 1.0], "all epochs done"))
    assert member_processes.merged([long, short], 2).stopped == "all epochs done"
