"""Whatever the terminal can show, and whether anybody reads: the work is done, the words arrive."""

import json
import math
import os
import pty
import resource
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from chainrule.console import streams
from chainrule.console.output import Page, epoch_line

PROGRAM = [sys.executable, "-m", "chainrule"]
TRAIN = ["train", "moons-mlp", "--epochs", "2", "--no-pictures", "--out", "run"]


def ran(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """The program as a user starts it, in that folder."""
    return subprocess.run(
        [*PROGRAM, *words],
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        check=False,
    )


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_output_fits_the_encoding_of_the_terminal(encoding: str, tmp_path: Path) -> None:
    done = ran(tmp_path, *TRAIN, PYTHONIOENCODING=encoding)
    assert done.returncode == 0, done.stderr
    said = done.stderr.decode(encoding)
    assert ("  ->  run" in said) and "Error" not in said
    assert "error" in done.stdout.decode(encoding)


def test_equations_and_code_print_in_ascii(tmp_path: Path) -> None:
    for words in (["show", "hopfield"], ["show", "hopfield", "--code"], ["list", "--help"]):
        done = ran(tmp_path, *words, PYTHONIOENCODING="ascii")
        assert done.returncode == 0, done.stderr
        assert done.stdout.isascii()


def test_json_keeps_every_sign_in_any_encoding(tmp_path: Path) -> None:
    plain = ran(tmp_path, "show", "hopfield", "--json", PYTHONIOENCODING="utf-8")
    ascii_only = ran(tmp_path, "show", "hopfield", "--json", PYTHONIOENCODING="ascii")
    assert json.loads(plain.stdout) == json.loads(ascii_only.stdout)


def test_signs_have_words_in_every_narrow_encoding() -> None:
    for encoding in ("ascii", "latin-1", "cp1252"):
        assert "".join(streams.SIGNS).encode(encoding, streams.PLAIN)
    assert "a → b ≤ Ω\udcff".encode("ascii", streams.PLAIN) == b"a -> b <= ??"
    with pytest.raises(UnicodeDecodeError):
        b"\xff".decode("ascii", streams.PLAIN)


def test_training_goes_on_when_nobody_reads(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)  # as `| head -0` does
    try:
        done = subprocess.run(
            [*PROGRAM, *TRAIN], cwd=tmp_path, stdout=writing, stderr=writing, check=False
        )
    finally:
        os.close(writing)
    assert done.returncode == 0
    assert (tmp_path / "run" / "result.json").is_file()


@pytest.mark.parametrize("streams_closed", [">&-", "2>&-", ">&- 2>&-"])
def test_training_needs_no_streams(streams_closed: str, tmp_path: Path) -> None:
    words = " ".join([*PROGRAM, *TRAIN])
    done = subprocess.run(["sh", "-c", f"{words} {streams_closed}"], cwd=tmp_path, check=False)
    assert done.returncode == 0
    assert (tmp_path / "run" / "result.json").is_file()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_under_the_output_is_told(tmp_path: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*PROGRAM, "list"], cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 2
    assert done.stderr == b"chainrule: the output could not be written: No space left on device\n"


def test_a_dumb_terminal_gets_plain_lines(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    try:
        done = subprocess.run(
            [*PROGRAM, *TRAIN],
            cwd=tmp_path,
            env=os.environ | {"TERM": "dumb"},
            stdout=subprocess.DEVNULL,
            stderr=theirs,
            check=False,
        )
    finally:
        os.close(theirs)
    said = os.read(ours, 100_000).decode()
    os.close(ours)
    assert done.returncode == 0
    assert "epoch 2/2  training loss" in said
    assert "\x1b" not in said


def test_a_narrow_terminal_cuts_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    assert Page().options.max_width == 80
    monkeypatch.setenv("COLUMNS", "100")
    assert Page().options.max_width == 100


def test_help_ends_in_a_terminal_of_one_column(tmp_path: Path) -> None:
    done = subprocess.run(
        [*PROGRAM, "train", "digits-mlp", "--help"],
        cwd=tmp_path,
        env=os.environ | {"COLUMNS": "1"},
        capture_output=True,
        check=False,
        timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (2**30, 2**30)),
    )
    assert done.returncode == 0
    assert b"--learning-rate" in done.stdout


def test_a_backend_that_does_not_exist_is_not_needed(tmp_path: Path) -> None:
    done = ran(tmp_path, "lab", "novikoff", "--trials", "2", MPLBACKEND="nope")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "runs" / "lab" / "novikoff.png").is_file()


def test_no_home_is_needed(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "HOME"}
    for home in ({}, {"HOME": "/nonexistent"}):
        done = subprocess.run(
            [*PROGRAM, *TRAIN[:-1], f"run{len(home)}"],
            cwd=tmp_path,
            env=environment | home,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["lab", "novikoff", "--trials", "2", "--out", "file/lab"],
        ["lr", "moons-mlp", "--steps", "5", "--out", "file/lr"],
        ["show", "mlp", "--graph", "file/graph.svg"],
    ],
)
def test_pictures_that_cannot_be_written_are_refused(words: list[str], tmp_path: Path) -> None:
    (tmp_path / "file").touch()  # a folder cannot be made here, whoever tries
    done = ran(tmp_path, *words)
    said = done.stderr.decode()
    assert done.returncode == 2, said
    assert "cannot write the picture file/" in said and "choose another folder" in said


@pytest.mark.parametrize(
    ("loss", "said"),
    [(0.51234, "0.5123"), (6908481024.0, "6,908,481,024"), (math.inf, "inf")],
)
def test_a_large_loss_is_written_as_people_do(loss: float, said: str) -> None:
    step = SimpleNamespace(epoch=1, epochs=2, loss=loss, fraction=1.0, record=None, stopped="")
    assert epoch_line(step, lambda name, value: "", 4) == f"epoch 1/2  training loss {said}"
