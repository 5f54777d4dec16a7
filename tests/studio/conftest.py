"""A running studio, and a real browser to look at it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from browsing import chromium, strict_tab

TOKEN = "a-token-for-the-tests"


class Studio(NamedTuple):
    """A server in a process of its own."""

    process: "subprocess.Popen[str]"
    port: int
    runs: Path

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def cookie(self) -> str:
        return f"chainrule-studio-{self.port}={TOKEN}"

    def address(self, room: str = "") -> str:
        return f"http://{self.host}/?token={TOKEN}#/{room}"


@pytest.fixture(scope="session")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """The studio as a user starts it; an extra that is missing skips the test."""
    pytest.importorskip("uvicorn")
    folder = tmp_path_factory.mktemp("studio")
    runs = folder / "runs"
    runs.mkdir()
    command = [sys.executable, "-m", "chainrule", "studio", "--no-browser", "--token", TOKEN]
    process = subprocess.Popen(
        [*command, "--runs", str(runs)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    assert process.stdout is not None
    first = process.stdout.readline()  # printed once the port is open
    yield Studio(process, int(first.split(":")[2].split("/")[0]), runs)
    process.terminate()
    process.communicate(timeout=120)


@pytest.fixture(scope="module")  # its event loop must not run in the tests of other files
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture
def page(browser: Any, studio: Studio) -> Iterator[Any]:
    """A tab of 1280 × 800 that may ask the studio alone."""
    size = {"width": 1280, "height": 800}
    with strict_tab(browser, f"http://{studio.host}", f"ws://{studio.host}", viewport=size) as tab:
        yield tab
