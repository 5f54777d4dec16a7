"""Every room in Firefox, over WebDriver BiDi: it opens, shows something, and no script fails."""

import asyncio
import itertools
import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.studio.conftest import Studio

websockets = pytest.importorskip("websockets")
FIREFOX = next(filter(None, map(shutil.which, ("firefox-esr", "firefox"))), None)
ROOMS = ("home", "playground", "draw", "sequences", "graphs", "lab", "runs")
SHOWN = "document.querySelectorAll('main h1, main h2').length > 0"
pytestmark = pytest.mark.skipif(
    FIREFOX is None, reason="needs Firefox (apt-get install firefox-esr)"
)


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    """A Firefox that listens on this port."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        number = free.getsockname()[1]
    command = [str(FIREFOX), "--headless", "--no-remote", "--profile", str(tmp_path)]
    process = subprocess.Popen(
        [*command, "--remote-debugging-port", str(number)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    for _ in range(600):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", number)) == 0:
                break
        time.sleep(0.1)
    yield number
    process.terminate()
    process.wait(30)


class Browser:
    """Commands of WebDriver BiDi, one at a time; errors of scripts are collected on the way."""

    def __init__(self, link: Any):
        self.link, self.numbers, self.errors = link, itertools.count(1), list[str]()

    async def do(self, method: str, **parameters: Any) -> Any:
        number = next(self.numbers)
        await self.link.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            message = json.loads(await asyncio.wait_for(self.link.recv(), 60))
            if message.get("method") == "log.entryAdded" and message["params"]["level"] == "error":
                self.errors.append(message["params"]["text"])
            if message.get("id") == number:
                assert message["type"] == "success", message
                return message["result"]

    async def value(self, tab: str, code: str) -> Any:
        found = await self.do(
            "script.evaluate", expression=code, target={"context": tab}, awaitPromise=True
        )
        return found["result"].get("value")


def test_every_room_opens_in_firefox(studio: Studio, port: int) -> None:
    async def visit() -> tuple[dict[str, bool], list[str]]:
        address = f"ws://127.0.0.1:{port}/session"
        async with websockets.connect(address, max_size=2**24, proxy=None) as link:
            browser = Browser(link)
            await browser.do("session.new", capabilities={})
            await browser.do("session.subscribe", events=["log.entryAdded"])
            tab = (await browser.do("browsingContext.getTree"))["contexts"][0]["context"]
            await browser.do(
                "browsingContext.navigate", context=tab, url=studio.address(), wait="complete"
            )
            shown = {}
            for room in ROOMS:
                await browser.value(tab, f"location.hash = '#/{room}'")
                for _ in range(100):
                    await asyncio.sleep(0.1)
                    there = await browser.value(tab, f"document.title.length > 0 && {SHOWN}")
                    opened = await browser.value(tab, "document.querySelector('main').dataset.room")
                    if shown.setdefault(room, False) or (there and opened == room):
                        shown[room] = True
                        break
            return shown, browser.errors

    shown, errors = asyncio.run(visit())
    assert all(shown.values()), shown
    assert not errors, errors
