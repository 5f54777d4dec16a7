"""Batch sources: how many steps an epoch has, the batch of (epoch, step), how it is evaluated.

A new kind of batch is a new source, never a new loop.
"""

from chainrule.training.sources.base import Batch, BatchSource
from chainrule.training.sources.blocks import Blocks, BlockShuffledRows
from chainrule.training.sources.convert import as_source
from chainrule.training.sources.loaders import DatasetSource, LoaderSource
from chainrule.training.sources.random_windows import RandomWindows
from chainrule.training.sources.rows import (
    BucketedSequences,
    MemoryMappedRows,
    MirroredRows,
    Rows,
    RowsWithReplacement,
    WholeBatch,
)
from chainrule.training.sources.token_shards import TokenShards
from chainrule.training.sources.truncated_bptt import TruncatedBPTT

__all__ = [
    "Batch",
    "BatchSource",
    "BlockShuffledRows",
    "Blocks",
    "BucketedSequences",
    "DatasetSource",
    "LoaderSource",
    "MemoryMappedRows",
    "MirroredRows",
    "RandomWindows",
    "Rows",
    "RowsWithReplacement",
    "TokenShards",
    "TruncatedBPTT",
    "WholeBatch",
    "as_source",
]
