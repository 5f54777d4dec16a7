"""A folder of 50,000 pictures: time of reading it, memory and accuracy of training from it.

    python benchmarks/image_folder.py --data FOLDER --work FOLDER

CIFAR-10's training images are written as PNG files, one sub-folder for each class. A quarter of
them, then all, are read twice (decoded, then from the cache) and trained on, for one epoch and for
four, each in a process of its own. Anonymous memory is what the program allocates; the mapped file
comes on top of it as far as the system has memory to spare. The heap of glibc is asked, at the end
of every epoch, how much of it is in use and how much is free but kept.
"""

import argparse
import ctypes
import json
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

RESULT = Path(__file__).parent / "image_folder.json"
QUARTER = 12_500
EPOCHS = 4
SETTINGS = {"filters": (16, 32, 64), "learning_rate": 5e-3, "batch_size": 128}


def write_pictures(data: Path, folder: Path, most: int) -> int:
    """The first training images of CIFAR-10 as PNG files; how many there are."""
    from PIL import Image

    import chainrule as cr

    splits = cr.data.cifar10(folder=data)
    written = 0
    for x, y in (splits.train, splits.validation):
        pixels = (x * 255).round().byte().permute(0, 2, 3, 1).numpy()
        for image, label in zip(pixels[: most - written], y.tolist(), strict=False):
            place = folder / splits.classes[label]
            place.mkdir(parents=True, exist_ok=True)
            Image.fromarray(image).save(place / f"{written:05d}.png")
            written += 1
    return written


class PeakMemory:
    """The largest anonymous and resident memory of this process while it is watched, in MB."""

    def __init__(self) -> None:
        self.peak = {"RssAnon": 0, "VmRSS": 0}
        self.done = threading.Event()
        threading.Thread(target=self.watch, daemon=True).start()

    def watch(self) -> None:
        while not self.done.wait(0.02):
            for line in Path("/proc/self/status").read_text("utf-8").splitlines():
                name, _, value = line.partition(":")
                if name in self.peak:
                    self.peak[name] = max(self.peak[name], int(value.split()[0]))

    def so_far(self) -> int:
        """The largest anonymous memory until now, in MB."""
        return round(self.peak["RssAnon"] / 1024)

    def megabytes(self) -> dict[str, int]:
        self.done.set()
        names = {"RssAnon": "anonymous MB", "VmRSS": "resident MB"}
        return {names[name]: round(value / 1024) for name, value in self.peak.items()}


class Heap(ctypes.Structure):
    """What glibc's `mallinfo2` says, in bytes."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in [
            "arena",
            "ordblks",
            "smblks",
            "hblks",
            "hblkhd",
            "usmblks",
            "fsmblks",
            "uordblks",
            "fordblks",
            "keepcost",
        ]
    ]


def heap() -> dict[str, int]:
    """Memory of the heap in use, and free but kept, in MB."""
    library = ctypes.CDLL(None)
    library.mallinfo2.restype = Heap
    found = library.mallinfo2()
    return {
        "in use MB": (found.uordblks + found.hblkhd) >> 20,
        "free but kept MB": found.fordblks >> 20,
    }


def measure(folder: Path, epochs: int) -> dict[str, Any]:
    """Both readings and a training, in this process."""
    import chainrule as cr
    from chainrule.registry import find
    from chainrule.runs.configuration import configure
    from chainrule.runs.run import Run

    found: dict[str, Any] = {}
    for name in ("first reading", "cached reading"):
        began = time.perf_counter()
        splits = cr.data.images(folder)
        found[f"{name} s"] = round(time.perf_counter() - began, 2)
    found["pictures"] = sum(len(getattr(splits, p).y) for p in ("train", "validation", "test"))
    found["array MB"] = round(found["pictures"] * splits.train.x[0].numel() / 2**20)
    with tempfile.TemporaryDirectory() as out:
        memory, by_epoch = PeakMemory(), []
        entry = find("recipes", "cnn")
        values = {"images": str(folder), "epochs": epochs, **SETTINGS}
        run = Run.create(entry, configure(entry.load().Recipe, values), Path(out) / "run")
        for now in run.train():
            if now.record:
                by_epoch.append({"anonymous MB": memory.so_far(), **heap()})
        found["by epoch"] = by_epoch
        found |= memory.megabytes() | {"epochs": epochs, "seconds": round(run.result["seconds"], 1)}
        found["test accuracy"] = round(run.result["metrics"]["test"]["accuracy"], 4)
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--measure", nargs=2, metavar=("FOLDER", "EPOCHS"))
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(Path(options.measure[0]), int(options.measure[1]))))
        return
    rows = []
    for number, epochs in ((QUARTER, 1), (4 * QUARTER, EPOCHS)):
        folder = options.work / str(number)
        if not folder.is_dir():
            write_pictures(options.data, folder, number)
        with tempfile.TemporaryDirectory(dir=options.work) as cache:
            command = [sys.executable, __file__, "--work", str(options.work)]
            done = subprocess.run(
                [*command, "--measure", str(folder), str(epochs)],
                env=os.environ | {"XDG_CACHE_HOME": cache},
                stdout=subprocess.PIPE,
                check=True,
                text=True,
            )
        rows.append(json.loads(done.stdout.splitlines()[-1]))
        print(rows[-1], flush=True)
    settings = {k: list(v) if isinstance(v, tuple) else v for k, v in SETTINGS.items()}
    record = {
        "command": "python benchmarks/image_folder.py --data FOLDER --work FOLDER",
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, beside other work",
        "settings": settings | {"seed": 0},
        "rows": rows,
    }
    RESULT.write_text(json.dumps(record, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
