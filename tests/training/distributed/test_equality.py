"""Several processes end in the weights of one, and measure the same, stopped in between or not."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

CASES = Path(__file__).with_name("cases.py")


def run(processes: int, *words: str | Path) -> dict[str, Any]:
    """The results of parts of the cases in so many processes."""
    launch = ["-m", "torch.distributed.run", f"--nproc-per-node={processes}"]
    several = launch if processes > 1 else []
    subprocess.run([sys.executable, *several, CASES, *words], check=True, timeout=300)
    return dict(torch.load(words[0]))


def check_equal(found: dict[str, Any], expected: dict[str, Any], exactly: bool = False) -> None:
    """Weights and records agree to 1e-10."""
    tolerance = 0.0 if exactly else 1e-10
    for name, ours in found.items():
        theirs = expected[name]
        for key, weights in ours["weights"].items():
            other = theirs["weights"][key]
            message = f"{name}: {key}"
            torch.testing.assert_close(weights, other, rtol=0, atol=tolerance, msg=message)
        assert len(ours["records"]) == len(theirs["records"])
        for record, before in zip(ours["records"], theirs["records"], strict=True):
            assert record == pytest.approx(before, rel=tolerance, abs=tolerance), name


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def two(place: Path) -> dict[str, Any]:
    """All cases in two processes; some of them again, once whole and once stopped."""
    return run(
        2, place / "two.pt", "refused", "all", f"end={place / 'whole'}", f"begin={place / 'begun'}"
    )


@pytest.fixture(scope="module")
def alone(place: Path, two: dict[str, Any]) -> dict[str, Any]:
    """All cases in one process; what two processes have begun is continued."""
    return run(1, place / "one.pt", "all", f"end={copied(place, '1')}")


@pytest.fixture(scope="module")
def three(place: Path, two: dict[str, Any]) -> dict[str, Any]:
    """The same in three processes."""
    return run(3, place / "three.pt", "all", f"end={copied(place, '3')}")


def copied(place: Path, name: str) -> Path:
    """What two processes have begun."""
    assert (place / "begun" / "sharded" / "last.json").is_file()
    return shutil.copytree(place / "begun", place / name)


def test_several_processes_end_in_the_weights_of_one(
    two: dict[str, Any], three: dict[str, Any], alone: dict[str, Any], tmp_path: Path
) -> None:
    for found in (two, three, run(4, tmp_path / "four.pt", "all")):
        check_equal(found["all"], alone["all"])
        fixed = {"fixed weights": found["all"]["fixed weights"]}
        for one, other in zip(
            fixed["fixed weights"]["records"], alone["all"]["fixed weights"]["records"], strict=True
        ):
            held = [name for name in one if name.startswith("validation")]
            assert [one[name] for name in held] == [other[name] for name in held]
    for name in ("stops early", "sharded stops early"):
        assert 1 < len(alone["all"][name]["records"]) < 9


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("other rows", "InputError: the processes were given different data;"),
        ("fewer rows", "InputError: the processes were given different data;"),
        ("other settings", "InputError: the processes were given different settings;"),
        ("another model", "InputError: the processes were given different models;"),
        ("a mistake", "fit cannot take `model` a Wrong,"),  # as in one process
        ("packed", "InputError: dropout of a tensor of shape (9, 3)"),
    ],
)
def test_what_differs_between_processes_is_refused(
    two: dict[str, Any], name: str, said: str
) -> None:
    assert said in two["refused"][name]
    assert (name == "a mistake") == two["refused"][name].endswith(": my own mistake")


def test_a_stopped_run_continues_in_any_number_of_processes(
    place: Path, two: dict[str, Any], three: dict[str, Any], alone: dict[str, Any]
) -> None:
    """In as many processes as before, bit for bit."""
    again = run(2, place / "again.pt", f"end={copied(place, '2')}")
    for found in (alone, again, three):
        check_equal(found["end"], two["end"], exactly=found is again)
    assert not (place / "1" / "sharded" / "last.json").exists()
