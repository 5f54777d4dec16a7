"""Rows that stay on the disk: read block by block, shuffled with bounded memory.

order of the blocks     a permutation that follows from (seed, epoch)
order of the rows       a permutation of every window of consecutive blocks: (seed, epoch, window)
batch t                 rows t B … (t + 1) B - 1 of that order

A window holds as many blocks as fit into `window_bytes`, one behind the other; its rows are put in
order when a batch takes them, which costs what it costs with all rows in memory. One window is in
use while a thread reads the next, into the memory of the one before. Nothing is carried from batch
to batch, so a run that resumes in the middle of an epoch reads only the window it needs.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch

from chainrule.errors import InputError
from chainrule.learning.augmentation import Augment
from chainrule.learning.tasks import Task
from chainrule.nn.pixels import unit_range
from chainrule.training.randomness import mix, permutation
from chainrule.training.settings import Settings
from chainrule.training.sources.base import Arrays, Batch, shared
from chainrule.training.sources.block_windows import Window, windows
from chainrule.training.sources.loaders import CollatedSource

WINDOW_BYTES = 2**27
AT_ONCE = 4096  # rows of a forward pass of an evaluation


@runtime_checkable
class Blocks(Protocol):
    """Rows in blocks, such as slices of a memory-mapped array or row groups of a Parquet file."""

    @property
    def sizes(self) -> Sequence[int]:
        """Number of rows of each block."""

    @property
    def row_bytes(self) -> int:
        """Bytes of one row in memory."""

    def read(self, block: int, rows: np.ndarray | None = None) -> Arrays:
        """The rows of a block, or those with these numbers: inputs, then targets."""


class BlockShuffledRows(CollatedSource):
    """Every row once per epoch, from blocks on the disk.

    Args:
        blocks: reads the rows of a block.
        inputs: how many of its tensors are inputs.
        augment: changes the first input of a training batch; it draws from torch's generator.
        window_bytes: of the rows that are shuffled together; two windows are in memory.
    """

    unsupported: Mapping[str, str] = {
        "sampling": "these batches have an order of their own",
        "class_weights": "the labels are not in memory",
    }

    def __init__(
        self,
        blocks: Blocks,
        inputs: int = 1,
        augment: Augment | None = None,
        window_bytes: int = WINDOW_BYTES,
    ):
        super().__init__(inputs)
        if window_bytes < 1:
            raise InputError(f"`window_bytes` must be at least 1, got {window_bytes}")
        self.blocks, self.augment, self.window_bytes = blocks, augment, window_bytes
        self.sizes = np.asarray(blocks.sizes, np.int64)
        self.now: ShuffledEpoch | None = None
        self.ahead: ShuffledEpoch | None = None  # whose first window is read already
        self.spare: list[Arrays] = []  # memory of windows that nobody needs

    def __len__(self) -> int:
        return int(self.sizes.sum())

    def share(self, rank: int, ranks: int) -> "BlockShuffledRows | None":
        """The source of one of several processes: its part of every batch, and no other row.

        Rank r of k takes rows r b // k … (r + 1) b // k - 1 of a batch of b. None where batches are
        augmented: what is drawn belongs to the whole batch.
        """
        if self.augment is not None:
            return None
        return shared(self, rank, ranks).anew()

    def prepared(self, task: Task, device: torch.device, training: bool) -> "BlockShuffledRows":
        found = super().prepared(task, device, training)
        assert isinstance(found, BlockShuffledRows)
        return found.anew()

    def anew(self) -> "BlockShuffledRows":
        """The source itself, without windows."""
        self.now, self.ahead, self.spare = None, None, []
        return self

    def steps(self, settings: Settings) -> int:
        return math.ceil(len(self) / settings.batch_size)

    def epoch(self, settings: Settings, epoch: int) -> Callable[[int], Batch]:
        key = settings.seed, settings.batch_size, epoch
        found = self.ahead if self.ahead and self.ahead.key == key else None
        found, self.ahead = found or ShuffledEpoch(self, *key), None
        if self.now is not None:
            self.now.keep()
        self.now = found
        last = self.steps(settings) - 1

        def batch(step: int) -> Batch:
            arrays = self.some(found.rows(step))
            if step == last and epoch + 1 < settings.epochs:
                self.ahead = ShuffledEpoch(self, settings.seed, settings.batch_size, epoch + 1)
                self.ahead.start(0)
            made = self.as_batch(arrays, self.task)
            made = made._replace(size=len(found.places(step)))
            if self.augment is None:
                return made
            return made._replace(inputs=(self.augment(made.inputs[0]), *made.inputs[1:]))

        return batch

    def some(self, arrays: Arrays) -> Arrays:
        """These rows; another stands in where a process has none of a small last batch."""
        return arrays if len(arrays[0]) else tuple(t[:1] for t in self.first)

    def as_batch(self, collated: Any, task: Task) -> Batch:
        """As a batch; images of bytes become numbers in [0, 1]."""
        made = super().as_batch(collated, task)
        return made._replace(inputs=tuple(map(unit_range, made.inputs)))

    @cached_property
    def first(self) -> Arrays:
        """Some rows, which are looked at before training."""
        return tuple(t[:AT_ONCE].clone() for t in self.blocks.read(0))

    def sample(self, settings: Settings) -> Arrays:
        return self.first

    def all(self) -> Iterator[Arrays]:
        begin = 0
        if self.sizes[0]:
            yield self.first
            begin = len(self.first[0])
        for block in range(len(self.sizes)):
            arrays = self.blocks.read(block) if self.sizes[block] > begin else ()
            yield from zip(*(t[begin:].split(AT_ONCE) for t in arrays), strict=True)
            begin = 0

    def describe(self) -> dict[str, Any]:
        own = {"blocks": len(self.sizes), "window_bytes": self.window_bytes}
        return super().describe() | own


class ShuffledEpoch:
    """The order of one epoch, and the windows of it that are in memory.

    Args:
        source: of the rows.
        seed: of the run.
        size: of a batch.
        epoch: its number.
    """

    def __init__(self, source: BlockShuffledRows, seed: int, size: int, epoch: int):
        self.source, self.size, self.total = source, size, len(source)
        self.key, self.seed = (seed, size, epoch), mix(seed, epoch)
        order = permutation(len(source.sizes), seed, epoch).numpy()
        self.windows = windows(order, source.sizes * source.blocks.row_bytes, source.window_bytes)
        ends = np.cumsum([source.sizes[blocks].sum() for blocks in self.windows])
        self.bounds = np.concatenate([[0], ends])
        self.reader = ThreadPoolExecutor(1, "blocks")
        self.reading: dict[int, Future[Window]] = {}

    def rows(self, step: int) -> Arrays:
        """This process's rows of batch `step`."""
        parts, wanted = [], self.own(step)
        window = int(np.searchsorted(self.bounds, wanted.start, "right")) - 1
        self.keep(window, window + 1)
        while wanted:
            start, end = self.bounds[window], self.bounds[window + 1]
            here = wanted[: max(0, end - wanted.start)]
            if here:
                # Where several processes share the batches, a window has the own rows only.
                first = self.own_before(here.start) - self.own_before(int(start))
                parts.append(self.window(window).rows(first, len(here)))
            wanted = wanted[len(here) :]
            window += 1
        if len(parts) == 1:
            return parts[0]
        if not parts:
            return self.window(window).rows(0, 0)
        return tuple(torch.cat(several) for several in zip(*parts, strict=True))

    def places(self, step: int) -> range:
        """Places of all rows of batch `step` in the order of the epoch."""
        return range(step * self.size, min((step + 1) * self.size, self.total))

    def own(self, step: int) -> range:
        """Those of this process."""
        whole, rank, ranks = self.places(step), self.source.rank, self.source.ranks
        return whole[rank * len(whole) // ranks : (rank + 1) * len(whole) // ranks]

    def own_before(self, place: int) -> int:
        """How many places below this one are this process's."""
        step = min(place, self.total - 1) // self.size
        each = len(self.own(0))
        inside = self.own(step)
        return step * each + min(max(place - inside.start, 0), len(inside))

    def keep(self, *wanted: int) -> None:
        """Forget all other windows; batches are copies, so that their memory may be used again."""
        for other in [k for k in self.reading if k not in wanted]:
            read = self.reading.pop(other)
            if read.done() and read.exception() is None:
                self.source.spare.append(read.result().arrays)

    def window(self, window: int) -> Window:
        """The rows of a window; the next one is read meanwhile."""
        self.start(window)
        self.start(window + 1)
        return self.reading[window].result()

    def start(self, window: int) -> None:
        """Begin to read a window, if there is one and it is not in memory."""
        if window < len(self.windows) and window not in self.reading:
            self.reading[window] = self.reader.submit(self.read, window)

    def read(self, window: int) -> Window:
        """Read every block of a window, and note the places of its rows."""
        blocks, start = self.windows[window], int(self.bounds[window])
        sizes = self.source.sizes[blocks]
        generator = torch.Generator().manual_seed(mix(self.seed, window + 1))
        places = torch.randperm(int(sizes.sum()), generator=generator).numpy()
        found: Arrays = ()
        total = self.own_before(int(self.bounds[window + 1])) - self.own_before(start)
        order, end = np.empty(total, np.int64), 0
        for block, targets in zip(blocks, np.split(places, np.cumsum(sizes)[:-1]), strict=True):
            rows, targets = self.own_rows(targets, start)
            arrays = self.source.blocks.read(int(block), rows)
            found = found or self.memory(total, arrays)
            first, end = end, end + len(targets)
            order[targets] = np.arange(first, end)
            for whole, part in zip(found, arrays, strict=True):
                whole.numpy()[first:end] = part.numpy()  # torch would take further threads
        return Window(found, torch.from_numpy(order))

    def memory(self, rows: int, like: Arrays) -> Arrays:
        """Memory for at least so many rows: that of a former window, or new one."""
        with suppress(IndexError):  # an empty list; the other thread puts arrays there
            found = self.source.spare.pop()
            if len(found[0]) >= rows:
                return found
        share = max(1, self.source.blocks.row_bytes * self.source.ranks)
        usual = self.source.window_bytes // share
        most = max(rows, min(usual, self.total))
        return tuple(torch.empty(most, *t.shape[1:], dtype=t.dtype) for t in like)

    def own_rows(self, targets: np.ndarray, start: int) -> tuple[np.ndarray | None, np.ndarray]:
        """(rows of a block, their places in the window): all, or those of this process."""
        rank, ranks = self.source.rank, self.source.ranks
        if ranks == 1:
            return None, targets
        place = targets + start
        step = place // self.size
        number = np.minimum(self.size, self.total - step * self.size)
        first, end = rank * number // ranks, (rank + 1) * number // ranks
        within = place - step * self.size
        own = (first <= within) & (within < end)
        before = step * len(self.own(0)) + within - first
        return np.flatnonzero(own), before[own] - self.own_before(start)
