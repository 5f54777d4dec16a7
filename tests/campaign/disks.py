"""A disk that is full: a small tmpfs, mounted where this machine allows it.

Right is: one sentence, and after room was made the weights of the undisturbed run.
"""

import random
import subprocess
from contextlib import suppress
from pathlib import Path

from campaign import runs
from campaign.attempt import Attack, Found, Outcome
from campaign.kills import next_words
from campaign.program import called, judged

BLOCK = 4096


def attempt(number: int, draw: random.Random, folder: Path) -> Found:
    setting = runs.SETTINGS[number % len(runs.SETTINGS)]
    runs.straight(setting)
    blocks = draw.randint(8, 80)
    mounted = ["mount", "-t", "tmpfs", "-o", f"size={blocks * BLOCK}", "none", str(folder)]
    if subprocess.run(mounted, capture_output=True, check=False).returncode:
        return Found(Outcome.SKIPPED, "this machine does not allow to mount a small tmpfs")
    try:
        return filled(setting, folder)
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def filled(setting: str, folder: Path) -> Found:
    """Fill the disk, run, make room, run again."""
    try:
        runs.materials(folder)
    except OSError:
        return Found(Outcome.SKIPPED, "no room for the materials")
    call = called(next_words(setting, folder / "run"), folder)
    found = judged(call)
    if found.outcome not in (Outcome.RIGHT, Outcome.REFUSED) or "damaged" in found.detail:
        return Found(Outcome.RAW if found.outcome is Outcome.REFUSED else found.outcome, str(call))
    with suppress(OSError):
        subprocess.run(["mount", "-o", "remount,size=64m", str(folder)], check=True)
    last = called(next_words(setting, folder / "run"), folder)
    if last.ended.value != 0:
        return Found(Outcome.DAMAGE, f"dead end | {call} | {last}")
    other = runs.difference(folder / "run", setting)
    return Found(Outcome.DAMAGE, f"{other} | {call}") if other else found


ATTACK = Attack("full disk", attempt, small=2, full=60)
