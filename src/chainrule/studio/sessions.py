"""Pages and their channels: who is connected, what runs for them, how many there may be.

A session belongs to one tab. When its connection breaks, what it runs goes on for a moment, so that
a page that comes back finds it; then it is killed.
"""

import asyncio
import json
import secrets
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from chainrule.errors import InputError
from chainrule.registry import unknown
from chainrule.studio.activity import Json
from chainrule.studio.channels import Channel
from chainrule.studio.player import activity_names

SESSIONS = 40  # at a time
OF_ONE = 20  # of them from one address, so that nobody can take them all
CHANNELS = 8  # of one session
PROCESSES = 48  # of all sessions
TRAININGS = 2  # of recipes, which take all cores and much memory
GRACE = 10.0  # seconds that a lost page has to come back
BURST, RATE = 200.0, 100.0  # messages of one page: at once, and per second
LONGEST_NAME = 40  # characters of a channel's name
PASSED_ON = {
    "send": ("message", dict),
    "seen": ("number", int),
    "pause": None,
    "resume": None,
    "step": None,
}


class Session:
    """One page: its connection, which may break and come back, and its channels."""

    def __init__(self, client: str = "") -> None:
        self.client = client
        self.id = secrets.token_urlsafe(16)
        self.channels: dict[str, Channel] = {}
        self.page: Callable[[str], Awaitable[None]] | None = None
        self.budget, self.counted = BURST, time.monotonic()
        self.ending: asyncio.TimerHandle | None = None

    async def deliver(self, text: str) -> None:
        """To the page, if it is there."""
        if self.page is not None:
            await self.page(text)

    async def tell(self, kind: str, channel: str, **more: Any) -> None:
        await self.deliver(json.dumps({"channel": channel, "type": kind, **more}))

    def within_rate(self) -> bool:
        """Whether the page may send another message now."""
        now = time.monotonic()
        self.budget = min(BURST, self.budget + RATE * (now - self.counted)) - 1
        self.counted = now
        return self.budget >= 0

    async def stop(self, name: str) -> None:
        if channel := self.channels.pop(name, None):
            await channel.stop()

    async def close(self) -> None:
        await asyncio.gather(*map(self.stop, list(self.channels)), return_exceptions=True)


class Sessions:
    """All sessions of the server.

    Args:
        root: the folder of the runs, for the activities that read them.
    """

    def __init__(self, root: Path = Path("runs")) -> None:
        self.root = root
        self.all: dict[str, Session] = {}

    def attach(
        self, wanted: str, page: Callable[[str], Awaitable[None]], client: str = ""
    ) -> Session:
        """The session of a page that comes back, or a new one.

        Args:
            wanted: the name of the session, or anything else for a new one.
            page: takes what is sent to it.
            client: the address from which it comes.
        """
        session = self.all.get(wanted)
        if session is None:
            if len(self.all) >= SESSIONS:
                raise InputError(f"{SESSIONS} pages are open already; close one and reload")
            if sum(other.client == client for other in self.all.values()) >= OF_ONE:
                raise InputError(
                    f"{OF_ONE} pages of this address are open already; close one and reload"
                )
            session = Session(client)
            self.all[session.id] = session
        if session.ending is not None:
            session.ending.cancel()
            session.ending = None
        session.page = page
        return session

    def detach(self, session: Session, page: Callable[[str], Awaitable[None]]) -> None:
        """The connection is gone; the session ends unless the page comes back soon."""
        if session.page is not page:  # another connection has taken over
            return
        session.page = None
        loop = asyncio.get_running_loop()
        session.ending = loop.call_later(GRACE, lambda: loop.create_task(self.end(session)))

    async def end(self, session: Session) -> None:
        """Unless its page has come back in the last moment."""
        if session.page is not None:
            return
        self.all.pop(session.id, None)
        await session.close()

    async def close(self) -> None:
        """Everything, when the server stops."""
        for session in self.all.values():
            session.page = None
        await asyncio.gather(*(self.end(session) for session in list(self.all.values())))

    async def handle(self, session: Session, message: Any) -> None:
        """One message of a page; anything malformed is an InputError."""
        if session.id not in self.all:
            raise InputError("this page has been away too long; reload it")
        if not isinstance(message, dict):
            raise InputError("a message must be a JSON object")
        kind, name = message.get("type"), message.get("channel")
        if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME:
            raise InputError("a message needs the name of its channel")
        if kind == "start":
            await self.start(session, name, message)
        elif kind == "stop":
            await session.stop(name)
        elif isinstance(kind, str) and kind in PASSED_ON:
            await pass_on(session, name, message)
        else:
            raise InputError(unknown("kind of message", str(kind)[:40], ["start", *PASSED_ON]))

    async def start(self, session: Session, name: str, message: Json) -> None:
        """A new activity; whatever ran on the channel is stopped."""
        activity, settings = message.get("activity"), message.get("settings", {})
        if not isinstance(activity, str) or activity not in activity_names():
            raise InputError(unknown("activity", str(activity)[:40], activity_names()))
        if not isinstance(settings, dict):
            raise InputError("the settings of an activity must be a JSON object")
        await session.stop(name)
        if len(session.channels) >= CHANNELS:
            raise InputError(f"a page may run {CHANNELS} activities at a time")
        running = [c.activity for s in self.all.values() for c in s.channels.values()]
        if activity == "training" and running.count("training") >= TRAININGS:
            raise InputError(
                f"{TRAININGS} recipes are being trained already; stop one of them first"
            )
        if len(running) >= PROCESSES:
            raise InputError(f"{PROCESSES} activities are running already; stop one of them first")
        channel = session.channels[name] = Channel(name, session.deliver, self.root)
        try:
            await channel.start(activity, settings)
        except InputError:
            del session.channels[name]
            raise


async def pass_on(session: Session, name: str, message: Json) -> None:
    """A message for the child process of a channel."""
    channel = session.channels.get(name)
    if channel is None:  # it ended while the message was on its way
        return
    kind = message["type"]
    needed = PASSED_ON[kind]
    passed: Json = {"type": kind}
    if needed is not None:
        field, wanted = needed
        if not isinstance(message.get(field), wanted) or isinstance(message[field], bool):
            raise InputError(f"a message of the kind {kind} needs `{field}`")
        passed[field] = message[field]
    await channel.send(passed)
