"""A real server: several pages, lost connections, killed tabs, and no process left behind."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

websockets = pytest.importorskip("websockets")

from chainrule.errors import InputError  # noqa: E402
from chainrule.studio import sessions  # noqa: E402
from tests.studio.conftest import TOKEN, Studio  # noqa: E402

CLAIM = {"type": "start", "channel": "a", "activity": "claim", "settings": {"claim": "xor"}}


class Page:
    """A page without a browser."""

    def __init__(self, socket: Any):
        self.socket = socket

    async def tell(self, kind: str, **more: Any) -> None:
        await self.socket.send(json.dumps({"type": kind, **more}))

    async def hear(self) -> dict[str, Any]:
        return json.loads(await asyncio.wait_for(self.socket.recv(), 60))

    async def until(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first message of that kind; views on the way are confirmed."""
        while True:
            message = await self.hear()
            if message["type"] == "view":
                await self.tell("seen", channel=message["channel"], number=message["number"])
            if wanted(message):
                return message


def talk(studio: Studio, work: Callable[[Page], Awaitable[Any]], session: str = "") -> Any:
    """Connect as a page does, and do the work."""

    async def connected() -> Any:
        address = f"ws://{studio.host}/live?session={session}"
        headers = {"Cookie": studio.cookie}
        async with websockets.connect(
            address, additional_headers=headers, origin=f"http://{studio.host}", proxy=None
        ) as socket:
            return await work(Page(socket))

    return asyncio.run(connected())


def measured(message: dict[str, Any]) -> bool:
    return message["type"] == "view" and not message["content"]["measuring"]


def descendants(process: int) -> set[int]:
    """All processes below one, by the system's own table."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if fields[0] != "Z":
            parents[int(path.parent.name)] = int(fields[1])
    found, before = {process}, set()
    while found != before:
        before = set(found)
        found |= {child for child, parent in parents.items() if parent in before}
    return found - {process}


def wait_for(true: Callable[[], bool], seconds: float = 30) -> bool:
    end = time.monotonic() + seconds
    while not true() and time.monotonic() < end:
        time.sleep(0.1)
    return true()


def test_a_claim_is_measured_and_measured_again(studio: Studio) -> None:
    async def work(page: Page) -> tuple[dict[str, Any], ...]:
        await page.until(lambda m: m["type"] == "session")
        await page.socket.send(json.dumps(CLAIM))
        first = await page.until(measured)
        await page.tell("send", channel="a", message={"violation": "broken"})
        second = await page.until(lambda m: measured(m) and not m["content"]["holds"])
        return first["content"], second["content"]

    stated, violated = talk(studio, work)
    assert stated["holds"] and not violated["holds"]
    assert stated["measured"] == stated["bound"] == 0


def test_bad_settings_are_answered_with_a_sentence(studio: Studio) -> None:
    async def work(page: Page) -> str:
        await page.hear()
        await page.socket.send(json.dumps(CLAIM | {"settings": {"claim": "no-such-claim"}}))
        return (await page.until(lambda m: m["type"] == "error"))["message"]

    assert "there is no claim named" in talk(studio, work)


def test_a_page_that_comes_back_finds_its_activity(studio: Studio) -> None:
    async def begin(page: Page) -> str:
        session = (await page.hear())["id"]
        await page.socket.send(json.dumps(CLAIM))
        await page.until(measured)
        return session

    async def again(page: Page) -> tuple[str, dict[str, Any]]:
        session = (await page.hear())["id"]
        return session, (await page.until(measured))["content"]

    session = talk(studio, begin)
    returned, content = talk(studio, again, session)
    assert returned == session and content["holds"]


def test_pages_do_not_see_each_other(studio: Studio) -> None:
    async def work(page: Page) -> set[str]:
        await page.hear()
        headers = {"Cookie": studio.cookie}
        async with websockets.connect(
            f"ws://{studio.host}/live",
            additional_headers=headers,
            origin=f"http://{studio.host}",
            proxy=None,
        ) as socket:
            other = Page(socket)
            await other.hear()
            await page.socket.send(json.dumps(CLAIM))
            await other.socket.send(json.dumps(CLAIM | {"settings": {"claim": "cover"}}))
            mine = await page.until(measured)
            theirs = await other.until(measured)
            return {mine["content"]["quantity"], theirs["content"]["quantity"]}

    assert len(talk(studio, work)) == 2


def test_a_page_may_run_only_so_many_activities(studio: Studio) -> None:
    async def work(page: Page) -> dict[str, Any]:
        await page.hear()
        for k in range(sessions.CHANNELS + 1):
            await page.socket.send(json.dumps(CLAIM | {"channel": f"c{k}"}))
        return await page.until(lambda m: m["type"] == "error")

    assert "activities at a time" in talk(studio, work)["message"]


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs Linux's table of processes")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_server_leaves_no_process(how: int, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "chainrule", "studio", "--no-browser", "--token", TOKEN],
        stdout=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    assert process.stdout is not None
    port = int(process.stdout.readline().split(":")[2].split("/")[0])
    left: set[int] = set()

    async def work(page: Page) -> None:
        await page.hear()
        await page.socket.send(json.dumps(CLAIM))
        await page.until(measured)
        left.update(descendants(process.pid))
        os.kill(process.pid, how)

    talk(Studio(process, port, tmp_path), work)
    process.communicate(timeout=30)
    assert len(left) >= 2  # the process that forks, and the activity
    assert wait_for(lambda: not any(Path(f"/proc/{child}").exists() for child in left))


def test_a_killed_tab_ends_its_activity(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "GRACE", 0.1)

    async def work() -> tuple[bool, bool]:
        pages = sessions.Sessions()
        heard: list[str] = []

        async def page(text: str) -> None:
            heard.append(text)

        session = pages.attach("", page)
        await pages.handle(session, CLAIM)
        while not heard:
            await asyncio.sleep(0.05)
        process = session.channels["a"].process
        assert process is not None
        alive = process.is_alive()
        pages.detach(session, page)
        for _ in range(100):
            await asyncio.sleep(0.05)
            if not pages.all and not session.channels:
                break
        return alive, bool(pages.all or session.channels)

    assert asyncio.run(work()) == (True, False)


def test_one_address_cannot_take_all_sessions() -> None:
    async def page(text: str) -> None: ...

    pages = sessions.Sessions()
    first = [pages.attach("", page, "192.0.2.1") for _ in range(sessions.OF_ONE)]
    with pytest.raises(InputError, match="pages of this address are open already"):
        pages.attach("", page, "192.0.2.1")
    assert pages.attach(first[0].id, page, "192.0.2.1") is first[0]  # it comes back
    for _ in range(sessions.SESSIONS - sessions.OF_ONE):
        pages.attach("", page, "192.0.2.2")
    with pytest.raises(InputError, match=f"{sessions.SESSIONS} pages are open already"):
        pages.attach("", page, "192.0.2.3")
