"""Terminals that can show little, readers that leave, and places where nothing may be written.

Right is: exit code 0, or 2 with one sentence; a run is finished whoever reads its output.
"""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

from campaign import runs
from campaign.attempt import Attack, Found, Outcome
from campaign.program import FAULTS

NOBODY = 65534
LIMIT = 120  # seconds until it counts as hung
LINES = (
    "train moons-mlp --epochs 2 --out run",
    "train mlp --table table.csv --target y --epochs 2 --no-pictures --out run",
    "lab novikoff --trials 2",
    "show hopfield",
    "show hopfield --code",
    "list",
    "list --help",
    "train digits-mlp --help",
    "train digits-mlp --epochs é→",
    "runs",
    "lr moons-mlp --steps 5",
)
PLACES = (
    {"PYTHONIOENCODING": "ascii"},
    {"PYTHONIOENCODING": "latin-1"},
    {"PYTHONIOENCODING": "cp1252"},
    {"PYTHONIOENCODING": "utf-16"},
    {"COLUMNS": "40"},
    {"COLUMNS": "1"},
    {"COLUMNS": "-5", "LINES": "x"},
    {"TERM": "dumb"},
    {"TERM": "unknown-to-all", "NO_COLOR": "1"},
    {"FORCE_COLOR": "1", "COLUMNS": "40"},
    {"MPLBACKEND": "nope"},
    {"HOME": "/nonexistent", "XDG_CACHE_HOME": ""},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"TMPDIR": "/nonexistent"},
)
ENDS = ("", "", ">&-", "2>&-", ">&- 2>&- <&-", "| head -c 0", "2>&1 | head -n 1", "read-only")


def attempt(number: int, draw: random.Random, folder: Path) -> Found:
    runs.materials(folder)
    line, place = draw.choice(LINES), draw.choice(PLACES)
    end = ENDS[number % len(ENDS)]
    if end == "read-only" and os.geteuid():
        folder.chmod(0o555)
    command = (
        f"set -o pipefail; {sys.executable} -m chainrule {line} {end if '-only' not in end else ''}"
    )
    nobody = end == "read-only" and not os.geteuid()
    done = subprocess.Popen(
        ["bash", "-c", command],
        cwd=folder,
        env={k: v for k, v in (os.environ | place).items() if v},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        user=NOBODY if nobody else None,
        start_new_session=True,
    )
    try:
        out, err = done.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(done.pid, signal.SIGKILL)
        done.communicate()
        return Found(Outcome.HANG, f"{line} {end} {place}")
    finally:
        folder.chmod(0o755)
    told = f"{line} {end} {place} → exit {done.returncode}"
    said = (err + out).decode("utf-8", "replace")
    if done.returncode == 126:
        return Found(Outcome.SKIPPED, "another user may not start this Python")
    if done.returncode < 0 or done.returncode > 128:
        return Found(Outcome.CRASH, told)
    if done.returncode not in (0, 2) or any(fault in said for fault in FAULTS):
        return Found(Outcome.RAW, f"{told}: {said[-300:]}")
    if line.startswith("train") and "--out" in line and not done.returncode:
        finished = (folder / "run" / "result.json").is_file()
        return Found(Outcome.RIGHT) if finished else Found(Outcome.DAMAGE, f"{told}: not finished")
    if done.returncode == 2 and "chainrule: " not in said and "2>" not in end and "&-" not in end:
        return Found(Outcome.RAW, f"no sentence: {told}: {said[-300:]}")
    return Found(Outcome.REFUSED if done.returncode else Outcome.RIGHT)


ATTACK = Attack("terminals", attempt, small=6, full=240)
