"""Writing fails at one touch of the run folder: a full or broken disk, a lost permission.

Right is: one sentence, and a run that later ends in the weights of the undisturbed one.
"""

import os
import random
from pathlib import Path

from campaign import runs, traps
from campaign.attempt import Attack, Found, Outcome
from campaign.kills import next_words
from campaign.program import called, judged
from campaign.traps import Trap


def attempt(number: int, draw: random.Random, folder: Path) -> Found:
    setting = runs.SETTINGS[number % len(runs.SETTINGS)]
    straight = runs.straight(setting)
    runs.materials(folder)
    run = folder / "run"
    kind = draw.choice((*traps.TOUCHES, "size"))
    if kind == "size":
        size = draw.randrange(1, max(2, 2 * len(straight.weights)))
        call = called(next_words(setting, run), folder, lambda: traps.largest_file(size, False))
        what = f"no file larger than {size} bytes"
    else:
        fault, at = draw.choice(traps.ERRORS), draw.randint(1, 24)
        trap = Trap(run, kind, at, traps.failing(fault))
        call = called(next_words(setting, run), folder, trap.set)
        what = f"{kind} {at}: {os.strerror(fault)}"
    found = judged(call)
    told = f"{setting} | {what} | {found.detail}"
    if found.outcome not in (Outcome.RIGHT, Outcome.REFUSED):
        return Found(found.outcome, told)
    if "damaged" in found.detail:
        return Found(Outcome.RAW, f"called damaged | {told}")
    last = called(next_words(setting, run), folder)
    if last.ended.value != 0:
        return Found(Outcome.DAMAGE, f"dead end | {told} | {last}")
    if other := runs.difference(run, setting):
        return Found(Outcome.DAMAGE, f"{other} | {told}")
    return found


ATTACK = Attack("write faults", attempt, small=4, full=320)
