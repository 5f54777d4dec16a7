"""One study for many workers: in a file or on a PostgreSQL server, and with workers that die."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chainrule.errors import InputError
from chainrule.recipes.feedforward.moons_mlp import Recipe
from chainrule.runs.configuration import Configuration
from chainrule.runs.options import OPTION_OF
from chainrule.tuning import database
from chainrule.tuning import search as tuning
from chainrule.tuning import study as studies
from chainrule.tuning.result import summary

pytest.importorskip("optuna")
SMALL = Recipe.configured(num_samples=90, hidden=(4,), epochs=2, batch_size=64)
BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin")) + sorted(
    Path(found).parent for found in [shutil.which("initdb")] if found
)
DIES = """
import sys, time
from chainrule.tuning import search as tuning, workers
from test_many_workers import plan

def never(*_):
    print("claimed", flush=True)
    time.sleep(600)

workers.machine = lambda: "elsewhere"
tuning.cross_validate = never
for _ in tuning.search(tuning.prepare(plan(), sys.argv[1], 6, None)):
    pass
"""


def plan(**more: Any) -> tuning.Plan:
    values = Configuration(SMALL).values()
    settings = {name: value for name, value in values.items() if name not in OPTION_OF}
    space = ("learning_rate=1e-3:1e-1:log", "hidden=3|5")
    return tuning.Plan(
        recipe="moons-mlp",
        settings=settings,
        **{"space": space, "folds": 2, "points": 2, "pruner": "none", "sampler": "random"} | more,
    )


def searched(place: str) -> list[dict[str, Any]]:
    """The trials of a search carried to its end, without the time they took."""
    prepared = tuning.prepare(plan(), place, 6, None)
    for _ in tuning.search(prepared):
        pass
    found = summary(prepared, 0.0)["trials"]
    return [{k: v for k, v in row.items() if k != "seconds"} for row in found]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The folder of a PostgreSQL server of our own that listens on a socket in it."""
    if not BINARIES:
        pytest.skip("PostgreSQL is not installed")
    pytest.importorskip("psycopg")
    folder = Path(tempfile.mkdtemp())
    user: dict[str, Any] = {}
    if os.geteuid() == 0:  # PostgreSQL refuses to run as root
        shutil.chown(folder, "nobody")
        user = {"user": "nobody", "cwd": folder}
    initdb = [BINARIES[0] / "initdb", "-D", folder / "data", "-U", "tuner", "-A", "trust", "-N"]
    subprocess.run(initdb, check=True, capture_output=True, **user)
    options = ["-c", "listen_addresses=", "-k", folder, "-F"]
    process = subprocess.Popen(
        [BINARIES[0] / "postgres", "-D", folder / "data", *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        **user,
    )
    try:
        yield str(folder)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)
        shutil.rmtree(folder)


@pytest.fixture
def postgres(server: str, request: pytest.FixtureRequest) -> str:
    """The URL of an empty database."""
    import psycopg

    name = f"study{abs(hash(request.node.name))}"
    end = time.monotonic() + 60
    while True:
        try:
            with psycopg.connect(f"host={server} user=tuner dbname=postgres") as connection:
                connection.autocommit = True
                connection.execute(f"CREATE DATABASE {name}")  # type: ignore[call-overload]
            return f"postgresql://tuner@/{name}?host={server}"
        except psycopg.OperationalError:  # it is starting
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_server_holds_the_same_search_as_a_file(postgres: str) -> None:
    assert searched(postgres) == searched("study.db")
    with pytest.raises(InputError, match="differs in folds"):
        tuning.prepare(plan(folds=3), postgres, 6, None)


@pytest.mark.parametrize("kind", ["file", "server"])
def test_the_trials_of_a_killed_worker_elsewhere_are_given_back(
    kind: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It dies by SIGKILL with a round in its hands; the others find the trials it would have."""
    place = "study.db" if kind == "file" else request.getfixturevalue("postgres")
    paths = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    worker = subprocess.Popen(
        [sys.executable, "-c", DIES, place],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": paths},
    )
    assert worker.stdout is not None
    try:
        assert worker.stdout.readline() == b"claimed\n"
    finally:
        worker.kill()
        worker.wait()
        worker.stdout.close()
    monkeypatch.setattr(database, "DEAD_AFTER", 3600)
    patient = tuning.prepare(plan(), place, 6, None)
    held = studies.in_state(patient.study, "RUNNING")
    assert [studies.planned(t) for t in held] == [0, 1]
    assert held[0].user_attrs["worker"].startswith("elsewhere:")
    monkeypatch.setattr(database, "DEAD_AFTER", 1)
    assert searched(place) == searched("straight.db")


def test_two_workers_that_open_an_empty_server_at_once_share_one_plan(postgres: str) -> None:
    command = "from test_many_workers import *; import sys; searched(sys.argv[1])"
    paths = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    both = [
        subprocess.Popen(
            [sys.executable, "-c", command, postgres], env=os.environ | {"PYTHONPATH": paths}
        )
        for _ in range(2)
    ]
    assert [worker.wait(300) for worker in both] == [0, 0]
    assert searched(postgres) == searched("straight.db")


def test_a_url_says_its_driver() -> None:
    assert database.url_of("postgres://me@there/x") == "postgresql+psycopg://me@there/x"
    assert database.url_of("postgresql+psycopg2://me@there/x").startswith("postgresql+psycopg2:")
    assert database.url_of("study.db") == f"sqlite:///{Path('study.db').resolve()}"


def test_a_missing_driver_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'chainrule\[postgres\]'"):
        database.check_url("postgresql://me@there/x")
