"""Check claims, one or many, and save their pictures in a folder."""

import multiprocessing
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import groupby
from pathlib import Path
from typing import Any

import torch

from chainrule.children import die_with_parent
from chainrule.errors import InputError
from chainrule.lab.result import ClaimResult, check_entry, violate
from chainrule.plots.style import save
from chainrule.registry import Entry

WORTH_PROCESSES = 8  # checks; fewer are done before further processes have started
Task = tuple[Entry, int | None, Path]


def check_and_draw(entry: Entry, settings: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The verdict as plain values; the picture is NAME.png and NAME.svg in the folder."""
    return draw(check_entry(entry, settings), folder / entry.name)


def break_and_draw(entry: Entry, folder: Path) -> dict[str, Any]:
    """The same for the violated claim; the picture is NAME-broken.png and NAME-broken.svg."""
    return draw(violate(entry), folder / f"{entry.name}-broken")


def draw(result: ClaimResult, path: Path) -> dict[str, Any]:
    """Save the picture under this path, as PNG and SVG."""
    picture = result.plot()
    for suffix in ("png", "svg"):
        save(picture, path.with_name(f"{path.name}.{suffix}"))
    return result.to_json()


def check_many(
    claims: Sequence[Entry], folder: Path, seeds: int = 1
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Claims with their verdicts, in order; a claim must hold for every seed.

    The picture is that of seed 0. Many checks run in processes of one thread each; verdicts do not
    depend on their number.
    """
    if seeds < 1:
        raise InputError(f"`seeds` must be at least 1, got {seeds}")
    tasks = [(claim, seed, folder) for claim in claims for seed in seeds_of(claim, seeds)]
    if len(tasks) < WORTH_PROCESSES:
        yield from combined(map(checked, tasks))
        return
    workers = min(os.cpu_count() or 1, len(tasks))
    fresh = multiprocessing.get_context("spawn")  # a forked copy of torch's threads would hang
    pool = ProcessPoolExecutor(workers, fresh, start_worker, (os.getpid(),))
    try:
        yield from combined(pool.map(checked, tasks))
    finally:
        pool.shutdown(cancel_futures=True)


def start_worker(parent: int) -> None:
    """One thread, and no life without the process that collects the verdicts."""
    die_with_parent(parent)
    torch.set_num_threads(1)


def seeds_of(claim: Entry, seeds: int) -> list[int | None]:
    """0, 1, …; none where nothing is random."""
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
    """The verdict of each claim's first seed, and the seeds for which it failed."""
    for name, group in groupby(checks, key=lambda check: check[0]):
        found = [(seed, verdict) for _, seed, verdict in group]
        failed = [seed for seed, verdict in found if not verdict["holds"]]
        yield name, found[0][1] | {"holds": not failed, "seeds": len(found), "failed": failed}
