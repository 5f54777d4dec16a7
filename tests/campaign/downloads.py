"""A server that lies, stalls, never ends or unpacks without end.

Right is: a refusal in one sentence and nothing at the place of the file, or the published file.
"""

import gzip
import hashlib
import random
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from campaign.attempt import Attack, Found, Outcome
from campaign.isolation import isolated
from chainrule.errors import InputError

PUBLISHED = b"the published file\n" * 50
CHECKSUM = f"sha256:{hashlib.sha256(PUBLISHED).hexdigest()}"
MANNERS = (
    "right", "other bytes", "truncated", "too long", "endless", "slow", "silent", "redirect loop",
    "redirect to a file", "not found", "broken", "gzip bomb", "huge length", "no length", "garbage",
    "hangs up", "negative length",
)  # fmt: skip
PATIENCE = 0.5  # seconds that the child waits instead of the half minute of a user


class Hostile(BaseHTTPRequestHandler):
    """Answers every request in one manner."""

    manner = "right"
    draw = random.Random(0)

    def log_message(self, *_: object) -> None:
        """Nothing is printed."""

    def do_GET(self) -> None:
        with suppress(OSError):
            getattr(self, self.manner.replace(" ", "_"))()

    def send(self, body: bytes, length: int | None = None, **headers: str) -> None:
        self.send_response(200)
        if length is not None:
            self.send_header("Content-Length", str(length))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def right(self) -> None:
        self.send(PUBLISHED, len(PUBLISHED))

    def other_bytes(self) -> None:
        place = self.draw.randrange(len(PUBLISHED))
        self.send(PUBLISHED[:place] + b"X" + PUBLISHED[place + 1 :], len(PUBLISHED))

    def truncated(self) -> None:
        self.send(PUBLISHED[: self.draw.randrange(len(PUBLISHED))], len(PUBLISHED))

    def too_long(self) -> None:
        self.send(PUBLISHED + b"more", len(PUBLISHED) + 4)

    def endless(self) -> None:
        self.send(b"")
        while True:
            self.wfile.write(bytes(1 << 16))

    def slow(self) -> None:
        self.send(b"", len(PUBLISHED))
        for byte in PUBLISHED:
            self.wfile.write(bytes([byte]))
            time.sleep(0.2)

    def silent(self) -> None:
        time.sleep(60)

    def redirect_loop(self) -> None:
        self.send_response(302)
        self.send_header("Location", self.path)
        self.end_headers()

    def redirect_to_a_file(self) -> None:
        self.send_response(302)
        self.send_header("Location", "file:///etc/hostname")
        self.end_headers()

    def not_found(self) -> None:
        self.send_error(404)

    def broken(self) -> None:
        self.send_error(503)

    def gzip_bomb(self) -> None:
        packed = gzip.compress(bytes(10**8))
        self.send(packed, len(packed), Content_Encoding="gzip")

    def huge_length(self) -> None:
        self.send(PUBLISHED, 10**15)

    def no_length(self) -> None:
        self.send(PUBLISHED)

    def garbage(self) -> None:
        self.wfile.write(bytes(self.draw.randrange(256) for _ in range(200)))

    def hangs_up(self) -> None:
        self.connection.close()

    def negative_length(self) -> None:
        self.send(PUBLISHED, -5)


def attempt(number: int, draw: random.Random, folder: Path) -> Found:
    manner = MANNERS[number % len(MANNERS)]
    ended = isolated(lambda: fetched(manner, draw, folder), limit=60)
    path = folder / "set" / "file"
    left = sorted(p.name for p in folder.rglob("*") if p.is_file() and p != path)
    if ended.hung:
        return Found(Outcome.HANG, manner)
    if ended.signal:
        return Found(Outcome.CRASH, f"{manner}: signal {ended.signal}")
    if path.exists() and path.read_bytes() != PUBLISHED:
        return Found(Outcome.DAMAGE, f"{manner}: another file was kept")
    if left:
        return Found(Outcome.DAMAGE, f"{manner}: left behind {left}")
    if isinstance(ended.value, InputError):
        return Found(Outcome.REFUSED, f"{manner}: {ended.value}")
    if isinstance(ended.value, BaseException):
        return Found(Outcome.RAW, f"{manner}: {type(ended.value).__name__}: {ended.value}")
    return Found(Outcome.RIGHT) if path.exists() else Found(Outcome.DAMAGE, f"{manner}: no file")


def fetched(manner: str, draw: random.Random, folder: Path) -> str:
    """Done in the child: a server on loopback, and one download from it."""
    from chainrule.data import cache

    impatient()
    handler = type("Handler", (Hostile,), {"manner": manner, "draw": draw})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}/file"
    return str(cache.fetch("set/file", url, CHECKSUM, folder))


def impatient() -> None:
    """The limits of a download, small enough for a test."""
    from chainrule.data import download

    download.SILENCE, download.DEADLINE, download.PAUSE = PATIENCE, 4 * PATIENCE, 0.01
    download.MAX_DOWNLOAD = 10**7


ATTACK = Attack("downloads", attempt, small=len(MANNERS), full=12 * len(MANNERS))
