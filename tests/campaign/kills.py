"""Runs are killed at random moments and at every touch of their folder, then resumed.

Right is: the weights and the history of the run that nobody killed, bit for bit.
"""

import random
import signal
from collections.abc import Callable
from pathlib import Path

from campaign import runs, traps
from campaign.attempt import Attack, Found, Outcome
from campaign.program import called, judged
from campaign.traps import Trap

MOST = 3  # kills of one run
DEATHS = (signal.SIGKILL, signal.SIGALRM, signal.SIGXFSZ)  # those that we cause
WAYS = ("moment", "moment", "open", "rename", "fsync", "write")


def attempt(number: int, draw: random.Random, folder: Path) -> Found:
    setting = runs.SETTINGS[number % len(runs.SETTINGS)]
    straight = runs.straight(setting)
    runs.materials(folder)
    run = folder / "run"
    told = [setting]
    for _ in range(draw.randint(1, MOST)):
        way = draw.choice(WAYS)
        words = next_words(setting, run)
        death = deadly(way, run, draw, straight)
        call = called(words, folder, death)
        told.append(f"{words[0]} killed by {way}")
        if call.ended.signal not in DEATHS and (found := judged(call)).outcome is not Outcome.RIGHT:
            return Found(found.outcome, " | ".join([*told, found.detail]))
    last = called(next_words(setting, run), folder)
    if last.ended.value != 0:
        found = judged(last)
        outcome = Outcome.DAMAGE if found.outcome is Outcome.REFUSED else found.outcome
        return Found(outcome, " | ".join([*told, "dead end", found.detail]))
    other = runs.difference(run, setting)
    return Found(Outcome.DAMAGE, " | ".join([*told, other])) if other else Found(Outcome.RIGHT)


def next_words(setting: str, run: Path) -> list[str]:
    """Train, or resume what there is: as a user would."""
    if (run / "config.json").exists():
        return ["resume", "run", "--no-pictures", "--quiet"]
    return ["train", *setting.split(), "--out", "run"]


def deadly(
    way: str, run: Path, draw: random.Random, straight: runs.Straight
) -> Callable[[], object]:
    """What kills the process at one moment."""
    if way == "moment":
        delay = max(1e-3, draw.uniform(0, straight.seconds))
        return lambda: arm(delay)
    if way == "write":
        size = draw.randrange(1, max(2, 2 * len(straight.weights)))
        return lambda: traps.largest_file(size, deadly=True)
    return Trap(run, way, draw.randint(1, 24), traps.die).set


def arm(delay: float) -> None:
    """The alarm's default action ends the process at once, as SIGKILL does."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, delay)


ATTACK = Attack("kills", attempt, small=4, full=640)
