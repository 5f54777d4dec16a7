"""Several processes: memory of each, results after kills of random ones, and after a lost machine.

    python benchmarks/processes.py memory        parameters, gradients and optimizer of each process
    python benchmarks/processes.py kills 1 50    kills random processes at random moments
    python benchmarks/processes.py kills 1 20 sharded      the same of a sharded run
    python benchmarks/processes.py kills 1 20 launcher     kills the launcher, then resumes
    python benchmarks/processes.py recipes       every recipe that supports processes: 2 against 1
    python benchmarks/processes.py recipes float32 NAME…   some of them, in single precision
    python benchmarks/processes.py node down     the link of one of two machines is cut for good
    python benchmarks/processes.py node dropped  it is cut for 20 seconds
    python benchmarks/processes.py node killed   all of a machine is killed, and its network removed

`node` needs root and iproute2: the machines are network namespaces. Everything is written to
benchmarks/processes.json.
"""

import fcntl
import json
import os
import platform
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from processes_page import write

OUT = Path(__file__).with_suffix(".json")
COMMAND = [sys.executable, "-m", "chainrule"]
TORCHRUN = [sys.executable, "-m", "torch.distributed.run"]
RUN = ["train", "digits-mlp", "--epochs", "60", "--quiet", "--no-pictures"]
RUN += ["--checkpoint-seconds", "0.1"]
QUIET = {"OMP_NUM_THREADS": "1", "TORCH_CPP_LOG_LEVEL": "ERROR"}
SIZES = {"hidden_size": 256, "num_layers": 6, "num_heads": 4}
DROPPED = 20  # seconds for which a link is cut


def record(name: str, found: Any, append: bool = False, merge: bool = False) -> None:
    """Write a measurement to the file, or one more of its kind, or more entries of a table."""
    with Path(tempfile.gettempdir(), "chainrule-processes.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        known = json.loads(OUT.read_text()) if OUT.exists() else {}
        before = known.get(name)
        if append:
            known[name] = [*(before or []), found]
        else:
            known[name] = dict(sorted(((before or {}) | found).items())) if merge else found
        known["machine"] = f"{os.cpu_count()} cores, {platform.machine()}"
        known["date"] = date.today().isoformat()
        OUT.write_text(json.dumps(known, indent=1) + "\n")
        write()
    print(name, json.dumps(found), flush=True)


def memory_of_this_process(sharded: bool) -> None:
    """Bytes held after two steps of a GPT; printed by every process."""
    import torch

    from chainrule.learning.tasks import LANGUAGE_MODELING
    from chainrule.models.attention.gpt import GPT
    from chainrule.training import Settings
    from chainrule.training.distributed.group import joined
    from chainrule.training.distributed.sharding import held_bytes
    from chainrule.training.fit import trainer_for
    from chainrule.training.loop import run
    from chainrule.training.sources import RandomWindows
    from chainrule.training.trainer import prepare

    with joined(sharded):
        torch.manual_seed(0)
        tokens = torch.randint(65, (5001,))
        source = RandomWindows((tokens[:-1], tokens[1:]), 64, 50)
        settings = Settings(batch_size=8, optimizer="adamw", threads=1)
        model = GPT(65, 64, **SIZES)
        whole = 4 * 4 * sum(p.numel() for p in model.parameters())
        spec = prepare(model, source, None, settings, LANGUAGE_MODELING, torch.device("cpu"))
        trainer = trainer_for(model, spec)
        steps = run(trainer, None, tick=0)
        for _ in range(2):
            next(steps)
        held = held_bytes(trainer)
        steps.close()
        del trainer, steps, spec, model
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(json.dumps({"held": held, "whole": whole, "peak_mb": peak}), flush=True)


def memory() -> None:
    """Each of 1, 2 and 4 processes, sharded and not."""
    found: dict[str, Any] = {"model": f"GPT {SIZES}, adamw, float32"}
    for number, kind in ((1, "plain"), (2, "plain"), (2, "sharded"), (4, "sharded")):
        words = [*TORCHRUN, f"--nproc-per-node={number}", __file__, "process", kind]
        said = subprocess.run(
            words, env=os.environ | QUIET, check=True, capture_output=True, text=True
        ).stdout
        each = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
        found[f"{number} {kind}"] = [
            {"MB": round(one["held"] / 2**20, 2), "share": round(one["held"] / one["whole"], 4)}
            for one in each
        ]
    record("memory", found)


SMALL: dict[str, Any] = {
    "hidden_size": 16,
    "num_layers": 1,
    "num_heads": 2,
    "epochs": 1,
    "epoch_steps": 4,
    "batch_size": 13,
    "chunk_length": 8,
    "context_length": 16,
    "vocab_size": 200,
    "max_length": 24,
    "features": 16,
    "optimizer": "sgd",
    "learning_rate": 0.02,
    "schedule": "constant",
    "beta2": 0.0,
    "threads": 1,
}


def recipes_of_this_process(place: Path, precision: str, names: list[str]) -> None:
    """Short runs of recipes, by plain gradient steps; a fault is written down."""
    import torch

    from chainrule.registry import find
    from chainrule.training.distributed.group import current, joined

    with joined():
        number = 1 if (group := current()) is None else group.size
        for name in names:
            try:
                found = few_steps(find("recipes", name).load().Recipe, getattr(torch, precision))
            except Exception as error:
                found = {"fault": f"{type(error).__name__}: {str(error).splitlines()[0]}"}
            if group is None or group.first:
                torch.save(found, place / f"{name}-{number}")


def names_of_recipes() -> list[str]:
    """Those that several processes can train and that need no file of the user's."""
    from chainrule.registry import entries
    from chainrule.runs.configuration import flags, required

    kinds = {entry.name: entry.load().Recipe for entry in entries("recipes")}
    return [
        name
        for name, kind in kinds.items()
        if kind.by_gradients()
        and "processes" not in kind.unsupported
        and not kind.requires
        and not any(required(flag) for flag in flags(kind))
        and kind.options.members == 1
    ]


def few_steps(kind: Any, dtype: Any) -> dict[str, Any]:
    """Weights and records after a few steps."""
    import torch

    from chainrule.runs.configuration import Configuration, configure, flags
    from chainrule.runs.recipe import SPLITS
    from chainrule.runs.run import initial_model

    known = {flag.name for flag in flags(kind)}
    recipe = configure(kind, {k: v for k, v in SMALL.items() if k in known}).recipe
    try:
        data = recipe.data(None)
    except Exception as error:  # what is not on this machine is told, and left out
        return {"left out": str(error).split(";")[0]}
    few = 400 if data.train.x.ndim == 1 else 47
    parts = {k: type(data.train)(*(real(t[:few], dtype) for t in getattr(data, k))) for k in SPLITS}
    data = replace(data, **parts)
    torch.manual_seed(0)
    torch.set_default_dtype(dtype)
    model = initial_model(Configuration(recipe), recipe.summarize(data), data)
    records = [now.record for now in recipe.fit(model, data, None, "cpu") if now.record]
    return {"weights": dict(model.state_dict()), "records": records}


def real(t: Any, dtype: Any) -> Any:
    return t.to(dtype) if t.is_floating_point() else t


def recipes(precision: str, names: list[str]) -> None:
    """One process against two, recipe by recipe; what is known of others is kept."""
    names = names or names_of_recipes()
    with tempfile.TemporaryDirectory() as place:
        for several in (COMMAND[:1], [*TORCHRUN, "--nproc-per-node=2"]):
            words = [*several, __file__, "several", place, precision, *names]
            subprocess.run(words, env=os.environ | QUIET, check=False)
        for name in names:
            found = compared(*(Path(place, f"{name}-{number}") for number in (1, 2)))
            record(f"recipes, {precision}", {name: found}, merge=True)


def compared(alone: Path, several: Path) -> dict[str, Any]:
    """The largest difference of a weight, and relative one of a metric, after a few steps."""
    import torch

    if not (alone.exists() and several.exists()):
        return {"fault": "the processes ended"}
    one, two = torch.load(alone), torch.load(several)
    for found in (one, two):
        if "weights" not in found:
            return dict(found)
    before = one["weights"]
    pairs = [(t.double(), before[name].double()) for name, t in two["weights"].items()]
    worst = max(float((a - b).abs().max()) for a, b in pairs if a.numel())
    metrics = [
        abs(record[k] - other[k]) / (abs(other[k]) + 1e-9)
        for record, other in zip(two["records"], one["records"], strict=True)
        for k in record
        if k != "seconds"
    ]
    return {"weights": float(f"{worst:.1e}"), "metrics": float(f"{max(metrics):.1e}")}


def weights(folder: Path) -> Any:
    from safetensors.torch import load_file

    return load_file(folder / "model.safetensors")


def workers(parent: int) -> list[int]:
    """The processes of a launcher."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            variables = (path / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if f"CHAINRULE_LAUNCHER={parent}".encode() in variables:
            found.append(int(path.name))
    return found


def kills(first: int, last: int, kind: str) -> None:
    """Kill a random process at a random moment, go on, and compare the weights bit for bit.

    The moment lies between the first checkpoint and the end if the seed is odd, else it may be at
    any time after the start.

    first, last: seeds of the runs.
    kind: sharded, or launcher: then it is killed, and the run resumed.
    """
    place, sharded = Path(tempfile.mkdtemp()), kind == "sharded"
    several = [*COMMAND, *RUN, "--processes", "2", *["--sharded"] * sharded]
    elastic = [] if kind == "launcher" else ["--elastic", "5"]
    seconds, trained, whole = left_alone(several, sharded)
    expected = weights(whole)
    for seed in range(first, last + 1):
        chance, folder = random.Random(seed), place / str(seed)
        started = subprocess.Popen([*several, *elastic, "--out", folder])
        began = started_workers(started)
        if seed % 2:
            first_checkpoint(folder, started, sharded)
        time.sleep(chance.uniform(0, 0.9) * (trained if seed % 2 else seconds))
        alive = sorted(workers(started.pid)) if started.poll() is None else []
        if kind == "launcher" and alive:
            alive = [started.pid]
        if alive:
            os.kill(victim := chance.choice(alive), signal.SIGKILL)
        moment = time.monotonic() - began
        behind = checkpoint_of(folder, sharded).exists()
        code = started.wait()
        if kind == "launcher" and alive:
            code = resumed(started.pid, folder)
        found = weights(folder) if code == 0 else {}
        one = {
            "date": date.today().isoformat(),
            "seed": seed,
            "killed": f"{alive.index(victim) + 1} of {len(alive)}" if alive else "",
            "after": f"{moment:.1f} of {seconds:.1f} s",
            "had a checkpoint": behind,
            "code": code,
            "equal": all(name in found and found[name].equal(t) for name, t in expected.items()),
        }
        record(f"kills, {kind}" if kind else "kills", one, append=True)
        shutil.rmtree(folder, ignore_errors=True)
    shutil.rmtree(place)


def resumed(launcher: int, folder: Path) -> int:
    """The exit code of `chainrule resume`, once the processes of the killed launcher have ended."""
    while workers(launcher):
        time.sleep(0.05)
    words = ["resume", str(folder), "--quiet", "--no-pictures"]
    return subprocess.run([*COMMAND, *words], check=False).returncode


def left_alone(command: list[str], sharded: bool) -> tuple[float, float, Path]:
    """Seconds of a run that nobody kills, and of those after its first checkpoint; its folder.

    Later calls use it again.
    """
    folder = Path(tempfile.gettempdir()) / f"chainrule-left-alone{'-sharded' * sharded}"
    clock = folder / "clock"
    if not clock.exists():
        shutil.rmtree(folder, ignore_errors=True)
        whole = subprocess.Popen([*command, "--out", folder])
        began = started_workers(whole)
        trained = first_checkpoint(folder, whole, sharded)
        if whole.wait():
            raise SystemExit("the run that nobody kills has failed")
        end = time.monotonic()
        clock.write_text(f"{end - began} {end - trained}")
    seconds, trained = map(float, clock.read_text().split())
    return seconds, trained, folder


def checkpoint_of(folder: Path, sharded: bool) -> Path:
    """What a run writes last of a checkpoint."""
    return folder / "checkpoints" / ("last.json" if sharded else "last.safetensors")


def first_checkpoint(
    folder: Path, launcher: "subprocess.Popen[bytes]", sharded: bool = False
) -> float:
    """When the run has a checkpoint."""
    path = checkpoint_of(folder, sharded)
    while not path.exists() and launcher.poll() is None:
        time.sleep(0.01)
    return time.monotonic()


def started_workers(launcher: "subprocess.Popen[bytes]") -> float:
    """When both processes of a launcher are there."""
    while len(workers(launcher.pid)) < 2 and launcher.poll() is None:
        time.sleep(0.05)
    return time.monotonic()


def node(kind: str) -> None:
    """Two machines, of which the second is lost; the first goes on alone.

    A link that is dropped for less than the time in which a process waits for the others costs
    nothing but that time: both go on, to the weights of two processes.
    """
    place = Path(tempfile.mkdtemp())
    code, seconds = lost_machine(place / "run", kind)
    several = ["--processes", "2"] if kind == "dropped" else []
    subprocess.run([*COMMAND, *RUN, *several, "--out", place / "other"], check=True)
    found, expected = weights(place / "run"), weights(place / "other")
    worst = max(float((found[name] - t).abs().max()) for name, t in expected.items())
    shutil.rmtree(place)
    other = "two processes" if several else "one process"
    one = {"code": code, "seconds": round(seconds), "difference": worst, "from": other}
    record("node", {kind: one}, merge=True)


def lost_machine(folder: Path, kind: str) -> tuple[int, float]:
    """The exit code of the first machine, and its seconds since the second was lost."""
    names = ("chainrule-a", "chainrule-b")
    started: list[subprocess.Popen[bytes]] = []
    try:
        network(names)
        started += [machine(name, folder) for name in names]
        while not (folder / "checkpoints" / "last.safetensors").exists():
            time.sleep(0.1)
            if None not in (one.poll() for one in started):
                raise SystemExit("the machines did not find each other")
        began = time.monotonic()
        if kind == "killed":
            remove(names[1])
        else:
            ip("-n", names[1], "link", "set", "veth-b", "down")
        if kind == "dropped":
            time.sleep(DROPPED)
            ip("-n", names[1], "link", "set", "veth-b", "up")
        return started[0].wait(600), time.monotonic() - began
    finally:
        for name in names:
            remove(name)


def remove(name: str) -> None:
    """Kill all processes of a namespace, and delete it."""
    inside = subprocess.run(["ip", "netns", "pids", name], capture_output=True, check=False)
    for pid in inside.stdout.split():
        with suppress(ProcessLookupError):
            os.kill(int(pid), signal.SIGKILL)
    subprocess.run(["ip", "netns", "delete", name], check=False, capture_output=True)


def network(names: tuple[str, str]) -> None:
    """Two namespaces with a link between them."""
    for name in names:
        ip("netns", "add", name)
    pair = ("peer", "name", "veth-b", "netns", names[1])
    ip("link", "add", "veth-a", "netns", names[0], "type", "veth", *pair)
    for name, end, address in zip(names, "ab", ("10.77.0.1", "10.77.0.2"), strict=True):
        ip("-n", name, "address", "add", f"{address}/24", "dev", f"veth-{end}")
        ip("-n", name, "link", "set", f"veth-{end}", "up")
        ip("-n", name, "link", "set", "lo", "up")
        ip("-n", name, "address", "add", f"{address}/32", "dev", "lo")  # stays without the link


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


def machine(name: str, folder: Path) -> "subprocess.Popen[bytes]":
    """torchrun in a namespace, as on a machine of its own."""
    address = {"chainrule-a": "10.77.0.1", "chainrule-b": "10.77.0.2"}[name]
    elastic = ["--nnodes=1:2", "--nproc-per-node=1", "--max-restarts=5", "--rdzv-backend=c10d"]
    elastic += ["--rdzv-endpoint=10.77.0.1:29400", f"--local-addr={address}", "--rdzv-id=node"]
    elastic.append(f"--rdzv-conf=is_host={int(name.endswith('a'))}")
    more = {"TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1", "GLOO_SOCKET_IFNAME": f"veth-{name[-1]}"}
    words = ["ip", "netns", "exec", name, *TORCHRUN, *elastic, "-m", "chainrule", *RUN]
    env = os.environ | QUIET | more
    return subprocess.Popen([*words, "--out", str(folder)], env=env, start_new_session=True)


def main() -> None:
    match sys.argv[1:]:
        case ["process", kind]:
            memory_of_this_process(kind == "sharded")
        case ["several", place, kind, *names]:
            recipes_of_this_process(Path(place), kind, names)
        case ["recipes", "float32" | "float64" as kind, *names]:
            recipes(kind, names)
        case ["recipes", *names]:
            recipes("float64", names)
        case ["memory"]:
            memory()
        case ["kills", first, last]:
            kills(int(first), int(last), "")
        case ["kills", first, last, "sharded" | "launcher" as kind]:
            kills(int(first), int(last), kind)
        case ["node", "down" | "dropped" | "killed" as kind]:
            node(kind)
        case _:
            print(__doc__)


if __name__ == "__main__":
    main()
