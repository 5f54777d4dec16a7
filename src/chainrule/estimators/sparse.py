"""Rows of a sparse matrix, such as bags of words: only the rows of a batch become dense."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from scipy.sparse import issparse
from torch import Tensor, nn

from chainrule.learning.tasks import Task
from chainrule.training import Settings, outputs
from chainrule.training.evaluation import AT_ONCE, measured
from chainrule.training.sources.base import Batch
from chainrule.training.sources.rows import Rows

CHECKED = 64  # rows that the checks before training look at


class CsrRows:
    """A matrix in SciPy's CSR form with what the estimators ask of a tensor.

    Args:
        matrix: (rows, features).
    """

    def __init__(self, matrix: Any):
        self.matrix, self.shape = matrix, matrix.shape
        self.dtype = torch.from_numpy(np.empty(0, matrix.dtype)).dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> "CsrRows":
        return CsrRows(self.matrix[rows.numpy() if isinstance(rows, Tensor) else rows])

    def dense(self) -> Tensor:
        return torch.from_numpy(self.matrix.toarray())


class SparseRows(Rows):
    """Every example once per epoch.

    Args:
        arrays: a `CsrRows`, then the targets.
    """

    arrays: tuple[Any, ...]

    def __init__(self, arrays: tuple[Any, ...]):
        self.arrays, self.inputs, self.augment = arrays, 1, None

    def epoch(self, settings: Settings, epoch: int) -> Callable[[int], Batch]:
        rows = self.order(settings, epoch).split(settings.batch_size)
        return lambda step: self.gather(rows[step])

    def gather(self, rows: Tensor) -> Batch:
        x: Any = self.arrays[0]
        targets = tuple(t[rows] for t in self.arrays[1:])
        return Batch((x[rows].dense(),), targets, len(rows))

    def rows(self, settings: Settings, model: nn.Module) -> int:
        return self.work(settings)

    def check(self, model: nn.Module, task: Task, settings: Settings, name: str) -> None:
        batch = self.gather(torch.arange(min(CHECKED, len(self))))
        Rows((*batch.inputs, *batch.targets)).check(model, task, settings, name)

    def prepared(self, task: Task, device: torch.device, training: bool) -> "SparseRows":
        return self

    def evaluate(self, model: nn.Module, task: Task) -> dict[str, float]:
        output = sparse_outputs(model, self.arrays[0])
        return measured(output.float(), tuple(self.arrays[1:]), task)


def sparse_outputs(model: nn.Module, x: Any) -> Tensor:
    """The model's outputs for the rows of a sparse matrix, some thousand at a time."""
    parts = [x[start : start + AT_ONCE] for start in range(0, len(x), AT_ONCE)]
    return torch.cat([outputs(model, (part.dense(),)) for part in parts])


def as_batches(arrays: tuple[Any, ...] | None) -> Any:
    """Arrays as `iterate` takes them: those with a sparse matrix as a source."""
    return SparseRows(arrays) if arrays is not None and is_sparse(arrays[0]) else arrays


def is_sparse(x: Any) -> bool:
    """Whether this is a sparse matrix, wrapped or not."""
    return isinstance(x, CsrRows) or issparse(x)
