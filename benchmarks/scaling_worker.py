"""One process of `benchmarks/scaling.py`: collectives and steps of training, timed.

It reads a list of jobs from its arguments as JSON, does each of them, and prints one line of JSON
for each (rank 0 only). Every process computes with one thread.
"""

import gc
import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from itertools import pairwise
from statistics import median
from typing import Any

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import Tensor, nn
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel

from chainrule.children import die_with_parent
from chainrule.models.attention.gpt import GPT
from chainrule.models.convolution.resnet import ResNet
from chainrule.models.feedforward.mlp import MLP

PARENT = "SCALING_PARENT"  # variable with the process id of the benchmark
Made = tuple[nn.Module, Tensor, Tensor]


def mlp(batch: int) -> Made:
    return (
        MLP(784, [1024, 1024], 10),
        torch.randn(batch, 784),
        torch.randint(10, (batch,)),
    )


def resnet20(batch: int) -> Made:
    images = torch.randn(batch, 3, 32, 32)
    return ResNet.cifar(20, 10), images, torch.randint(10, (batch,))


def resnet50(batch: int) -> Made:
    return ResNet.imagenet(50), torch.randn(batch, 3, 224, 224), torch.randint(1000, (batch,))


def gpt(batch: int) -> Made:
    ids = torch.randint(65, (batch, 129))
    return GPT(65, 128, 256, 4, 8), ids[:, :-1], ids[:, 1:]


def gpt2(batch: int) -> Made:
    ids = torch.randint(50257, (batch, 129))
    return GPT(50257, 1024, 768, 12, 12), ids[:, :-1], ids[:, 1:]


MODELS: dict[str, Callable[[int], Made]] = {
    "mlp": mlp,
    "resnet20": resnet20,
    "resnet50": resnet50,
    "gpt": gpt,
    "gpt2": gpt2,
}


def loss_of(output: Tensor, target: Tensor) -> Tensor:
    return F.cross_entropy(output.flatten(0, -2), target.flatten())


def collective(job: dict[str, Any]) -> dict[str, Any]:
    """Median seconds of a collective of so many bytes."""
    k, numbers = dist.get_world_size(), job["bytes"] // 4
    share, whole = torch.ones(numbers // k), torch.ones(numbers // k * k)
    ways: dict[str, Callable[[], Any]] = {
        "all-reduce": lambda: dist.all_reduce(whole),
        "all-gather": lambda: dist.all_gather_into_tensor(whole, share),
        "reduce-scatter": lambda: dist.reduce_scatter_tensor(share, whole),
    }
    device = os.environ["GLOO_SOCKET_IFNAME"]
    times, left = [], []
    for _ in range(job["repeats"] + 1):
        dist.barrier()
        before, began = sent_by(device), time.perf_counter()
        ways[job["collective"]]()
        times.append(time.perf_counter() - began)
        left.append(sent_by(device) - before)
    return {"seconds": median(times[1:]), "sent": median(left[1:])}


def sent_by(device: str) -> int:
    with open(f"/sys/class/net/{device}/statistics/tx_bytes") as file:  # noqa: PTH123
        return int(file.read())


def tax(job: dict[str, Any]) -> dict[str, Any]:
    """Processor seconds that each sent byte takes from a computation at the same time."""
    a = torch.randn(256, 256)

    def products(number: int) -> float:
        began = time.perf_counter()
        for _ in range(number):
            a @ a
        return time.perf_counter() - began

    x, lost = torch.ones(job["bytes"] // 4), []
    products(50)
    for _ in range(job["repeats"]):
        dist.barrier()
        alone = products(100) / 100
        dist.barrier()
        began, work, number = time.perf_counter(), dist.all_reduce(x, async_op=True), 0
        while not work.is_completed():
            products(5)
            number += 5
        lost.append(time.perf_counter() - began - number * alone)
    k = dist.get_world_size()
    return {"tax": median(lost) / (2 * (k - 1) / k * job["bytes"])}


def step(job: dict[str, Any]) -> dict[str, Any]:
    """Median seconds of a step and its parts.

    With one process also when each bucket is complete. With more, every second step is computed
    without communication, so that both kinds see the same machine.
    """
    torch.manual_seed(0)
    model, x, y = MODELS[job["model"]](job["batch"])
    ready: list[tuple[float, int]] = []
    alone, sharded = dist.get_world_size() == 1, job.get("sharded", False)
    units = units_of(model) if job["model"].startswith("gpt") else []
    trained = shard(model) if sharded else parallel(model, job.get("bucket_mb", 25))
    if alone:
        trained.register_comm_hook(ready, note)
    plain = MODELS[job["model"]](job["batch"])[0]
    rows: dict[bool, list[list[float]]] = {True: [], False: []}
    buckets: list[list[float]] = []
    ways = {True: (trained, sgd(trained))} | ({} if alone else {False: (plain, sgd(plain))})
    for number in range(job["steps"] + 2):
        for joined, (network, optimizer) in ways.items():
            ready.clear()
            if not alone:
                dist.barrier()
            times = timed(network, optimizer, x, y)
            if number >= 2:
                rows[joined].append([b - a for a, b in pairwise(times)])
            if alone:
                buckets = [[(t - times[1]) / (times[2] - times[1]), size] for t, size in ready]
    forward, backward, update = (median(part) for part in zip(*rows[alone], strict=True))
    return {
        "seconds": median(map(sum, rows[True])),
        "forward": forward,
        "backward": backward,
        "update": update,
        "buckets": buckets,
        "units": units,
        "parameters": sum(p.numel() for p in plain.parameters()),
    }


def parallel(model: nn.Module, bucket_mb: int) -> nn.Module:
    return DistributedDataParallel(model, broadcast_buffers=False, bucket_cap_mb=bucket_mb)


def sgd(model: nn.Module) -> torch.optim.SGD:
    return torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)


def timed(model: nn.Module, optimizer: torch.optim.SGD, x: Tensor, y: Tensor) -> list[float]:
    """The moments before and after the forward pass, the backward pass and the update."""
    times = [time.perf_counter()]
    loss = loss_of(model(x), y)
    times.append(time.perf_counter())
    loss.backward()
    times.append(time.perf_counter())
    optimizer.step()
    optimizer.zero_grad()
    times.append(time.perf_counter())
    return times


def note(ready: list[tuple[float, int]], bucket: dist.GradBucket) -> torch.futures.Future[Tensor]:
    """Write down when a bucket is complete, and send nothing."""
    buffer = bucket.buffer()
    ready.append((time.perf_counter(), buffer.numel() * buffer.element_size()))
    done: torch.futures.Future[Tensor] = torch.futures.Future()
    done.set_result(buffer)
    return done


def units_of(model: nn.Module) -> list[int]:
    """Bytes of the units of FSDP: what is in no block, then every block."""
    blocks = [4 * sum(p.numel() for p in block.parameters()) for block in model.blocks]  # type: ignore[union-attr]
    return [4 * sum(p.numel() for p in model.parameters()) - sum(blocks), *blocks]


def shard(model: nn.Module) -> nn.Module:
    """FSDP of every block and of the rest."""
    for block in model.blocks:  # type: ignore[union-attr]
        fully_shard(block)
    return fully_shard(model)


def main() -> None:
    rank, processes, address = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    die_with_parent(int(os.environ[PARENT]))
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    store: dist.Store = (
        dist.TCPStore(address, 29500, processes, rank == 0) if processes > 1 else dist.HashStore()
    )
    dist.init_process_group("gloo", store=store, rank=rank, world_size=processes)
    for job in json.loads(sys.argv[4]):
        found = {"collective": collective, "tax": tax, "step": step}[job["kind"]](job)
        gc.collect()
        if rank == 0:
            print(json.dumps(job | found), flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
