"""Two processes on one run folder, and two that want a name in the same instant.

Right is: no process damages the work of the other, and each says what it does.
"""

import random
import threading
import time
from pathlib import Path

from campaign import runs
from campaign.attempt import Attack, Found, Outcome
from campaign.kills import arm
from campaign.program import Call, called, judged

SETTING = runs.SETTINGS[0]


def attempt(number: int, draw: random.Random, folder: Path) -> Found:
    runs.materials(folder)
    return named_at_once(folder) if number % 4 == 3 else resumed_at_once(draw, folder)


def resumed_at_once(draw: random.Random, folder: Path) -> Found:
    """A killed run, resumed by two processes; whatever they do, a third one ends it."""
    run = folder / "run"
    delay = draw.uniform(0.2, 0.8) * runs.straight(SETTING).seconds
    called(["train", *SETTING.split(), "--out", "run"], folder, lambda: arm(delay))
    if not (run / "config.json").exists() or (run / "result.json").exists():
        return Found(Outcome.RIGHT)
    words = ["resume", "run", "--no-pictures", "--quiet"]
    calls = both(words, folder, draw.uniform(0, 0.3))
    for call in calls:
        if (found := judged(call)).outcome not in (Outcome.RIGHT, Outcome.REFUSED):
            return found
    last = called(words, folder)
    if last.ended.value != 0:
        return Found(Outcome.DAMAGE, f"dead end | {last} | {calls[0]} | {calls[1]}")
    if other := runs.difference(run, SETTING):
        return Found(Outcome.DAMAGE, f"{other} | {calls[0]} | {calls[1]}")
    return Found(Outcome.RIGHT)


def named_at_once(folder: Path) -> Found:
    """Two runs without a name of their own get two names."""
    calls = both(["train", *SETTING.split()], folder, 0.0)
    for call in calls:
        if (found := judged(call)).outcome is not Outcome.RIGHT:
            return Found(Outcome.RAW, f"{found.outcome}: {call}")
    made = [run for run in (folder / "runs").iterdir() if not runs.difference(run, SETTING)]
    return Found(Outcome.RIGHT) if len(made) == 2 else Found(Outcome.DAMAGE, f"{len(made)} runs")


def both(words: list[str], folder: Path, apart: float) -> list[Call]:
    """The same command twice, the second a moment later."""
    calls: list[Call] = []
    runs.straight(SETTING)  # not in two threads at once

    def call(wait: float) -> None:
        time.sleep(wait)
        calls.append(called(words, folder))

    threads = [threading.Thread(target=call, args=(wait,)) for wait in (0.0, apart)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return calls


ATTACK = Attack("two writers", attempt, small=2, full=60)
