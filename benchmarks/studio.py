"""The studio measured: first update, updates per second, latency, slow-down, memory, sessions.

    python benchmarks/studio.py                       everything, about 45 minutes
    python benchmarks/studio.py first load            only these parts
    python benchmarks/studio.py memory --minutes 30

The server runs as a user starts it. Pages are real ones in Chromium where that is said, else bare
WebSockets that confirm every view. The slow-down is the ratio of interleaved rounds. Results go to
benchmarks/studio.json.
"""

import argparse
import asyncio
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import date
from pathlib import Path
from typing import Any

import psutil
import websockets

TOKEN = "a-token-for-the-benchmark"
RESULTS = Path(__file__).with_suffix(".json")
CNN = {"recipe": "mnist-cnn", "values": {"epochs": 5}}
GPT = {"recipe": "shakespeare-gpt"}


WEIGHT = """["encodedBodySize", "decodedBodySize"].map((size) =>
    [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
        .filter((entry) => entry.initiatorType !== "img")
        .reduce((sum, entry) => sum + entry[size], 0) / 1000)"""


class Server:
    """The studio in a process of its own."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        command = [sys.executable, "-m", "chainrule", "studio", "--no-browser", "--token", TOKEN]
        self.process = subprocess.Popen(
            [*command, "--runs", str(self.folder)], stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline().split(":")[2].split("/")[0])
        time.sleep(5)  # the process that forks has imported torch by then

    def close(self) -> None:
        self.process.terminate()
        self.process.communicate(timeout=30)
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/?token={TOKEN}"


@contextmanager
def serving() -> Iterator[Server]:
    server = Server()
    try:
        yield server
    finally:
        server.close()


@asynccontextmanager
async def connected(server: Server) -> Any:
    """A page without a browser."""
    host = f"127.0.0.1:{server.port}"
    async with websockets.connect(
        f"ws://{host}/live",
        additional_headers={"Cookie": f"chainrule-studio-{server.port}={TOKEN}"},
        origin=f"http://{host}",
        max_size=2**24,
        proxy=None,
    ) as socket:
        await socket.recv()
        yield socket


async def start(socket: Any, activity: str, settings: dict[str, Any]) -> None:
    message = {"type": "start", "channel": "a", "activity": activity, "settings": settings}
    await socket.send(json.dumps(message))


async def view(socket: Any, confirm: bool = True) -> tuple[dict[str, Any], float]:
    """The next view and the seconds since it was drawn."""
    while True:
        message = json.loads(await asyncio.wait_for(socket.recv(), 120))
        if message["type"] == "error":
            raise RuntimeError(message["message"])
        if message["type"] == "view":
            late = time.monotonic() - message["at"]
            if confirm:
                seen = {"type": "seen", "channel": "a", "number": message["number"]}
                await socket.send(json.dumps(seen))
            return message["content"], late


def spread(values: list[float]) -> dict[str, float]:
    ordered = sorted(values)
    return {
        "median": round(statistics.median(ordered), 5),
        "p95": round(ordered[int(0.95 * (len(ordered) - 1))], 5),
        "most": round(ordered[-1], 5),
    }


def first() -> dict[str, Any]:
    """Seconds from the wish to start to the first view, five times."""

    async def once(server: Server) -> float:
        async with connected(server) as socket:
            began = time.monotonic()
            await start(socket, "playground", {})
            await view(socket)
            return time.monotonic() - began

    with serving() as server:
        return {"seconds": spread([asyncio.run(once(server)) for _ in range(5)])}


def rates() -> dict[str, Any]:
    """Updates per second and latency while real networks train."""

    async def watch(server: Server, activity: str, settings: dict[str, Any]) -> dict[str, Any]:
        async with connected(server) as socket:
            await start(socket, activity, settings)
            content: dict[str, Any] = {}
            while activity == "training" and "step" not in content:
                content, _ = await view(socket)
            began, late = time.monotonic(), []
            while time.monotonic() - began < 20:
                late.append((await view(socket))[1])
            rate = len(late) / (time.monotonic() - began)
            await socket.send(json.dumps({"type": "stop", "channel": "a"}))
            return {"updates per second": round(rate, 2), "latency in seconds": spread(late)}

    with serving() as server:
        return {
            "playground": asyncio.run(watch(server, "playground", {})),
            "mnist-cnn": asyncio.run(watch(server, "training", CNN)),
            "shakespeare-gpt": asyncio.run(watch(server, "training", GPT)),
        }


def slowdown(rounds: int = 3) -> dict[str, Any]:
    """Steps per second of the MNIST CNN, watched and unwatched in turns, 15 seconds each."""

    async def steps(server: Server, watched: bool) -> float:
        async with connected(server) as socket:
            await start(socket, "training", CNN)
            content: dict[str, Any] = {}
            while "step" not in content:
                content, _ = await view(socket)
            first, began = done(content), time.monotonic()
            while time.monotonic() - began < 15:
                if watched:
                    content, _ = await view(socket)
                else:
                    await asyncio.sleep(0.5)
            if not watched:  # the view that lay there is old: confirm it, and take the next
                await view(socket)
                content, _ = await view(socket)
            rate = (done(content) - first) / (time.monotonic() - began)
            await socket.send(json.dumps({"type": "stop", "channel": "a"}))
            return rate

    with serving() as server:
        asyncio.run(steps(server, True))  # the first reads and caches the data
        pairs = [
            (asyncio.run(steps(server, True)), asyncio.run(steps(server, False)))
            for _ in range(rounds)
        ]
    ratios = [alone / watched for watched, alone in pairs]
    return {
        "steps per second, watched": round(statistics.median(p[0] for p in pairs), 2),
        "steps per second, unwatched": round(statistics.median(p[1] for p in pairs), 2),
        "slow-down": [round(ratio - 1, 4) for ratio in ratios],
        "median slow-down": round(statistics.median(ratios) - 1, 4),
    }


def done(content: dict[str, Any]) -> int:
    """Steps of all epochs so far."""
    return (content["epoch"] - 1) * content["steps"] + content["step"]


def load(sessions: int = 20, seconds: float = 30) -> dict[str, Any]:
    """Updates per second of each of many sessions that stream at once."""

    async def one(server: Server) -> float:
        async with connected(server) as socket:
            await start(socket, "playground", {})
            await view(socket)
            began, count = time.monotonic(), 0
            while time.monotonic() - began < seconds:
                await view(socket)
                count += 1
            return count / (time.monotonic() - began)

    async def many(server: Server) -> list[float]:
        return list(await asyncio.gather(*(one(server) for _ in range(sessions))))

    with serving() as server:
        found = asyncio.run(many(server))
    return {
        "sessions": sessions,
        "updates per second, least": round(min(found), 2),
        "updates per second, median": round(statistics.median(found), 2),
        "updates per second, most": round(max(found), 2),
        "most / least": round(max(found) / min(found), 3),
    }


@contextmanager
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=path,
            args=[
                "--no-sandbox",
                "--disable-background-networking",
                "--enable-precise-memory-info",
            ],
        )
        yield browser.new_page(viewport={"width": 1280, "height": 800})
        browser.close()


def page() -> dict[str, Any]:
    """First paint and weight of the page, each room opened once."""
    rooms = ("home", "playground", "draw", "sequences", "graphs", "lab", "runs")
    with serving() as server, chromium() as tab:
        tab.goto(server.address)
        tab.wait_for_selector("h1")
        tab.wait_for_timeout(1000)
        paint = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
        first_paint, home = tab.evaluate(paint), tab.evaluate(WEIGHT)
        for room in rooms[1:]:
            tab.evaluate(f"location.hash = '#/{room}'")
            tab.wait_for_timeout(2500)
        everything = tab.evaluate(WEIGHT)
    return {
        "first contentful paint in seconds": round(first_paint / 1000, 3),
        "home in kB, compressed and plain": home,
        "all rooms in kB, compressed and plain": everything,
    }


def memory(minutes: float = 30) -> dict[str, Any]:
    """Memory of the page, the server and the activity while the playground streams."""
    samples: list[dict[str, float]] = []
    with serving() as server, chromium() as tab:
        tab.goto(f"{server.address}#/playground")
        tab.wait_for_timeout(6000)
        tab.get_by_role("button", name="Start").first.click()
        main = psutil.Process(server.process.pid)
        session = tab.context.new_cdp_session(tab)
        session.send("HeapProfiler.enable")
        end = time.monotonic() + 60 * minutes
        while True:
            step = stream(tab, samples[-1]["step"] if samples else 0)
            session.send("HeapProfiler.collectGarbage")
            used = tab.evaluate("performance.memory.usedJSHeapSize")
            below = {p.pid: p.memory_info().rss for p in main.children(recursive=True)}
            samples.append(
                {
                    "minute": round(minutes - (end - time.monotonic()) / 60, 2),
                    "step": step,
                    "page heap": round(used / 1e6, 2),
                    "server": round(main.memory_info().rss / 1e6, 2),
                    "largest child": round(max(below.values()) / 1e6, 2),
                }
            )
            if time.monotonic() >= end:
                break
            tab.wait_for_timeout(min(60_000, max(1000, 1000 * (end - time.monotonic()))))
    return {"minutes": minutes, "unit": "MB", "samples": samples}


def stream(tab: Any, before: float) -> int:
    """The step that the page shows; it must have gone on since the last look."""
    tab.wait_for_timeout(2000)
    step = int(tab.locator(".clock").inner_text().split()[1])
    if step <= before:
        raise RuntimeError(f"the playground does not stream: step {step} after {before}")
    return step


PARTS = {
    "first": first,
    "rates": rates,
    "slowdown": slowdown,
    "load": load,
    "page": page,
    "memory": memory,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=[])
    parser.add_argument("--minutes", type=float, default=30)
    options = parser.parse_args()
    known = json.loads(RESULTS.read_text()) if RESULTS.is_file() else {}
    for name in options.parts or PARTS:
        found = memory(options.minutes) if name == "memory" else PARTS[name]()
        found["date"] = date.today().isoformat()
        found["load average of the machine"] = round(os.getloadavg()[0], 2)
        print(name, json.dumps(found, indent=1))
        known[name] = found
        known["machine"] = f"{platform.machine()}, {os.cpu_count()} cores"
        known["command"] = "python benchmarks/studio.py"
        RESULTS.write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    main()
