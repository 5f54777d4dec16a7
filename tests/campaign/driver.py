"""Makes the attempts in worker processes, and collects what they found."""

import multiprocessing
import os
import random
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from campaign.attacks import ATTACKS
from campaign.attempt import Attack, Found, Outcome
from chainrule.children import die_with_parent

PREFIX = "campaign-"


class Attempt(NamedTuple):
    """One attempt of a kind, and what was found."""

    kind: str
    number: int
    found: Found


def attacked(numbers: dict[str, Sequence[int]], seed: int, workers: int) -> Iterator[Attempt]:
    """All attempts of these kinds, in the order in which they end."""
    context = multiprocessing.get_context("spawn")
    with (
        tempfile.TemporaryDirectory(prefix=PREFIX) as place,
        ProcessPoolExecutor(workers, context, start_worker, (os.getpid(), place)) as pool,
    ):
        waiting = [
            pool.submit(made, kind, number, seed) for kind in numbers for number in numbers[kind]
        ]
        for done in as_completed(waiting):
            yield done.result()


def start_worker(parent: int, place: str) -> None:
    """One thread, everything imported, no touch of the user's cache and temporary files."""
    die_with_parent(parent)
    os.environ |= {"OMP_NUM_THREADS": "1", "XDG_CACHE_HOME": place, "TMPDIR": place}
    tempfile.tempdir = place
    import torch

    from campaign.program import preload

    torch.set_num_threads(1)
    preload()


def made(kind: str, number: int, seed: int) -> Attempt:
    """One attempt, in an empty folder."""
    attack = ATTACKS[kind]
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    folder.chmod(0o755)
    try:
        return Attempt(kind, number, found(attack, number, attack.draws(seed, number), folder))
    finally:
        with suppress(OSError):
            shutil.rmtree(folder)


def found(attack: Attack, number: int, draw: random.Random, folder: Path) -> Found:
    """What the attempt found; a fault of the attack itself is told as one."""
    try:
        return attack.attempt(number, draw, folder)
    except Exception as error:
        return Found(Outcome.RAW, f"the attack itself failed: {type(error).__name__}: {error}")
