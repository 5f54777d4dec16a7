"""What a step of data-parallel training costs on k processes: measured compute, modeled network.

    hop            h(s) = max(α + s β, 2 s β)             two segments of s bytes in flight
    all-reduce     T(n) = 2 (k - 1) p/2 · h(n / (k p))    p = max(2, ⌈n / 1 MiB⌉ / k) segments each
                        = 2 (k - 1) α                     for few bytes: latency
                        = 2 (k - 1)/k · n β               for many: bandwidth
    all-gather     T(n) = (k - 1) · h(n / 2k)
    reduce-scatter      = the all-reduce of its input, of which each process keeps its share

This is what gloo does in torch 2.13: rings whose chunks are cut into segments, of which two are
under way at once. α is twice the latency of the network, since the receiver first announces its
buffer, and the time that the software takes. A gradient bucket of DDP travels while the backward
pass computes the next one; FSDP waits for its parameters. Hockney (1994); Patarasuk and Yuan
(2009); Li et al. (2020, DDP); Zhao et al. (2023, FSDP).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from chainrule.errors import InputError

SEGMENT = 2**20  # bytes, the largest that gloo sends at once in an all-reduce
BITS = 8
THREADS = 2  # of gloo: sums that are under way at once


@dataclass(frozen=True, kw_only=True)
class Network:
    """Links between processes, one for each, full duplex.

    Args:
        gigabits: per second and direction.
        latency: seconds from one process to another.
        overhead: seconds that the software adds to each hop of a ring.
        tax: seconds of a processor that each sent byte takes from the backward pass, which runs at
            the same time. 0 where other processors or the network card do the work.
    """

    gigabits: float | int
    latency: float | int
    overhead: float | int = 0.0
    tax: float | int = 0.0

    def __post_init__(self) -> None:
        if not self.gigabits > 0:
            raise InputError(f"`gigabits` must be above 0, got {self.gigabits}")
        for name in ("latency", "overhead", "tax"):
            if not getattr(self, name) >= 0:
                raise InputError(f"`{name}` must be at least 0, got {getattr(self, name)}")

    @property
    def alpha(self) -> float:
        """Seconds of a hop without data: announce the buffer, then send."""
        return 2 * self.latency + self.overhead

    @property
    def beta(self) -> float:
        """Seconds per byte."""
        return BITS / (self.gigabits * 1e9)

    def hop(self, segment: float | int) -> float:
        """Seconds until two segments of so many bytes have reached the next process."""
        return max(self.alpha + segment * self.beta, 2 * segment * self.beta)


@dataclass(frozen=True, kw_only=True)
class Work:
    """What one process computes in a step.

    Args:
        forward: seconds of the forward pass and the loss.
        backward: seconds of the backward pass.
        update: seconds of everything else, the optimizer's step above all.
        buckets: of gradients as (share of the backward pass after which it is complete, bytes).
        units: bytes of the parts that FSDP gathers one by one.
        blocking: bytes of sums for which the processes wait, such as those of a synchronized
            batch normalization.
    """

    forward: float
    backward: float
    update: float
    buckets: tuple[tuple[float, int], ...]
    units: tuple[int, ...] = ()
    blocking: tuple[int, ...] = field(default=())

    @property
    def seconds(self) -> float:
        """Of a step without communication."""
        return self.forward + self.backward + self.update

    def scaled(self, share: float) -> "Work":
        """The same with a share of the examples: the passes shrink, the update does not."""
        return Work(
            forward=self.forward * share,
            backward=self.backward * share,
            update=self.update,
            buckets=self.buckets,
            units=self.units,
            blocking=self.blocking,
        )


def all_reduce(size: float | int, processes: int, network: Network) -> float:
    """Seconds until every process has the sum of so many bytes."""
    if processes < 2 or not size:
        return 0.0
    segments = max(2, math.ceil(math.ceil(size / SEGMENT) / processes))
    hops = 2 * (processes - 1) * segments / 2
    return hops * network.hop(size / (processes * segments))


def all_gather(size: float | int, processes: int, network: Network) -> float:
    """Seconds until every process has all the shares of so many bytes."""
    if processes < 2 or not size:
        return 0.0
    return (processes - 1) * network.hop(size / (2 * processes))


def reduce_scatter(size: float | int, processes: int, network: Network) -> float:
    """Seconds until every process has its share of the sum of so many bytes."""
    return all_reduce(size, processes, network)


def sent(size: float | int, processes: int) -> float:
    """Bytes that each process sends in an all-reduce: 2 (k - 1)/k · n."""
    return 2 * (processes - 1) / processes * size


def ddp_step(work: Work, processes: int, network: Network) -> float:
    """Seconds of a step with DDP: buckets are summed while the backward pass goes on."""
    check(processes)
    waits = sum(all_reduce(size, processes, network) for size in work.blocking)
    if processes == 1:
        return work.seconds
    backward = overlapped(work, processes, network)
    return work.forward + waits + backward + work.update


def overlapped(work: Work, processes: int, network: Network) -> float:
    """Seconds from the start of the backward pass to the last sum.

    Two sums may be under way and share the line. As long as one is, the backward pass runs at the
    speed 1 - tax · bytes / seconds.
    """
    clock = done = 0.0  # seconds, and seconds of computation behind
    lanes, line = [0.0] * THREADS, 0.0  # when each is free
    last = slowed = 0.0  # end of all sums so far, and what they take from the computation
    for share, size in (*work.buckets, (1.0, 0)):
        due = share * work.backward
        if clock < last:
            part = min((due - done) / (1 - slowed), last - clock)
            clock, done = clock + part, done + part * (1 - slowed)
        clock, done = clock + max(0.0, due - done), max(done, due)
        if size:
            lane = lanes.index(min(lanes))
            start = max(clock, lanes[lane])
            line = max(line, start) + sent(size, processes) * network.beta
            lanes[lane] = max(start + all_reduce(size, processes, network), line)
            left = slowed * max(0.0, last - clock) + network.tax * sent(size, processes)
            last = max(lanes)
            slowed = min(left / (last - clock), 0.9)
    return max(clock, last)


def fsdp_step(work: Work, processes: int, network: Network) -> float:
    """Seconds of a step with FSDP on gloo, whose collectives do not overlap with computation.

    Every unit is gathered for the forward pass and again for the backward pass, but for the last
    one, which is still there; its gradient is reduced and scattered.
    """
    check(processes)
    if not work.units:
        raise InputError("`units` is empty; expected the bytes of each part that FSDP gathers")
    gathers = sum(all_gather(size, processes, network) for size in work.units)
    gathers += sum(all_gather(size, processes, network) for size in work.units[1:])
    sums = sum(reduce_scatter(size, processes, network) for size in work.units)
    return work.seconds + gathers + sums


def efficiency(
    work: Work, processes: int, network: Network, strong: bool = False, sharded: bool = False
) -> float:
    """Speed of k processes divided by k times the speed of one.

    Args:
        work: of one process.
        processes: k.
        network: that joins them.
        strong: a step has as many examples in all as one process had, instead of k times as many.
        sharded: FSDP instead of DDP.
    """
    step = fsdp_step if sharded else ddp_step
    own = work.scaled(1 / processes) if strong else work
    ideal = work.seconds / processes if strong else work.seconds
    return ideal / step(own, processes, network)


def most_useful(
    work: Work, network: Network, least: float = 0.5, counts: Sequence[int] = (), **how: bool
) -> int:
    """The largest number of processes whose efficiency is at least so high.

    Args:
        work: of one process.
        network: that joins them.
        least: efficiency that is still worth it.
        counts: numbers of processes to look at, by default 1, 2, 4, …, 1,024.
        how: strong, sharded as in `efficiency`.
    """
    numbers = counts or [2**i for i in range(11)]
    return max(k for k in numbers if k == 1 or efficiency(work, k, network, **how) >= least)


def check(processes: int) -> None:
    if processes < 1:
        raise InputError(f"`processes` must be at least 1, got {processes}")
