"""Data larger than memory: peak memory of training from it, and its rate beside data in memory.

    python benchmarks/out_of_core.py --work FOLDER [--gigabytes 20] [--minutes 0] [--limit 0]

Three files of that size are made, one after another, and deleted again: a Parquet table, a text
and a pair of .npy arrays. Each is trained on in a process of its own whose anonymous memory
(RssAnon of /proc) is watched; pages of mapped files are the system's to reclaim. The same network
is timed on a small file, from the disk and in memory, in turns. On a busy machine the thread that
reads waits for a processor; so the processor time of the thread that trains is compared too, which
is the ratio of a machine with a processor to spare. The work folder needs twice the size of a file.
A file that is there is used. `--limit 2` allows two gigabytes with all that the system caches.
An epoch of a large file ends after so many minutes, if `--minutes` is not 0.
"""

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from image_folder import PeakMemory

import chainrule as cr
from chainrule.models.attention.gpt import GPT
from chainrule.training.sources import BlockShuffledRows, RandomWindows, Rows, TokenShards

RESULT = Path(__file__).parent / "out_of_core.json"
FEATURES, GROUP, BATCH, HIDDEN = 100, 131_072, 1024, [64, 64]
CONTEXT, WINDOWS = 128, {"text": 16, "tokens": 4}
SMALL_ROWS, ROUNDS = 400_000, 3
SMALL_TEXT, SMALL_STEPS = 80_000_000, 60
LARGE_STEPS, VOCAB = 2000, 4096
GIGA = 10**9


@cache
def drawn_once() -> np.ndarray:
    return np.random.default_rng(0).standard_normal((GROUP, FEATURES), np.float32)


def drawn(number: int, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Random numbers, turned by `number` columns, and whether the first ten sum to more than 0."""
    x = np.roll(drawn_once()[:rows], number, axis=1)
    return x, x[:, :10].sum(1) > 0


def make_table(path: Path, rows: int) -> None:
    import pyarrow
    from pyarrow import parquet

    names = [f"x{k}" for k in range(FEATURES)]
    fields = [*((name, pyarrow.float32()) for name in names), ("y", pyarrow.string())]
    schema = pyarrow.schema(fields)
    with parquet.ParquetWriter(path, schema, compression="none", use_dictionary=["y"]) as writer:
        for start in range(0, rows, GROUP):
            x, y = drawn(start // GROUP, min(GROUP, rows - start))
            columns = [*np.ascontiguousarray(x.T), np.where(y, "up", "down")]
            writer.write_table(
                pyarrow.Table.from_arrays(list(map(pyarrow.array, columns)), names=schema.names)
            )


def make_arrays(folder: Path, rows: int) -> None:
    folder.mkdir()
    x = np.lib.format.open_memmap(folder / "x.npy", "w+", np.float32, (rows, FEATURES))
    y = np.lib.format.open_memmap(folder / "y.npy", "w+", np.int64, (rows,))
    for start in range(0, rows, GROUP):
        end = min(start + GROUP, rows)
        x[start:end], y[start:end] = drawn(start // GROUP, end - start)


def make_text(path: Path, size: int) -> None:
    """Lines of random words: pieces of about a megabyte in random order."""
    draw = np.random.default_rng(0)
    words = np.array(
        ["".join(chr(97 + k) for k in draw.integers(0, 26, n)) for n in draw.integers(2, 9, 5000)]
    )
    drawn_words = (words[draw.zipf(1.3, 200_000) % len(words)] for _ in range(64))
    pieces = [(" ".join(chosen) + ".\n").encode() for chosen in drawn_words]
    with path.open("wb") as file:
        while file.tell() < size:
            file.write(pieces[draw.integers(len(pieces))])


def make_tokens(folder: Path, tokens: int) -> None:
    """Ten shards of tokens of two bytes: pieces of a random text in random order."""
    folder.mkdir()
    draw = np.random.default_rng(0)
    pieces = draw.integers(0, VOCAB, (64, 2**20), dtype=np.uint16)
    for number in range(10):
        shard = np.lib.format.open_memmap(
            folder / f"tokens-{number}.npy", "w+", np.uint16, (tokens // 10,)
        )
        for start in range(0, len(shard), 2**20):
            shard[start : start + 2**20] = pieces[draw.integers(64)][: len(shard) - start]


class Limit:
    """A memory limit of this process and what the system caches for it (cgroup v1, as root)."""

    def __init__(self, gigabytes: float, files: list[Path]):
        self.folder = Path(f"/sys/fs/cgroup/memory/chainrule-{os.getpid()}")
        self.gigabytes = gigabytes
        if not gigabytes:
            return
        for path in files:  # what is cached already would not be counted
            with path.open("rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        self.folder.mkdir()
        (self.folder / "memory.limit_in_bytes").write_text(str(int(gigabytes * GIGA)))
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))

    def reached(self) -> dict[str, float]:
        """The limit and the most that was used, the page cache included."""
        if not self.gigabytes:
            return {}
        most = int((self.folder / "memory.max_usage_in_bytes").read_text())
        return {"limit GB": self.gigabytes, "most used with page cache GB": round(most / GIGA, 3)}


def large(kind: str, path: Path, minutes: float, limit: float) -> dict[str, Any]:
    """One epoch from a large file, which is so many steps of a text, in this process."""
    bounded = Limit(limit, list(path.iterdir()) if path.is_dir() else [path])
    memory, began = PeakMemory(), time.perf_counter()
    torch.manual_seed(0)
    if kind == "table":
        data: Any = cr.data.table_blocks(path, "y")
        examples, model = sum(data.blocks.sizes), cr.models.MLP(FEATURES, HIDDEN, 2)
    elif kind == "tokens":
        shards = [cr.data.memory_mapped(file) for file in sorted(path.iterdir())]
        data = TokenShards(shards, CONTEXT, LARGE_STEPS)
        examples = LARGE_STEPS * WINDOWS[kind] * CONTEXT
        model = GPT(VOCAB, CONTEXT, 128, 4, 4)
    elif kind == "arrays":
        data = cr.data.array_blocks(path / "x.npy", path / "y.npy")
        examples = sum(data.sizes)
        model = cr.models.MLP(FEATURES, HIDDEN, 2)
    else:
        text = cr.data.text_file(path)
        data = RandomWindows(tuple(text.train), CONTEXT, LARGE_STEPS)
        examples = LARGE_STEPS * WINDOWS[kind] * CONTEXT
        model = GPT(len(text.classes), CONTEXT, 128, 4, 4)
    prepared = time.perf_counter() - began
    size = WINDOWS.get(kind, BATCH)
    began, done = time.perf_counter(), 0.0
    for now in cr.iterate(model, data, epochs=1, batch_size=size, threads=1):
        done = now.step / now.steps
        if minutes and time.perf_counter() - began > 60 * minutes:
            break
    seconds = time.perf_counter() - began
    return {
        "prepared s": round(prepared, 1),
        "examples": examples,
        "of them trained on": round(done * examples),
        "trained s": round(seconds, 1),
        "a second": round(done * examples / seconds),
        "processor s of the training thread": round(time.thread_time(), 1),
        **memory.megabytes(),
        **bounded.reached(),
    }


def timed(model: Callable[[], Any], data: Any, size: int) -> tuple[float, float, float]:
    """Seconds of two epochs, those of this thread's processor, and of all threads'."""
    torch.manual_seed(0)
    network, began, all_began = model(), time.thread_time(), time.process_time()
    history = cr.fit(network, data, epochs=2, batch_size=size, threads=1, progress=False)
    own, every = time.thread_time() - began, time.process_time() - all_began
    return sum(record["seconds"] for record in history), own, every


def whole(blocks: Any) -> tuple[torch.Tensor, ...]:
    """All rows of all blocks."""
    parts = zip(*(blocks.read(k) for k in range(len(blocks.sizes))), strict=True)
    return tuple(map(torch.cat, parts))


def compared(kind: str, work: Path) -> dict[str, Any]:
    """The rates of a small file from the disk and in memory, in turns."""
    path = work / f"small-{kind}"
    if kind == "text":
        make_text(path, SMALL_TEXT)
        text = cr.data.text_file(path)
        disk, size = RandomWindows(tuple(text.train), CONTEXT, SMALL_STEPS), WINDOWS[kind]
        held = RandomWindows(tuple(t.long() for t in text.train), CONTEXT, SMALL_STEPS)
        examples = SMALL_STEPS * WINDOWS[kind] * CONTEXT
        sources: dict[str, Any] = {"disk": disk, "memory": held}

        def model() -> Any:
            return GPT(len(text.classes), CONTEXT, 128, 4, 4)
    elif kind == "tokens":
        make_tokens(path, SMALL_TEXT)
        shards = [cr.data.memory_mapped(file) for file in sorted(path.iterdir())]
        disk, size = TokenShards(shards, CONTEXT, SMALL_STEPS), WINDOWS[kind]
        held = TokenShards([t.clone() for t in shards], CONTEXT, SMALL_STEPS)
        examples, sources = SMALL_STEPS * WINDOWS[kind] * CONTEXT, {"disk": disk, "memory": held}

        def model() -> Any:
            return GPT(VOCAB, CONTEXT, 128, 4, 4)
    else:
        if kind == "table":
            make_table(path, SMALL_ROWS)
            blocks: Any = cr.data.table_blocks(path, "y").blocks
        else:
            make_arrays(path, SMALL_ROWS)
            blocks = cr.data.array_blocks(path / "x.npy", path / "y.npy")
        sources = {"disk": BlockShuffledRows(blocks), "memory": Rows(whole(blocks))}
        examples, size = sum(blocks.sizes), BATCH

        def model() -> Any:
            return cr.models.MLP(FEATURES, HIDDEN, 2)

    times: dict[str, list[tuple[float, float, float]]] = {name: [] for name in sources}
    for _ in range(ROUNDS):
        for name, source in sources.items():
            times[name].append(timed(model, source, size))
    (wall, own, every), (wall_held, own_held, _) = (
        [statistics.median(column) for column in zip(*times[name], strict=True)]
        for name in ("disk", "memory")
    )
    return {
        "small file, from disk a second": round(2 * examples / wall),
        "small file, in memory a second": round(2 * examples / wall_held),
        "rate ratio": round(wall_held / wall, 3),
        "rate ratio by processor time of the training thread": round(own_held / own, 3),
        "processor time of reading, of training": round((every - own) / own, 3),
        "rounds": ROUNDS,
    }


def in_a_process(arguments: list[str], work: Path) -> dict[str, Any]:
    """What a run of this file prints last."""
    done = subprocess.run(
        [sys.executable, __file__, "--work", str(work), *arguments],
        env=os.environ | {"XDG_CACHE_HOME": str(work / "cache")},
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    return dict(json.loads(done.stdout.splitlines()[-1]))


def measured(
    kinds: list[str], work: Path, gigabytes: float, minutes: float, limit: float, alone: bool
) -> Iterator[dict[str, Any]]:
    rows = int(gigabytes * GIGA / (4 * FEATURES))
    makers: dict[str, Callable[[Path], None]] = {
        "table": lambda path: make_table(path, rows),
        "arrays": lambda path: make_arrays(path, rows),
        "tokens": lambda path: make_tokens(path, int(gigabytes * GIGA / 2)),
        "text": lambda path: make_text(path, int(gigabytes * GIGA)),
    }
    for kind in kinds:
        path = work / f"large-{kind}"
        try:
            ratio = {} if alone else in_a_process(["--compare", kind], work)
            if not path.exists():
                makers[kind](path)
            files = path.iterdir() if path.is_dir() else [path]
            size = sum(file.stat().st_size for file in files)
            found = in_a_process(
                ["--measure", kind, str(path), "--minutes", str(minutes), "--limit", str(limit)],
                work,
            )
        finally:
            for made in (path, work / f"small-{kind}", work / "cache"):
                shutil.rmtree(made) if made.is_dir() else made.unlink(missing_ok=True)
        today = datetime.now(UTC).date().isoformat()
        load = {"date": today, "load after": round(os.getloadavg()[0], 2)}
        yield {"kind": kind, "file GB": round(size / GIGA, 2), **load, **found, **ratio}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--gigabytes", type=float, default=20.0)
    parser.add_argument("--minutes", type=float, default=0.0)
    parser.add_argument("--limit", type=float, default=0.0)
    parser.add_argument("--alone", action="store_true", help="no comparison with a small file")
    parser.add_argument("--kinds", nargs="+", default=["table", "text", "tokens", "arrays"])
    parser.add_argument("--measure", nargs=2, metavar=("KIND", "PATH"))
    parser.add_argument("--compare", metavar="KIND")
    options = parser.parse_args()
    if options.measure:
        print(
            json.dumps(
                large(options.measure[0], Path(options.measure[1]), options.minutes, options.limit)
            )
        )
        return
    if options.compare:
        print(json.dumps(compared(options.compare, options.work)))
        return
    options.work.mkdir(parents=True, exist_ok=True)
    known = json.loads(RESULT.read_text("utf-8"))["rows"] if RESULT.exists() else []
    rows = {row["kind"]: row for row in known}
    for row in measured(
        options.kinds,
        options.work,
        options.gigabytes,
        options.minutes,
        options.limit,
        options.alone,
    ):
        command = "python benchmarks/out_of_core.py --work FOLDER" + " --alone" * options.alone
        command += f" --minutes {options.minutes:g} --limit {options.limit:g} --kinds {row['kind']}"
        rows[row["kind"]] = {"command": command, **row}
        print(row, flush=True)
        record = {
            "machine": f"{platform.machine()}, {os.cpu_count()} cores",
            "network": f"rows: MLP {FEATURES}-64-64-2, batches of {BATCH}; text: GPT of 4 layers, "
            f"128 wide, {WINDOWS['text']} windows of {CONTEXT} characters; tokens: the same with a "
            f"vocabulary of {VOCAB:,} and {WINDOWS['tokens']} windows; seed 0, one thread",
            "rows": list(rows.values()),
        }
        RESULT.write_text(json.dumps(record, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
