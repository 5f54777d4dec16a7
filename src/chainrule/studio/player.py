"""The child process of an activity: step it, and show it when the page can take another view.

Messages are JSON texts with their length before them, on a socket to the server. The page confirms
every view it has drawn; until then, and for a twentieth of a second in any case, the activity goes
on unseen. So neither a slow page nor a fast network is ever in the other's way.
"""

import contextlib
import json
import os
import select
import socket
import struct
import time
from collections import deque
from pathlib import Path
from typing import Any

from chainrule.children import die_with_parent
from chainrule.errors import InputError
from chainrule.registry import unknown
from chainrule.studio import place
from chainrule.studio.activity import Activity, Json

PERIOD = 1 / 20  # seconds between two views
LENGTH = struct.Struct(">I")
LARGEST = 2**24  # bytes of a message in either direction
NICENESS = 5  # the server answers before any training goes on
MEMORY = 4 * 2**30  # bytes of one child process


class Link:
    """Messages to and from the server."""

    def __init__(self, connection: socket.socket):
        self.connection, self.received = connection, bytearray()

    def send(self, message: Json) -> None:
        text = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        content = text.encode()
        if len(content) > LARGEST:
            raise InputError(f"a view of {len(content)} bytes is too large for the page")
        self.connection.sendall(LENGTH.pack(len(content)) + content)

    def receive(self, seconds: float | None) -> list[Json]:
        """What has arrived; waits this long for the first message, for ever if None."""
        ready, _, _ = select.select([self.connection], [], [], seconds)
        if ready:
            content = self.connection.recv(2**16)
            if not content:
                raise EOFError
            self.received += content
        found = []
        while len(self.received) >= LENGTH.size:
            (length,) = LENGTH.unpack_from(self.received)
            if len(self.received) < LENGTH.size + length:
                break
            found.append(json.loads(self.received[LENGTH.size : LENGTH.size + length]))
            del self.received[: LENGTH.size + length]
        return found


class Player:
    """Plays one activity for one page.

    Args:
        activity: what is played.
        link: to the server.
    """

    def __init__(self, activity: Activity, link: Link):
        self.activity, self.link = activity, link
        self.messages: deque[Json] = deque()
        self.playing, self.steps = True, 0
        self.number, self.wanted, self.shown_at = 0, True, 0.0
        self.fresh = True  # the view has changed since it was shown
        self.ended = False

    def play(self) -> None:
        """Until the server closes the link."""
        self.view = next(self.activity)
        while True:
            for message in self.link.receive(self.patience()):
                self.handle(message)
            self.show_if_due()
            if self.may_advance():
                self.advance()

    def may_advance(self) -> bool:
        if self.ended:
            return False
        if self.messages or self.steps:
            return True
        return self.playing and not self.view.waiting

    def patience(self) -> float | None:
        """How long to wait for a message: not at all while there is something to do."""
        if self.may_advance():
            return 0.0
        if self.fresh and self.wanted:
            return max(0.0, self.shown_at + PERIOD - time.monotonic())
        return None

    def advance(self) -> None:
        message = self.messages.popleft() if self.messages else None
        if message is None:
            self.steps = max(0, self.steps - 1)
        before = self.view
        try:
            self.view = self.activity.send(message)
        except StopIteration:
            self.ended = True
        except InputError as error:
            self.ended = True
            self.link.send({"type": "error", "message": str(error)})
        self.fresh = self.fresh or self.view is not before
        if self.ended:
            self.show()
            self.link.send({"type": "ended"})

    def handle(self, message: Json) -> None:
        kind = message["type"]
        if kind == "send":
            self.messages.append(message["message"])
        elif kind == "seen":
            self.wanted = self.wanted or message["number"] >= self.number
        elif kind == "look":  # the page is back after a lost connection
            self.wanted = self.fresh = True
        elif kind == "step":
            self.playing, self.steps = False, self.steps + 1
        elif kind in ("pause", "resume"):
            self.playing = kind == "resume"

    def show_if_due(self) -> None:
        if self.fresh and self.wanted and time.monotonic() - self.shown_at >= PERIOD:
            self.show()

    def show(self) -> None:
        self.number += 1
        content = self.view.draw()
        sent = {"type": "view", "number": self.number, "at": time.monotonic(), "content": content}
        self.link.send(sent)
        self.wanted = self.fresh = False
        self.shown_at = time.monotonic()


def play(connection: socket.socket, name: str, settings: str, root: Path = Path("runs")) -> None:
    """What a child process does: one activity, until the server closes the socket or dies.

    Args:
        connection: to the server.
        name: of the activity.
        settings: its settings as JSON.
        root: the folder of the runs.
    """
    die_with_parent(os.getppid())
    place.settle(root)
    os.nice(NICENESS)
    limit_memory()
    link = Link(connection)
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError, KeyboardInterrupt):
        try:
            import torch

            torch.set_num_threads(1)
            Player(activity_named(name)(json.loads(settings)), link).play()
        except InputError as error:
            link.send({"type": "error", "message": str(error)})
            link.send({"type": "ended"})
        except (EOFError, BrokenPipeError, ConnectionResetError):
            raise
        except Exception as error:
            if os.environ.get("CHAINRULE_DEBUG"):
                raise
            fault = f"an unexpected fault in {name}: {type(error).__name__}: {error}"
            link.send({"type": "error", "message": fault})
            link.send({"type": "ended"})


def limit_memory() -> None:
    """An activity that wants more than its share fails alone (where the system can limit it)."""
    try:
        import resource
    except ImportError:  # Windows
        return
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, most))


def activity_named(name: str) -> Any:
    """The `run` of the activity of that name; names are looked up, never imported blindly."""
    from importlib import import_module

    if name not in activity_names():
        raise InputError(unknown("activity", name, activity_names()))
    return import_module(f"chainrule.studio.activities.{name.replace('-', '_')}").run


def activity_names() -> list[str]:
    """The files of `activities/`, with dashes."""
    folder = Path(__file__).parent / "activities"
    return sorted(p.stem.replace("_", "-") for p in folder.glob("*.py") if p.stem != "__init__")
