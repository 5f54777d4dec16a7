"""`chainrule tune`: what it leaves behind, how it is stopped, and how it goes on from anywhere."""

import json
import shlex
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from chainrule.cli import tune
from chainrule.cli.main import main
from chainrule.errors import InputError
from chainrule.registry import Entry, entries
from chainrule.runs.options import OPTION_OF
from chainrule.tuning import cross_validation as cv
from chainrule.tuning import search as tuning
from chainrule.tuning import study as studies

pytest.importorskip("optuna")
RATES = ("learning_rate=1e-3:1e-1:log", "hidden=3|5")
FORMS = [e for e in entries("recipes") if "tune" not in e.load().Recipe.unsupported]
BRIEF = shlex.split("tune moons-mlp --num-samples 90 --epochs 3 --folds 2 --points 1 --json")
BRIEF += ["--space", *RATES]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")


def result_of(folder: str) -> dict[str, Any]:
    return json.loads((Path(folder) / "result.json").read_text("utf-8"))


def interrupt_in_call(number: int, monkeypatch: pytest.MonkeyPatch, what: Exception | None) -> None:
    """Raise an error or send Ctrl-C after so many steps of training."""
    real, calls = tuning.cross_validate, iter(range(10**6))

    def interrupted(*arguments: Any) -> Iterator[cv.Scores]:
        with closing(real(*arguments)) as steps:
            for now in steps:
                if next(calls) == number:
                    if what:
                        raise what
                    signal.raise_signal(signal.SIGINT)
                yield now

    monkeypatch.setattr(tuning, "cross_validate", interrupted)


@pytest.mark.parametrize("entry", FORMS, ids=lambda entry: entry.name)
def test_every_trained_recipe_has_a_page_of_flags(
    entry: Entry, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main(["tune", entry.name, "--help"])
    assert left.value.code == 0
    assert "--folds" in capsys.readouterr().out


def test_two_processes_reach_the_number_together(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """This one waits in its first trial until the other has begun one."""
    real, prepare, made = tuning.cross_validate, tuning.prepare, []

    def kept(*arguments: Any) -> tuning.Tuning:
        made.append(prepare(*arguments))
        return made[0]

    def workers() -> set[str]:
        found = studies.living(made[0].study)
        return {t.user_attrs["worker"] for t in found if "worker" in t.user_attrs}

    def patient(*arguments: Any) -> Iterator[cv.Scores]:
        end = time.monotonic() + 120
        while len(workers()) < 2 and time.monotonic() < end:
            time.sleep(0.05)
        return real(*arguments)

    monkeypatch.setattr(tuning, "prepare", kept)
    monkeypatch.setattr(tuning, "cross_validate", patient)
    assert main([*BRIEF, "--trials", "6", "--workers", "2", "--out", "two"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(workers()) == 2
    assert len(found["trials"]) == 6
    assert {row["state"] for row in found["trials"]} <= {"complete", "pruned"}
    assert not [note for note in found["remarks"] if "failed" in note]


def test_a_companion_that_fails_is_told_of_and_missed_by_no_trial(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    assert main([*BRIEF, "--trials", "2", "--workers", "2", "--out", "one"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert "1 of 2 workers failed (exit code 1)" in found["remarks"]
    assert [row["state"] for row in found["trials"]] == ["complete"] * 2


def test_workers_that_find_no_round_are_told_of(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/true")
    words = [*BRIEF, "--trials", "3", "--points", "2", "--workers", "3", "--out", "few"]
    del words[words.index("--points") : words.index("--points") + 2]
    assert main(words) == 0
    told = "3 workers share 2 rounds of 2 points; a smaller --points gives all of them work"
    assert told in json.loads(capsys.readouterr().out)["remarks"]


def test_a_stop_acts_while_companions_are_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    slow = tmp_path / "slow"
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(slow))
    main_thread = threading.main_thread().ident
    assert main_thread is not None
    real = tune.watch_search

    def watched(*arguments: Any) -> Any:
        yield from real(*arguments)
        signal_later = (main_thread, signal.SIGINT)
        threading.Timer(0.3, signal.pthread_kill, signal_later).start()

    monkeypatch.setattr(tune, "watch_search", watched)
    began = time.monotonic()
    assert main([*BRIEF, "--trials", "1", "--workers", "2", "--out", "stopped"]) == 130
    assert time.monotonic() - began < 30
    assert "chainrule tune --resume stopped" in capsys.readouterr().err


def test_a_refusal_in_the_middle_keeps_what_was_found(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as broken:
        interrupt_in_call(0, broken, InputError("no memory"))
        assert main([*BRIEF, "--trials", "3", "--out", "early"]) == 2
    assert not Path("early").exists()
    with monkeypatch.context() as broken:
        interrupt_in_call(15, broken, InputError("no memory"))
        assert main([*BRIEF, "--trials", "9", "--out", "late"]) == 2
    capsys.readouterr()
    assert main(["tune", "--resume", "late", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["trials"]) == 9


def test_what_cannot_be_built_is_refused_before_the_first_trial(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for space, words in (
        ("hidden=4|0", "a whole number of at least 1"),
        ("dropout=0:1.5", "below 1"),
    ):
        assert main(["tune", "digits-mlp", "--space", space, "--out", "new"]) == 2
        assert words in capsys.readouterr().err
        assert not Path("new").exists()


@pytest.mark.parametrize("study", ["", "elsewhere/s.db"])
def test_a_search_goes_on_from_another_folder_and_after_a_move(
    study: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("elsewhere").mkdir()
    words = [*BRIEF, "--trials", "2", "--out", "here", *(["--study", study] if study else [])]
    assert main(words) == 0
    first = json.loads(capsys.readouterr().out)
    Path("here").rename("moved")
    monkeypatch.chdir("elsewhere")
    assert main(["tune", "--resume", "../moved", "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["trials"] == first["trials"]
    assert again["seconds"] > first["seconds"]
    assert main(["tune", "--resume", "../moved", "--trials", "0"]) == 2
    assert "--trials must be at least 1, got 0" in capsys.readouterr().err


def test_the_command_keeps_the_folder_of_the_data(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*BRIEF, "--trials", "1", "--out", "here", "--data", "sets"]) == 0
    command = json.loads(capsys.readouterr().out)["command"]
    assert shlex.split(command)[-2:] == ["--data", str(Path("sets").resolve())]
    assert main(["tune", "--resume", "here", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["command"] == command


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("mnist-distill", "its teacher has seen the rows that each fold holds out"),
        ("mnist-distill --teacher run", "its teacher has seen the rows that each fold holds out"),
        ("cartpole-dqn", "its agents learn by trial in an environment"),
        ("hopfield-digits", "it stores patterns by Hebb's rule and has no gradient steps"),
        ("shakespeare-gpt", "its data is one text, not separate examples"),
    ],
)
def test_what_cannot_be_cross_validated_is_refused_with_the_recipe_s_reason(
    words: str, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tune", *words.split()]) == 2
    name = words.split()[0]
    told = f"{name} does not support tuning by cross-validation: {reason}"
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("recipe", ["karate-gcn", "cora-gcn"])
def test_nodes_of_a_graph_are_tuned(
    recipe: str, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    words = shlex.split(f"tune {recipe} --epochs 2 --folds 2 --points 1 --trials 2 --json")
    words += ["--space", "learning_rate=1e-3:1e-1:log"]
    if recipe == "cora-gcn":
        words += ["--data", str(request.getfixturevalue("big_data"))]
    assert main(words) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["state"] for row in found["trials"]] == ["complete"] * 2
    assert all(0 <= value <= 1 for row in found["trials"] for value in row["folds"])
    assert "nodes of one graph" in found["remarks"][0]


def test_a_recipe_of_ones_own_is_tuned_and_goes_on(
    my_recipe: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = shlex.split(f"tune {my_recipe} --epochs 2 --folds 2 --points 1 --trials 1 --json")
    assert main([*words, "--space", "learning_rate=1e-3:1e-1:log", "--out", "here"]) == 0
    assert json.loads(capsys.readouterr().out)["command"].startswith(f"chainrule train {my_recipe}")
    assert main(["tune", "--resume", "here", "--trials", "2", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["trials"]) == 2


def test_control_c_leaves_130_and_a_study_that_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = shlex.split(
        "tune moons-mlp --num-samples 90 --epochs 3 --folds 2 --points 2 --trials 4"
    )
    words += ["--json", "--space", *RATES, "--out"]
    assert main([*words, "straight"]) == 0
    straight = json.loads(capsys.readouterr().out)
    interrupt_in_call(5, monkeypatch, None)  # in the second round
    assert main([*words, "broken"]) == 130
    assert "chainrule tune --resume broken" in capsys.readouterr().err
    assert not (Path("broken") / "result.json").exists()
    assert main(["tune", "--resume", "broken", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    for a, b in zip(straight["trials"], found["trials"], strict=True):
        assert a | {"seconds": 0} == b | {"seconds": 0}
    assert main([*words, "broken"]) == 0  # the same command again finds all done
    assert json.loads(capsys.readouterr().out)["best"] == found["best"]
    assert main(["tune", "--resume", "broken", "--trials", "5", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["trials"]) == 5


def test_the_tables_fit_and_the_command_trains_the_best(capsys: pytest.CaptureFixture[str]) -> None:
    words = shlex.split(
        "tune moons-mlp --num-samples 90 --epochs 3 --folds 2 --trials 12 --out here"
    )
    assert main([*words, "--quiet"]) == 0
    assert not capsys.readouterr().out
    assert main(["tune", "--resume", "here"]) == 0
    text = capsys.readouterr().out
    result = result_of("here")
    assert result["command"] in text.replace("\n", " ")
    table = text.split("train it")[0]
    assert max(map(len, table.splitlines())) <= 80 and "…" not in table
    pictures = {path.name for path in Path("here").glob("*.png")}
    assert pictures == {"history.png", "importance.png", "slices.png"}
    assert sum(result["importance"].values()) == pytest.approx(1)
    *_, recipe = shlex.split(result["command"])[:3]
    assert recipe == "moons-mlp"
    assert main([*shlex.split(result["command"])[1:], "--out", "best", "--quiet"]) == 0
    trained = json.loads((Path("best") / "config.json").read_text("utf-8"))["settings"]
    own = {name: value for name, value in trained.items() if name not in OPTION_OF}
    assert own == result["plan"]["settings"] | result["best"]["settings"]


def test_a_full_disk_ends_a_search_with_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from sqlite3 import OperationalError as Cause

    from sqlalchemy.exc import OperationalError

    def full(*_: object) -> None:
        raise OperationalError("INSERT", None, Cause("database or disk is full"))

    words = ["tune", "moons-mlp", "--num-samples", "60", "--epochs", "1", "--folds", "2"]
    with monkeypatch.context() as patch:
        patch.setattr("chainrule.tuning.study.claim", full)
        assert main([*words, "--trials", "1", "--quiet", "--out", "search"]) == 2
    said = capsys.readouterr().err
    assert "search cannot be read or written: database or disk is full; its completed" in said


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda c: c["plan"].update(folds="five"), 'a whole number as "plan.folds", got five'),
        (lambda c: c["plan"].update(space=[3]), 'expected text as "plan.space.0", got 3'),
        (lambda c: c["plan"].pop("metric"), '"plan.metric" is missing'),
        (lambda c: c["plan"].update(grid=1), '"plan" has an unknown key grid'),
        (lambda c: c["plan"]["settings"].update(epochs=[1]), 'whole number as "epochs", got [1]'),
        (lambda c: c.update(trials="all"), 'expected a whole number or null as "trials", got all'),
    ],
)
def test_a_plan_of_another_form_is_refused_by_its_key(
    change: Callable[[dict], object], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["tune", "moons-mlp", "--num-samples", "60", "--epochs", "1", "--folds", "2"]
    assert main([*words, "--trials", "1", "--quiet", "--out", "search"]) == 0
    path = Path("search/tune.json")
    config = json.loads(path.read_text("utf-8"))
    change(config)
    path.write_text(json.dumps(config), "utf-8")
    capsys.readouterr()
    assert main(["tune", "--resume", "search"]) == 2
    assert "was edited or is damaged" in capsys.readouterr().err
    del config["checksum"]
    path.write_text(json.dumps(config), "utf-8")
    assert main(["tune", "--resume", "search"]) == 2
    assert told in " ".join(capsys.readouterr().err.split())
