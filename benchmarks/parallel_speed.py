"""Two processes that share every batch, beside other ways to use two cores.

    python benchmarks/parallel_speed.py mlp|resnet-20|gpt [two]

Ours in one process with two threads and in two processes, a hand-written script of torch's
DistributedDataParallel, Lightning's DDP and Accelerate's: the same network, optimizer and global
batch, one thread in each of two processes. All are started and warmed up; then they take turns, an
epoch each, while the others sleep. What is told is the median over the rounds of seconds, and of
the ratio to the hand-written script in the same round. `two` leaves out the one process with two
threads, which a busy machine slows down most: every operation waits for both.

Batch normalization of ours has the statistics of the whole batch, that of the scripts those of
half a batch in each process. So there is one more of ResNet-20, by hand with the statistics of the
whole batch: torch's SyncBatchNorm written for CPUs. Written to benchmarks/processes.json.
"""

import json
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

ROUNDS = 24
LEFT_OUT = 3  # rounds of warming up
SIZES = {"mlp": (128, 150), "resnet-20": (32, 5), "gpt": (16, 10)}  # rows of a batch, steps
CONTEXT, VOCAB = 64, 65
CONTENDERS = ("one process, two threads", "two processes", "by hand", "lightning", "accelerate")
SYNCHRONIZED = "by hand, statistics of the whole batch"


def network(kind: str) -> nn.Module:
    torch.manual_seed(0)
    if kind == "mlp":
        from chainrule.models.feedforward.mlp import MLP

        return MLP(784, [256, 256], 10)
    if kind == "gpt":
        from chainrule.models.attention.gpt import GPT

        return GPT(VOCAB, CONTEXT, 128, 4, 4)
    from chainrule.models.convolution.resnet import ResNet

    return ResNet.cifar(20, classes=10)


def tensors(kind: str) -> tuple[Tensor, Tensor]:
    """Rows and labels, or tokens and the next ones."""
    rows, steps = SIZES[kind]
    generator = torch.Generator().manual_seed(0)
    if kind == "gpt":
        tokens = torch.randint(VOCAB, (100_001,), generator=generator)
        return tokens[:-1], tokens[1:]
    shape = (784,) if kind == "mlp" else (3, 32, 32)
    x = torch.randn(rows * steps, *shape, generator=generator)
    return x, torch.randint(10, (len(x),), generator=generator)


def optimizer(kind: str, model: nn.Module) -> torch.optim.Optimizer:
    if kind == "gpt":
        return torch.optim.AdamW(model.parameters(), 1e-3)
    return torch.optim.SGD(model.parameters(), 0.01, momentum=0.9)


def loss_of(kind: str, output: Tensor, y: Tensor) -> Tensor:
    if kind == "gpt":
        output, y = output.flatten(0, 1), y.flatten()
    return nn.functional.cross_entropy(output, y)


def epoch(kind: str, data: tuple[Tensor, Tensor], rank: int) -> Iterator[tuple[Tensor, Tensor]]:
    """The batches of one of two processes, as a script would cut them."""
    (x, y), (rows, steps) = data, SIZES[kind]
    order = torch.randperm(len(x))
    for step in range(steps):
        if kind == "gpt":
            start = torch.randint(len(x) - CONTEXT, (rows // 2, 1)) + torch.arange(CONTEXT)
            yield x[start], y[start]
        else:
            own = order[step * rows : (step + 1) * rows][rank::2]
            yield x[own], y[own]


def ours(kind: str, wait: Callable[[], None], report: Callable[[float], None]) -> None:
    from chainrule.learning.tasks import CLASSIFICATION, LANGUAGE_MODELING
    from chainrule.training import Settings, iterate
    from chainrule.training.distributed.group import joined
    from chainrule.training.sources import RandomWindows

    rows, steps = SIZES[kind]
    text = kind == "gpt"
    settings = Settings(
        epochs=ROUNDS,
        batch_size=rows,
        optimizer="adamw" if text else "momentum",
        learning_rate=1e-3 if text else 0.01,
        threads=1 if "RANK" in os.environ else 2,
    )
    data: Any = RandomWindows(tensors(kind), CONTEXT, steps) if text else tensors(kind)
    task = LANGUAGE_MODELING if text else CLASSIFICATION
    with joined():
        progress = iterate(network(kind), data, settings=settings, task=task)
        for _ in range(ROUNDS):
            wait()
            began = time.perf_counter()
            next(now for now in progress if now.record)
            report(time.perf_counter() - began)
        progress.close()


class WholeBatchNorm(nn.BatchNorm2d):
    """Mean and variance over all processes, as SyncBatchNorm has them on GPUs."""

    def forward(self, x: Tensor) -> Tensor:
        from torch.distributed.nn.functional import all_reduce

        if not self.training:
            return super().forward(x)
        own = torch.stack([x.mean((0, 2, 3)), x.square().mean((0, 2, 3))])
        mean, square = all_reduce(own) / torch.distributed.get_world_size()
        variance = square - mean.square()
        with torch.no_grad():
            self.running_mean.lerp_(mean, self.momentum)
            self.running_var.lerp_(variance, self.momentum)
        slope = self.weight * (variance + self.eps).rsqrt()
        return x * slope[:, None, None] + (self.bias - mean * slope)[:, None, None]


def by_hand(
    kind: str, wait: Callable[[], None], report: Callable[[float], None], whole: bool = False
) -> None:
    torch.distributed.init_process_group("gloo")
    plain = network(kind)
    for part in plain.modules():
        if whole and isinstance(part, nn.BatchNorm2d):
            part.__class__ = WholeBatchNorm
    model = nn.parallel.DistributedDataParallel(plain)
    steps, data, rank = optimizer(kind, plain), tensors(kind), torch.distributed.get_rank()
    for _ in range(ROUNDS):
        wait()
        began, total = time.perf_counter(), 0.0
        for x, y in epoch(kind, data, rank):
            steps.zero_grad()
            loss = loss_of(kind, model(x), y)
            loss.backward()
            steps.step()
            total += loss.item()
        report(time.perf_counter() - began)


def by_accelerate(kind: str, wait: Callable[[], None], report: Callable[[float], None]) -> None:
    from accelerate import Accelerator

    accelerator = Accelerator(cpu=True)
    plain = network(kind)
    model, steps = accelerator.prepare(plain, optimizer(kind, plain))
    data, rank = tensors(kind), accelerator.process_index
    for _ in range(ROUNDS):
        wait()
        began, total = time.perf_counter(), 0.0
        for x, y in epoch(kind, data, rank):
            steps.zero_grad()
            loss = loss_of(kind, model(x), y)
            accelerator.backward(loss)
            steps.step()
            total += loss.item()
        report(time.perf_counter() - began)


def by_lightning(kind: str, wait: Callable[[], None], report: Callable[[float], None]) -> None:
    import lightning as L

    data, rank = tensors(kind), int(os.environ["RANK"])

    class Batches(torch.utils.data.IterableDataset):  # type: ignore[type-arg]
        def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
            return epoch(kind, data, rank)

        def __len__(self) -> int:
            return SIZES[kind][1]

    class Module(L.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.model = network(kind)

        def training_step(self, batch: tuple[Tensor, Tensor], number: int) -> Tensor:
            return loss_of(kind, self.model(batch[0]), batch[1])

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return optimizer(kind, self.model)

        def on_train_epoch_start(self) -> None:
            wait()
            self.began = time.perf_counter()

        def on_train_epoch_end(self) -> None:
            report(time.perf_counter() - self.began)

    trainer = L.Trainer(
        max_epochs=ROUNDS, accelerator="cpu", strategy="ddp", devices=2, barebones=True
    )
    trainer.fit(Module(), torch.utils.data.DataLoader(Batches(), batch_size=None))


RUNS: dict[str, Any] = {
    SYNCHRONIZED: partial(by_hand, whole=True),
    **dict(zip(CONTENDERS, (ours, ours, by_hand, by_lightning, by_accelerate), strict=True)),
}


def worker(kind: str, contender: str) -> None:
    """A process of a contender: an epoch for every line that comes in, its seconds out."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no measurement
    torch.set_num_threads(1)

    def wait() -> None:
        if not sys.stdin.readline():
            os._exit(1)

    def report(seconds: float) -> None:
        print(seconds, file=out, flush=True)

    RUNS[contender](kind, wait, report)
    os._exit(0)


def start(kind: str, contender: str) -> "list[subprocess.Popen[str]]":
    """The processes of a contender."""
    number = 1 if contender == CONTENDERS[0] else 2
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    found = []
    for rank in range(number):
        env = dict(os.environ)
        if number > 1:
            ranks = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": 2, "LOCAL_WORLD_SIZE": 2}
            place = {"MASTER_ADDR": "localhost", "MASTER_PORT": port, "OMP_NUM_THREADS": 1}
            torchrun = {"GROUP_RANK": 0, "TORCHELASTIC_RUN_ID": "speed"}
            env |= {name: str(value) for name, value in (ranks | place | torchrun).items()}
        else:
            env.pop("OMP_NUM_THREADS", None)
        words = [sys.executable, __file__, "worker", kind, contender]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        found.append(
            subprocess.Popen(words, env=env, text=True, stderr=subprocess.DEVNULL, **pipes)
        )
    return found


def turn(processes: "list[subprocess.Popen[str]]") -> float:
    """The seconds of an epoch of a contender; the others sleep."""
    for process in processes:
        print("go", file=process.stdin, flush=True)
    return max(float(process.stdout.readline()) for process in processes if process.stdout)


def measured(kind: str, names: tuple[str, ...]) -> dict[str, Any]:
    """Seconds and ratios of these contenders."""
    running = {name: start(kind, name) for name in names}
    try:
        rounds = [{name: turn(p) for name, p in running.items()} for _ in range(ROUNDS)][LEFT_OUT:]
    finally:
        for process in (p for every in running.values() for p in every):
            process.kill()
    found: dict[str, Any] = {}
    for name in names:
        ratios = [one[name] / one["by hand"] for one in rounds]
        found[name] = {
            "milliseconds of a step": round(
                1e3 * statistics.median(one[name] for one in rounds) / SIZES[kind][1], 3
            ),
            "to by hand": round(statistics.median(ratios), 3),
            "of rounds": [round(ratio, 3) for ratio in sorted(ratios)],
        }
    return found


def main() -> None:
    if sys.argv[1] == "worker":
        worker(*sys.argv[2:])
    sys.path.insert(0, str(Path(__file__).parent))
    from processes import OUT, record

    kind = sys.argv[1]
    found: dict[str, Any] = {"date": date.today().isoformat(), "batch": SIZES[kind][0]}
    found["load before"] = round(os.getloadavg()[0], 2)
    more = (SYNCHRONIZED,) if kind == "resnet-20" else ()
    found |= measured(kind, (*CONTENDERS["two" in sys.argv :], *more))
    known = json.loads(OUT.read_text()).get("speed", {}) if OUT.exists() else {}
    record("speed", known | {kind: found})


if __name__ == "__main__":
    main()
