"""A parent of worker processes dies in many ways; no worker may outlive it."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from campaign.attempt import Attack, Found, Outcome
from campaign.isolation import survived

LOADER = """
import torch
from torch.utils.data import DataLoader, TensorDataset
import chainrule as cr
if __name__ == "__main__":
    x = torch.randn(4000, 4)
    data = DataLoader(TensorDataset(x, (x.sum(1) > 0).long()), batch_size=4, num_workers=2)
    cr.fit(cr.models.MLP(4, [4], 2), data, epochs=50, progress=False)
"""
PROGRAMS = (
    ["-m", "chainrule", "lab", "--all", "--json"],
    ["-m", "chainrule", "tune", "moons-mlp", "--trials", "40", "--workers", "2", "--quiet"],
    ["loader.py"],
)
DEATHS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGSEGV)
NOTICE = 4.0  # seconds: less than the five in which torch's own workers look for their parent


def attempt(number: int, draw: random.Random, folder: Path) -> Found:
    words = PROGRAMS[number % len(PROGRAMS)]
    (folder / "loader.py").write_text(LOADER)
    program = subprocess.Popen(
        [sys.executable, *words],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=listen,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    time.sleep(draw.uniform(1.0, 6.0))
    death = draw.choice(DEATHS)
    program.send_signal(death)
    try:
        program.wait(30)
    except subprocess.TimeoutExpired:
        os.killpg(program.pid, signal.SIGKILL)
        program.wait()
        return Found(Outcome.HANG, f"{' '.join(words)} after {death.name}")
    if survived(program.pid, NOTICE):
        return Found(Outcome.ORPHAN, f"{' '.join(words)} after {death.name}")
    return Found(Outcome.RIGHT)


def listen() -> None:
    """Signals that whoever started the campaign ignores, such as nohup, must reach the program."""
    for death in set(DEATHS) - {signal.SIGKILL}:
        signal.signal(death, signal.SIG_DFL)


ATTACK = Attack("orphans", attempt, small=2, full=45)
