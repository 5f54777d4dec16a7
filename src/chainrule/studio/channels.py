"""Child processes as the server sees them: one channel is one activity of one page."""

import asyncio
import json
import multiprocessing
import socket
from collections.abc import Awaitable, Callable
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from pathlib import Path

from chainrule.errors import InputError
from chainrule.studio.activity import Json
from chainrule.studio.player import LARGEST, LENGTH, play

Deliver = Callable[[str], Awaitable[None]]
METHOD = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
FAREWELL = 2.0  # seconds that a killed process may take to be gone


def context() -> BaseContext:
    """How children are made: forked from a process that has torch imported and runs no threads."""
    found = multiprocessing.get_context(METHOD)
    found.set_forkserver_preload(["chainrule.studio.preload"])
    return found


def warm_up() -> None:
    """Start that process now, so that the first activity need not wait for it."""
    if METHOD == "forkserver":
        from multiprocessing.forkserver import ensure_running

        context()
        ensure_running()


class Channel:
    """One activity in its child process.

    Args:
        name: of the channel, chosen by the page.
        deliver: takes every message of the child, as JSON text, to the page.
        root: the folder of the runs.
    """

    def __init__(self, name: str, deliver: Deliver, root: Path = Path("runs")):
        self.name, self.deliver, self.root = name, deliver, root
        self.activity = ""
        self.process: BaseProcess | None = None
        self.writer: asyncio.StreamWriter | None = None
        self.reading: asyncio.Task[None] | None = None

    async def start(self, activity: str, settings: Json) -> None:
        """Start the child process and pass its messages on."""
        self.activity = activity
        ours, theirs = socket.socketpair()
        arguments = (theirs, activity, json.dumps(settings), self.root)
        process = context().Process(target=play, args=arguments, daemon=True)  # type: ignore[attr-defined]
        try:
            await asyncio.to_thread(process.start)
        except OSError as error:
            ours.close()
            raise InputError(f"the activity could not be started: {error.strerror}") from None
        finally:
            theirs.close()
        self.process = process
        self.reader, self.writer = await asyncio.open_connection(sock=ours)
        self.reading = asyncio.create_task(self.pass_on())

    async def pass_on(self) -> None:
        """Messages of the child, until it is gone."""
        head = f'{{"channel":{json.dumps(self.name)},'
        try:
            while True:
                (length,) = LENGTH.unpack(await self.reader.readexactly(LENGTH.size))
                if length > LARGEST:
                    raise asyncio.IncompleteReadError(b"", length)
                content = await self.reader.readexactly(length)
                await self.deliver(head + content.decode()[1:])
        except (asyncio.IncompleteReadError, ConnectionError):
            await self.deliver(f'{head}"type":"gone"}}')

    async def send(self, message: Json) -> None:
        """A message to the child; one that is gone misses nothing.

        It is not waited for: a child in a long step must not hold up the page's other messages.
        """
        if self.writer is None or self.writer.is_closing():
            return
        if self.writer.transport.get_write_buffer_size() > LARGEST:
            raise InputError("the activity is busy and takes no more messages; start it again")
        content = json.dumps(message).encode()
        self.writer.write(LENGTH.pack(len(content)) + content)

    async def stop(self) -> None:
        """Kill the child, and wait until it is gone."""
        if self.process is None:
            return
        if self.reading is not None:
            self.reading.cancel()
        if self.writer is not None:
            self.writer.close()
        self.process.kill()
        await asyncio.to_thread(self.process.join, FAREWELL)
        self.process = None
