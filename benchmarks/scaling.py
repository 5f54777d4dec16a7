"""Data-parallel training on 1 to 1,024 processes: a cost model, calibrated, checked, and drawn.

    sudo python benchmarks/scaling.py            measure (about a quarter of an hour), then draw
    python benchmarks/scaling.py --draw          draw what was measured

It writes benchmarks/scaling.json, docs/pictures/scaling.png and tables in docs/guides/scaling.md.

1. Calibrate: the overhead of a hop and the tax on computation, from collectives of two processes on
   two emulated links. Links are network namespaces, shaped by tc (benchmarks/emulated_network.py).
2. Check: steps of three networks on two processes, on links that the calibration has not seen, and
   collectives of four and eight processes. Compute is measured in every second step of the same
   processes; the model adds the network.
3. Measure the compute per step of five networks in one process, and when each bucket of gradients
   is complete, for the curves.

Every process computes with one thread. Each figure is the median over repeats, which take turns.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

import torch
from emulated_network import Machine, network
from scaling_page import NAMES, draw, work_of, write
from scaling_worker import PARENT

from chainrule.training.cost_model import (
    Network,
    all_gather,
    all_reduce,
    ddp_step,
    fsdp_step,
    reduce_scatter,
    sent,
)

HERE = Path(__file__).parent
RESULT, PICTURE = HERE / "scaling.json", HERE.parent / "docs" / "pictures" / "scaling.png"
PAGE = HERE.parent / "docs" / "guides" / "scaling.md"
WORKER = HERE / "scaling_worker.py"
Row = dict[str, Any]

CALIBRATED = ((1000, 0.0), (200, 2.0))  # megabits per second, milliseconds one way
CHECKED = ((50, 0.5), (100, 5.0), (300, 1.0), (600, 0.2))
RINGS = ((4, 100, 1.0), (8, 60, 3.0))  # processes of the collectives that are checked
COLLECTIVES = {"all-reduce": all_reduce, "all-gather": all_gather, "reduce-scatter": reduce_scatter}
CHECKED_STEPS = (
    {"model": "mlp", "batch": 512, "steps": 8},
    {"model": "resnet20", "batch": 32, "steps": 8},
    {"model": "gpt", "batch": 8, "steps": 5},
    {"model": "gpt", "batch": 8, "steps": 5, "bucket_mb": 1},
    {"model": "gpt", "batch": 8, "steps": 5, "sharded": True},
)
CURVES = (
    {"model": "mlp", "batch": 512, "steps": 20},
    {"model": "resnet20", "batch": 32, "steps": 10},
    {"model": "resnet50", "batch": 8, "steps": 3},
    {"model": "gpt", "batch": 8, "steps": 10},
    {"model": "gpt2", "batch": 4, "steps": 3},
    {"model": "gpt", "batch": 8, "steps": 10, "bucket_mb": 1},  # for the check alone
)


def run(machines: list[Machine], jobs: list[Row]) -> list[Row]:
    """Do the jobs with one process on every machine; what rank 0 measured."""
    processes = [
        machine.start(
            command(rank, len(machines), machines[0].address, jobs),
            env=os.environ | {"GLOO_SOCKET_IFNAME": machine.device, PARENT: str(os.getpid())},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        for rank, machine in enumerate(machines)
    ]
    try:
        text, *_ = [process.communicate(timeout=600)[0] for process in processes]
    finally:
        for process in processes:
            process.kill()
    return [json.loads(line) for line in text.splitlines()]


def command(rank: int, processes: int, address: str, jobs: list[Row]) -> list[str]:
    words = [str(rank), str(processes), address, json.dumps(jobs)]
    polite = ["nice", "-n", "-5"] if os.geteuid() == 0 else []
    return [*polite, sys.executable, str(WORKER), *words]


def alone(jobs: list[Row]) -> list[Row]:
    """Do the jobs in one process."""
    done = subprocess.run(
        command(0, 1, "", jobs),
        env=os.environ | {PARENT: str(os.getpid())},
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


@contextmanager
def loopback(processes: int) -> Iterator[list[Machine]]:
    """Machines that share one namespace and its loopback, as fast as the kernel is."""
    with network(1, 1e6, 0) as (machine,):
        yield [Machine(machine.namespace, "lo", "127.0.0.1")] * processes


def over(rows: list[Row], *names: str) -> Row:
    """The first of the rows, with medians over all of them of some entries."""
    return rows[0] | {name: median(row[name] for row in rows) for name in names}


def calibrate(repeats: int) -> Row:
    """Overhead of a hop and tax on computation of the emulated links, and overhead of loopback."""
    small = {"kind": "collective", "collective": "all-reduce", "bytes": 4096, "repeats": 30}
    taxed = {"kind": "tax", "bytes": 2**23, "repeats": 5}
    hops, taxes, native = [], [], []
    for _ in range(repeats):
        for megabits, milliseconds in CALIBRATED:
            with network(2, megabits, milliseconds) as machines:
                first, second = run(machines, [small, taxed])
            hops.append(first["seconds"] / 2 - 2 * milliseconds / 1e3)
            taxes.append(second["tax"])
        with loopback(2) as machines:
            native.append(run(machines, [small])[0]["seconds"] / 2)
    return {
        "overhead": max(0.0, median(hops)),
        "tax": max(0.0, median(taxes)),
        "overhead_of_loopback": median(native),
    }


def link(calibrated: Row, row: Row) -> Network:
    """The emulated link of a measurement."""
    return Network(
        gigabits=row["megabits"] / 1e3,
        latency=row["milliseconds"] / 1e3,
        overhead=calibrated["overhead"],
        tax=calibrated["tax"],
    )


def measured_rings(repeats: int) -> list[Row]:
    """Collectives on links and numbers of processes that the calibration has not seen."""
    rows: list[Row] = []
    for k, megabits, milliseconds in [*((2, *each) for each in CHECKED), *RINGS]:
        jobs = [
            {"kind": "collective", "collective": name, "bytes": size, "repeats": repeats}
            for name, size in product(COLLECTIVES, (2**12, 2**20, 2**22))
        ]
        with network(k, megabits, milliseconds) as machines:
            found = run(machines, jobs)
        rows += [row | place(k, megabits, milliseconds) for row in found]
    return rows


def place(k: int, megabits: float, milliseconds: float) -> Row:
    return {"processes": k, "megabits": megabits, "milliseconds": milliseconds}


def measured_steps(repeats: int) -> list[Row]:
    """Steps of two processes on links that the calibration has not seen."""
    jobs = [{"kind": "step", **job} for job in CHECKED_STEPS]
    found: dict[tuple[Any, ...], list[Row]] = {}
    for _, (megabits, milliseconds) in product(range(repeats), CHECKED):
        with network(2, megabits, milliseconds) as machines:
            rows = run(machines, jobs)
        for row in rows:
            key = (way(row), megabits, milliseconds)
            found.setdefault(key, []).append(row | place(2, megabits, milliseconds))
            print(f"{key}: {row['seconds']:.4f} s", flush=True)
    return [over(rows, "seconds", "forward", "backward", "update") for rows in found.values()]


def with_predictions(result: Row) -> Row:
    """The measurements, each with what the model says of it."""
    buckets = {(row["model"], row.get("bucket_mb")): row["buckets"] for row in result["compute"]}
    for row in result["collectives"]:
        k, on = row["processes"], link(result["calibrated"], row)
        row["predicted"] = COLLECTIVES[row["collective"]](row["bytes"], k, on)
        share = 0.5 if row["collective"] == "all-gather" else 1.0
        row["predicted_sent"] = share * sent(row["bytes"], k)
    for row in result["steps"]:
        own = work_of(row | {"buckets": buckets[row["model"], row.get("bucket_mb")]})
        step = fsdp_step if row.get("sharded") else ddp_step
        row["predicted"] = step(own, row["processes"], link(result["calibrated"], row))
        row["compute"] = own.seconds
    return result


def compute(repeats: int) -> list[Row]:
    """Compute per step of each network in one process."""
    jobs = [{"kind": "step", **job} for job in CURVES]
    found = [alone(jobs) for _ in range(repeats)]
    return [
        over(list(rows), "forward", "backward", "update", "seconds")
        for rows in zip(*found, strict=True)
    ]


def measure(repeats: int) -> Row:
    began = os.getloadavg()[0]
    calibrated = calibrate(repeats)
    print(json.dumps(calibrated), flush=True)
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{os.cpu_count()} processors {platform.machine()}, {platform.system()}",
        "load_before": began,
        "torch": torch.__version__,
        "calibrated": calibrated,
        "compute": compute(repeats),
        "collectives": measured_rings(7),
        "steps": measured_steps(repeats),
        "load_after": os.getloadavg()[0],
    }


def way(row: Row) -> str:
    """The network and how it is trained."""
    if row.get("sharded"):
        return f"{NAMES[row['model']]}, FSDP"
    buckets = f" {row['bucket_mb']} MiB" if row.get("bucket_mb") else ""
    return f"{NAMES[row['model']]}, DDP{buckets}"


def report(result: Row) -> None:
    """Print measured beside predicted."""
    for name in ("collectives", "steps"):
        errors = []
        for row in result[name]:
            what = row.get("collective") or way(row)
            error = row["predicted"] / row["seconds"] - 1
            errors.append(abs(error))
            print(
                f"{what:24} {row.get('bytes', ''):>8} k={row['processes']} "
                f"{row['megabits']:5g} Mbit/s {row['milliseconds']:4g} ms: measured "
                f"{1e3 * row['seconds']:8.1f} ms, predicted {1e3 * row['predicted']:8.1f} ms "
                f"({error:+.1%})"
            )
        print(f"{name}: largest error {max(errors):.1%}, median {median(errors):.1%}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draw", action="store_true", help="draw the recorded measurements")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, default=RESULT)
    options = parser.parse_args()
    if not options.draw:
        options.out.write_text(json.dumps(measure(options.repeats), indent=1) + "\n", "utf-8")
    result = with_predictions(json.loads(options.out.read_text("utf-8")))
    report(result)
    draw(result, PICTURE)
    write(result, way, PAGE)


if __name__ == "__main__":
    main()
