"""Rounds, order, retirement and failure of contenders, with processes that only pretend."""

from collections import Counter
from types import SimpleNamespace

import pytest

from benchmarks.suite import compare, machine, race, record, rows, sources
from benchmarks.suite.contract import Contender, Quality, Race, Ready, Work
from benchmarks.suite.limits import floor
from benchmarks.suite.process import Failed
from benchmarks.suite.race import Raced, Rules, Runner
from chainrule.errors import InputError

LIMITS = {"float32": 1e9, "bfloat16": 2e9, "memory": 1e8}
ORDER: list[str] = []


class Pretended:
    """Answers as a process does; its units take what it is told."""

    def __init__(self, name: str, seconds: list[float], quality: float = 1.0):
        self.name, self.seconds, self.quality, self.done = name, seconds, quality, 0

    def told(self, order: str) -> dict:
        if order.startswith("quality"):
            return {"quality": self.quality}
        if order == "stop":
            return {"peak_bytes": 2**20, "sources": []}
        if self.name == "limits":
            return LIMITS
        ORDER.append(self.name)
        took = self.seconds[self.done % len(self.seconds)]
        self.done += 1
        if took < 0:
            raise Failed("it broke")
        return {"seconds": took, "own": took}


def runner(name: str, *seconds: float, quality: float = 1.0) -> Runner:
    return Runner(name, Contender(Ready), Pretended(name, list(seconds), quality))  # type: ignore


ROW = Race(
    unit="a unit",
    contenders={"ours": Contender(Ready), "peer": Contender(Ready)},
    cases={"": {}},
    tiny={},
    quality=Quality("a figure", 0.1),
    work=lambda: Work(flops=1e8, bytes=1e6),
)


def raced(*runners: Runner, **rules) -> Raced:
    ORDER.clear()
    found = Raced("", list(runners), {}, [], [])
    limits = Pretended("limits", [])
    race.rounds(found, ROW, limits, Rules(threads=1, **rules), lambda _: None)  # type: ignore
    return found


def test_every_round_has_everybody_once_and_not_always_in_the_same_order():
    raced(runner("ours", 1, 2), runner("a", 2, 1), runner("b", 1, 3), most_rounds=12)
    rounds = [tuple(ORDER[k : k + 3]) for k in range(0, len(ORDER), 3)]
    assert all(sorted(each) == ["a", "b", "ours"] for each in rounds)
    assert len(set(rounds)) > 2


def test_a_peer_that_is_known_leaves_and_the_close_one_goes_on():
    raced(runner("ours", 1.0), runner("far", 3.0), runner("close", 1.0, 1.2), most_rounds=12)
    assert Counter(ORDER) == {"ours": 12, "close": 12, "far": 6}


def test_a_peer_far_away_needs_no_narrow_interval_and_a_distant_one_few_rounds():
    raced(runner("ours", 1.0), runner("far", 3.0, 3.4), runner("distant", 9.0), most_rounds=12)
    assert Counter(ORDER) == {"ours": 6, "far": 6, "distant": 3}


def test_a_case_goes_on_until_its_intervals_have_their_confidence(monkeypatch):
    clock = iter(range(0, 1000, 10))
    monkeypatch.setattr(race, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
    raced(runner("ours", 1.0), runner("close", 1.0, 1.2), seconds=20)
    assert Counter(ORDER) == {"ours": 6, "close": 6}
    clock = iter(range(0, 10_000, 100))
    raced(runner("ours", 1.0), runner("close", 1.0, 1.2), seconds=20)
    assert Counter(ORDER) == {"ours": 1, "close": 1}


def test_the_race_ends_when_all_ratios_are_known():
    raced(runner("ours", 1.0), runner("far", 3.0))
    assert Counter(ORDER) == {"ours": 6, "far": 6}


def test_a_contender_that_fails_is_named_and_the_others_go_on():
    found = raced(runner("ours", 1.0), runner("broken", -1.0), runner("peer", 2.0), most_rounds=3)
    assert found.runners[1].failed == "it broke"
    assert len(found.runners[2].seconds) == 3


def case(*runners: Runner) -> dict:
    for each in runners:
        race.warm(each, ROW)
    return record.of_case(ROW, raced(*runners, most_rounds=6))


def test_a_ratio_is_the_time_of_the_peer_in_units_of_ours():
    ours, peer = case(runner("ours", 2.0), runner("peer", 3.0))["contenders"]
    assert ours["ratio"] == [1, 1, 1]
    assert peer["ratio"] == [1.5, 1.5, 1.5]


def test_a_worse_figure_of_quality_does_not_agree():
    _, same, worse = case(
        runner("ours", 1.0), runner("same", 1.0, quality=1.05), runner("fast", 0.1, quality=1.2)
    )["contenders"]
    assert (same["agrees"], worse["agrees"]) == (True, False)


def test_networks_of_other_sizes_do_not_agree():
    ours, peer = runner("ours", 1.0), runner("peer", 1.0)
    ours.parameters, peer.parameters = 10, 11
    assert [one["agrees"] for one in case(ours, peer)["contenders"]] == [True, False]


def test_the_share_of_the_limit_is_that_of_what_binds():
    assert floor(Work(flops=1e8, bytes=1e6), LIMITS, "float32") == (0.1, "float32 products")
    assert floor(Work(flops=1e8, bytes=1e8), LIMITS, "float32") == (1.0, "memory")
    assert floor(Work(flops=1e8, bytes=1e6), LIMITS, "bfloat16")[0] == 0.05
    ours, _ = case(runner("ours", 0.4), runner("peer", 1.0))["contenders"]
    assert (ours["share_of_limit"], ours["limit"]) == (0.25, "float32 products")


def test_absent_peers_are_skipped_by_name():
    row = Race(
        unit="",
        contenders={"ours": Contender(Ready), "peer": Contender(Ready, ("no-such-package",))},
        cases={"": {}},
        tiny={},
    )
    entered, skipped = race.entrants(row, "", Rules(threads=1))
    assert list(entered) == ["ours"]
    assert skipped == {"peer": "no-such-package not installed"}


def test_a_busy_machine_and_a_drifting_clock_are_said():
    quiet = Raced("", [], {}, [LIMITS] * 6, [0.01] * 9)
    slower = [LIMITS | {"float32": 1e9 - 1e8 * k} for k in range(6)]
    assert race.disturbance(quiet) == []
    assert race.disturbance(Raced("", [], {}, slower, [0.3] * 9)) == [
        "busy machine: other processes took 30 % of the cores",
        "the rate of a product changed by -42 % during the run",
    ]


def test_the_load_of_others_is_what_is_busy_beyond_our_own():
    before, after = machine.Clock(10.0, 0.0, 0.0), machine.Clock(13.0, 1.0, 4.0)
    cores = machine.os.cpu_count()
    assert machine.others(before, after, own=2.0) == pytest.approx(2 / 4 / cores)
    assert machine.others(None, after, own=2.0) is None


def recorded(ratio: list[float]) -> dict:
    contenders = [{"name": "ours", "ratio": [1, 1, 1]}, {"name": "peer", "ratio": ratio}]
    return {"row": "mlp", "ours": "ours", "cases": [{"case": "", "contenders": contenders}]}


@pytest.mark.parametrize(
    ("now", "verdict"),
    [([1.3, 1.28, 1.32], "gain"), ([0.9, 0.88, 0.92], "regression"), ([1.02, 0.99, 1.04], "same")],
)
def test_runs_are_compared_by_their_ratios(now, verdict):
    (found,) = compare.changes(recorded(now), recorded([1.0, 0.99, 1.01]))
    assert (found["peer"], found["before"], found["now"]) == ("peer", 1.0, now[0])
    assert found["verdict"] == verdict


def test_a_run_in_which_ours_failed_has_nothing_to_compare():
    found = case(runner("ours", 1.0, -1.0), runner("peer", 1.0))
    assert found["failed"] == {"ours": "it broke"}
    assert [one["ratio"] for one in found["contenders"]] == [None]
    record_of = {"row": "mlp", "ours": "ours", "cases": [found]}
    assert compare.changes(record_of, recorded([1.0, 0.99, 1.01])) == []


def test_files_of_another_form_beside_the_records_are_left_out(tmp_path):
    (tmp_path / "mlp.json").write_text('{"rows": []}')
    (tmp_path / "torn.json").write_text("{")
    assert compare.old_runs(tmp_path) == {} and record.read(tmp_path, "mlp") is None
    (tmp_path / "gpt.json").write_text('{"kind": "race", "row": "gpt"}')
    assert list(compare.old_runs(tmp_path)) == ["gpt"]
    with pytest.raises(InputError, match="expects a record of the suite"):
        compare.old_runs(tmp_path / "mlp.json")


def test_only_a_source_that_the_row_used_makes_its_record_stale(tmp_path):
    for name in ("src/chainrule/used.py", "src/chainrule/other.py", "benchmarks/suite/race.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x = 1")
    row, used = tmp_path / "row.py", ["src/chainrule/used.py"]
    row.write_text('"""A row."""')

    def digest() -> str:
        return sources.digest(row, used, tmp_path)

    first = digest()
    (tmp_path / "src/chainrule/other.py").write_text("x = 2")
    assert digest() == first
    whole = sources.digest(row, [sources.WHOLE], tmp_path)
    (tmp_path / "src/chainrule/other.py").write_text("x = 3")
    assert sources.digest(row, [sources.WHOLE], tmp_path) != whole
    for changed in (tmp_path / "src/chainrule/used.py", tmp_path / "benchmarks/suite/race.py", row):
        before = digest()
        changed.write_text("x = 2")
        assert digest() != before
    (tmp_path / "src/chainrule/used.py").unlink()
    assert digest() != first


def test_a_record_is_current_while_the_same_peers_are_installed(monkeypatch):
    installed = {"torch": "2"}
    monkeypatch.setattr(machine, "versions", lambda names: installed)
    (entry, *_) = rows.entries()
    found = record.raced(entry, ROW, [], "a command", 1)
    assert record.current(entry, ROW, found)
    installed = {"torch": "2", "a-peer": "1"}
    assert not record.current(entry, ROW, found)


def test_what_a_process_has_loaded_is_what_its_record_depends_on():
    assert "src/chainrule/registry.py" in sources.loaded()
    assert "src/chainrule/lab/__main__.py" not in sources.loaded()
