"""A running studio, and a real browser to look at it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

TOKEN = "a-token-for-the-tests"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]


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
    process.communicate(timeout=20)


@pytest.fixture(scope="module")  # its event loop must not run in the tests of other files
def browser() -> Iterator["object"]:
    """The system's Chromium, driven by Playwright."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip("needs Chromium (apt-get install chromium) to look at the page")
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=path, args=QUIET)
        yield found
        found.close()


@pytest.fixture
def page(browser: object, studio: Studio) -> Iterator["object"]:
    """A tab of 1280 × 800 in which every console error and outside request is a failure."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})  # type: ignore[attr-defined]
    tab = context.new_page()
    wrong: list[str] = []
    tab.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    tab.on(
        "request",
        lambda asked: (
            None
            if studio.host in asked.url or asked.url.startswith(("data:", "blob:"))
            else wrong.append(f"asked for {asked.url}")
        ),
    )
    yield tab
    context.close()
    assert not wrong, wrong
