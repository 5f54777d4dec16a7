"""A contender's process: what it answers, how it fails, and that it does not outlive its parent."""

from io import StringIO

import pytest
import torch

from benchmarks.suite import worker
from benchmarks.suite.contract import Contender, Race, Ready
from benchmarks.suite.process import ROOT, Failed, Process

COMMAND = ("start-up", "tiny", "Python itself")


@pytest.fixture
def started():
    opened = []

    def start(*words: str, **environment: str) -> Process:
        process = Process(*words, threads=1, environment=environment, source=ROOT / "src")
        opened.append(process)
        return process

    yield start
    for process in opened:
        process.kill()


def test_a_process_builds_does_units_and_says_what_it_used(started):
    process = started(*COMMAND)
    assert process.answer() == {"parameters": None}
    first = process.told("unit")
    assert 0 < first["own"] < 10 and 0 < first["seconds"] < 60
    assert process.told("quality 0") == {"quality": None}
    last = process.stop()
    assert last["peak_bytes"] > 2**20 and "benchmarks/rows/start_up.py" in last["sources"]
    assert process.child.poll() is not None


def test_a_contender_that_cannot_be_built_says_why(started):
    with pytest.raises(Failed, match="KeyError: 'nobody'"):
        started("start-up", "tiny", "nobody").answer()


def test_a_process_that_ended_is_noticed(started):
    process = started(*COMMAND)
    process.answer()
    process.child.kill()
    process.child.wait()
    with pytest.raises(Failed, match="its process ended"):
        process.told("unit")


def test_a_process_that_cannot_start_gives_its_last_words(started):
    with pytest.raises(Failed, match=r"its process ended: .*No module named 'benchmarks'"):
        Process.answer(started(*COMMAND, PYTHONPATH="/nowhere", PYTHONSAFEPATH="1"))


def test_what_a_process_writes_is_gone_afterwards(started):
    from pathlib import Path

    process = started(*COMMAND)
    folder = Path(process.scratch.name)
    assert folder.is_dir()
    process.answer()
    process.kill()
    assert not folder.exists()


def test_threads_are_chosen_by_trial_at_the_first_unit_and_not_while_others_start(monkeypatch):
    calls: list[str] = []
    ready = Ready(lambda: calls.append("unit"), trial=lambda: calls.append("trial"))
    row = Race("a unit", {"ours": Contender(lambda: ready)}, tiny={}, cases={"": {}})
    monkeypatch.setattr("benchmarks.suite.rows.load", lambda name: row)
    threads = torch.get_num_threads()
    try:
        orders = worker.prepared("row", "", "ours", StringIO())
        assert not calls
        orders["unit"]()
        assert set(calls[:-1]) == {"trial"} and calls[-1] == "unit"
        orders["unit"]()
        assert calls[-2:] == ["unit", "unit"]
    finally:
        torch.set_num_threads(threads)
