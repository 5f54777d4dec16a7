"""Check claims, one or many, and leave their pictures in a folder."""

import multiprocessing
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import groupby
from pathlib import Path
from typing import Any

import torch

from chainrule.errors import InputError
from chainrule.plots.claims import claim_figure
from chainrule.plots.style import save
from chainrule.registry import Entry

WORTH_PROCESSES = 8  # checks; fewer are done before further processes have started
Task = tuple[Entry, int | None, Path]


def check_and_draw(entry: Entry, settings: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The verdict as plain values; the picture is NAME.png and NAME.svg in the folder."""
    for name, value in settings.items():
        if name != "seed" and isinstance(value, int) and value < 1:
            raise InputError(f"--{name} must be at least 1, got {value}")
    verdict = entry.load().check(**settings)
    figure = claim_figure(**vars(verdict.picture))
    try:
        for suffix in ("png", "svg"):
            save(figure, folder / f"{entry.name}.{suffix}")
    except OSError as error:
        raise InputError(f"cannot write pictures to {folder}: {error}") from None
    return {"statement": entry.title, **verdict.to_json()}


def check_many(
    claims: Sequence[Entry], folder: Path, seeds: int = 1
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Claims with their verdicts, in order; with several seeds a claim holds if it does for each.

    The picture is that of seed 0. Many checks are shared among processes of one thread each: the
    verdicts are the same, however many there are.
    """
    if seeds < 1:
        raise InputError(f"--seeds must be at least 1, got {seeds}")
    tasks = [(claim, seed, folder) for claim in claims for seed in seeds_of(claim, seeds)]
    if len(tasks) < WORTH_PROCESSES:
        yield from combined(map(checked, tasks))
        return
    workers = min(os.cpu_count() or 1, len(tasks))
    fresh = multiprocessing.get_context("spawn")  # a forked copy of torch's threads would hang
    pool = ProcessPoolExecutor(workers, fresh, torch.set_num_threads, (1,))
    try:
        yield from combined(pool.map(checked, tasks))
    finally:
        pool.shutdown(cancel_futures=True)


def seeds_of(claim: Entry, seeds: int) -> list[int | None]:
    """All of them; nothing to choose where nothing is random."""
    random = "seed" in claim.load().check.__annotations__
    return list(range(seeds)) if random else [None]


def checked(task: Task) -> tuple[str, int | None, dict[str, Any]]:
    """One claim with one seed; only the first seed is drawn."""
    claim, seed, folder = task
    if not seed:
        return claim.name, seed, check_and_draw(claim, {} if seed is None else {"seed": 0}, folder)
    verdict = claim.load().check(seed=seed)
    return claim.name, seed, {"holds": verdict.holds, "measured": verdict.measured}


def combined(
    checks: Iterator[tuple[str, int | None, dict[str, Any]]],
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Of each claim the verdict of its first seed, and for which seeds it failed."""
    for name, group in groupby(checks, key=lambda check: check[0]):
        found = [(seed, verdict) for _, seed, verdict in group]
        failed = [seed for seed, verdict in found if not verdict["holds"]]
        yield name, found[0][1] | {"holds": not failed, "seeds": len(found), "failed": failed}
