"""The same seed gives the same bits: twice, in threads, beside others; and nothing piles up.

Right is: equal bytes, and memory that stays where it was.
"""

import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from campaign import runs
from campaign.attempt import Attack, Found, Outcome
from campaign.isolation import isolated, status
from campaign.program import called, judged

if TYPE_CHECKING:
    from torch import nn

WARM, FITS = 20, 120  # fits before and between two looks at the memory
GROWTH = 30 * 2**20  # bytes that FITS fits may leave behind


def attempt(number: int, draw: random.Random, folder: Path) -> Found:
    ways = (twice, twice, twice, in_threads, growing)
    return ways[number % len(ways)](number, draw, folder)


def twice(number: int, draw: random.Random, folder: Path) -> Found:
    """A run again, under another name and with another state of the process."""
    setting = runs.SETTINGS[number % len(runs.SETTINGS)]
    runs.straight(setting)
    runs.materials(folder)
    noise = draw.randrange(2**31)

    def disturb() -> None:
        import numpy as np
        import torch

        random.seed(noise)
        np.random.seed(noise)
        torch.manual_seed(noise)

    call = called(["train", *setting.split(), "--out", "run"], folder, disturb)
    if call.ended.value != 0:
        return judged(call)
    other = runs.difference(folder / "run", setting)
    return Found(Outcome.DAMAGE, f"{other}: {setting}") if other else Found(Outcome.RIGHT)


def in_threads(number: int, draw: random.Random, folder: Path) -> Found:
    """Fits in several Python threads at once end as the fits one after another."""
    ended = isolated(threads_differ, limit=120)
    if ended.value is None or isinstance(ended.value, BaseException):
        return Found(Outcome.CRASH if ended.signal else Outcome.RAW, f"in threads: {ended.value!r}")
    return Found(Outcome.DAMAGE, "fits in threads differ") if ended.value else Found(Outcome.RIGHT)


def threads_differ() -> bool:
    """Models are built first: torch draws initial weights from the one generator of a process."""
    models = [built(seed) for seed in range(8)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(fitted, models, range(8)))
    return together != [fitted(built(seed), seed) for seed in range(8)]


def built(seed: int) -> "nn.Module":
    import torch

    import chainrule as cr

    torch.manual_seed(seed)
    return cr.models.MLP(5, [8], 2, dropout=0.3)


def fitted(model: "nn.Module", seed: int) -> bytes:
    """The weights of a small fit."""
    import torch

    import chainrule as cr

    draw = torch.Generator().manual_seed(0)
    x = torch.randn(80, 5, generator=draw)
    cr.fit(model, (x, (x.sum(1) > 0).long()), epochs=3, seed=seed, progress=False)
    return b"".join(t.detach().numpy().tobytes() for t in model.state_dict().values())


def growing(number: int, draw: random.Random, folder: Path) -> Found:
    """Many fits in one process."""

    def fits() -> int:
        for seed in range(WARM):
            fitted(built(seed), seed)
        before = status("VmRSS")
        for seed in range(FITS):
            fitted(built(seed), seed)
        return status("VmRSS") - before

    grown = isolated(fits, limit=300).value
    if not isinstance(grown, int):
        return Found(Outcome.RAW, f"many fits: {grown!r}")
    told = f"{grown / 2**20:.1f} MB more after {FITS} fits"
    return Found(Outcome.CEILING, told) if grown > GROWTH else Found(Outcome.RIGHT)


ATTACK = Attack("repeats", attempt, small=5, full=150)
