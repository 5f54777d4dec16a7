"""Arrays larger than memory, read block by block: .npy files, one or many for each array."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from chainrule.arguments import Natural, checked
from chainrule.data.readers.arrays import memory_mapped
from chainrule.errors import InputError

BLOCK_BYTES = 2**22


@dataclass(frozen=True, eq=False)
class ArrayBlocks:
    """Slices of arrays that are on the disk.

    shards: tensors (input …, target) of equally many rows each; a block never leaves its shard.
    block_rows: rows of a block; the last one of a shard may have fewer.
    """

    shards: tuple[tuple[Tensor, ...], ...]
    block_rows: int

    @cached_property
    def places(self) -> list[tuple[int, int]]:
        """(shard, first row) of each block."""
        return [
            (number, start)
            for number, shard in enumerate(self.shards)
            for start in range(0, len(shard[0]), self.block_rows)
        ]

    @property
    def sizes(self) -> list[int]:
        """Number of rows of each block."""
        return [min(self.block_rows, len(self.shards[k][0]) - start) for k, start in self.places]

    @property
    def row_bytes(self) -> int:
        """Bytes of one row in memory."""
        return row_bytes(self.shards[0])

    def read(self, block: int, rows: np.ndarray | None = None) -> tuple[Tensor, ...]:
        """The rows of a block, or those with these numbers."""
        shard, start = self.places[block]
        found = (t[start : start + self.block_rows] for t in self.shards[shard])
        return tuple(t if rows is None else t[rows] for t in found)


def row_bytes(arrays: Sequence[Tensor]) -> int:
    return sum(t[:1].numel() * t.element_size() for t in arrays)


@checked
def array_blocks(*arrays: Any, block_rows: Natural = 0) -> ArrayBlocks:
    """Arrays on the disk as blocks of rows, for `fit` with bounded memory.

    arrays: input …, then target: the path of a .npy file each, or the paths of its shards in order.
    block_rows: rows that are read together; 0 takes 4 MiB of them.

    >>> import tempfile
    >>> import chainrule as cr
    >>> import numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/x.npy", np.random.rand(200, 3).astype("float32"))
    ...     np.save(f"{folder}/y.npy", np.arange(200) % 2)
    ...     blocks = array_blocks(f"{folder}/x.npy", f"{folder}/y.npy", block_rows=50)
    ...     len(cr.fit(cr.models.MLP(3, [8], 2), blocks, epochs=2, progress=False))
    2
    """
    if len(arrays) < 2:
        raise InputError(f"expected a file of inputs and a file of targets, got {len(arrays)}")
    parts = [[paths] if isinstance(paths, str | Path) else list(paths) for paths in arrays]
    if len({len(paths) for paths in parts}) > 1 or not parts[0]:
        numbers = ", ".join(str(len(paths)) for paths in parts)
        raise InputError(f"expected equally many shards of every array, got {numbers}")
    shards = tuple(opened_shard(paths) for paths in zip(*parts, strict=True))
    shapes = [[(t.dtype, *t.shape[1:]) for t in shard] for shard in shards]
    other = next((k for k, shape in enumerate(shapes) if shape != shapes[0]), None)
    if other is not None:
        raise InputError(
            f"the rows of shard {other + 1} have another type or shape than those of the first; "
            "expected all alike"
        )
    return ArrayBlocks(shards, block_rows or max(1, BLOCK_BYTES // max(1, row_bytes(shards[0]))))


def opened_shard(paths: Sequence[str | Path]) -> tuple[Tensor, ...]:
    """The arrays of one shard, which must have equally many rows."""
    shard = tuple(map(memory_mapped, paths))
    lengths = [len(t) if t.ndim else 0 for t in shard]
    if len(set(lengths)) > 1 or not lengths[0]:
        named = ", ".join(f"{n:,} in {path}" for n, path in zip(lengths, paths, strict=True))
        raise InputError(f"expected equally many rows in every array, at least one, got {named}")
    return shard
