"""Tensors, data sets and loaders as batch sources."""

from typing import Any

from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset

from chainrule.errors import InputError
from chainrule.learning.augmentation import Augment
from chainrule.training.settings import Settings
from chainrule.training.sources.base import BatchSource
from chainrule.training.sources.blocks import Blocks, BlockShuffledRows
from chainrule.training.sources.loaders import (
    DatasetSource,
    IterableSource,
    LoaderSource,
    flattened,
)
from chainrule.training.sources.rows import Rows, RowsWithReplacement, WholeBatch


def as_source(
    data: Any, settings: Settings, inputs: int = 1, augment: Augment | None = None
) -> BatchSource:
    """The batches of tensors, blocks, a Dataset or a DataLoader; a source is returned unchanged.

    Args:
        data: tensors (input …, target), blocks of rows on the disk, a torch `Dataset` or
            `DataLoader`, or a batch source.
        settings: `optimizer="gd"` takes all rows, `sampling="replacement"` draws them.
        inputs: how many of the tensors go into the model.
        augment: changes the first input of a training batch.
    """
    if isinstance(data, BatchSource):
        return data
    if isinstance(data, Blocks):
        return BlockShuffledRows(data, inputs, augment)
    if isinstance(data, TensorDataset):
        data = data.tensors
    if isinstance(data, DataLoader):
        return LoaderSource(data, inputs)
    if isinstance(data, IterableDataset):
        return IterableSource(data, settings.batch_size, inputs)
    if isinstance(data, Dataset):
        return DatasetSource(data, inputs)
    if not isinstance(data, tuple | list):
        raise InputError(
            f"expected tensors (input, target), a Dataset or a DataLoader, got "
            f"{type(data).__name__}; chainrule.data.arrays(x, y) makes splits from NumPy arrays"
        )
    kind = Rows
    if settings.optimizer == "gd":
        kind = WholeBatch
    elif settings.sampling == "replacement":
        kind = RowsWithReplacement
    return kind(flattened(data), inputs, augment)
