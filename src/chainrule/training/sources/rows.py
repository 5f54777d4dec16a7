"""Examples as rows of tensors: shuffled, drawn with replacement, all at once, or by length."""

import math
from collections.abc import Callable, Mapping

import torch
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.learning.augmentation import Augment
from chainrule.learning.tasks import Task, unchanged
from chainrule.nn.kernels.float_products import places
from chainrule.nn.pixels import unit_range
from chainrule.training import devices
from chainrule.training.checks import check_batches, check_label_settings, check_model, check_split
from chainrule.training.evaluation import evaluate_arrays
from chainrule.training.randomness import bucketed, permutation, with_replacement
from chainrule.training.settings import Settings
from chainrule.training.sources.base import Arrays, Batch, BatchSource, shared


class Rows(BatchSource):
    """Every example once per epoch, in an order that follows from (seed, epoch).

    The last batch may be smaller.

    Args:
        arrays: inputs, then targets, all with equally many rows.
        inputs: how many of the arrays are inputs.
        augment: changes the first input of a training batch; it draws from torch's generator.
    """

    unsupported: Mapping[str, str] = {"sampling": "these batches have an order of their own"}

    def __init__(self, arrays: Arrays, inputs: int = 1, augment: Augment | None = None):
        self.arrays, self.inputs, self.augment = tuple(arrays), inputs, augment

    def __len__(self) -> int:
        return len(self.arrays[0])

    def steps(self, settings: Settings) -> int:
        return math.ceil(len(self) / settings.batch_size)

    def order(self, settings: Settings, epoch: int) -> Tensor:
        return permutation(len(self), settings.seed, epoch)

    def epoch(self, settings: Settings, epoch: int) -> Callable[[int], Batch]:
        order = self.order(settings, epoch).to(self.arrays[0].device)
        several = order.shape[0] > settings.batch_size
        rows = order.split(settings.batch_size) if several else (order,)
        return lambda step: self.gather(rows[step])

    def gather(self, rows: Tensor) -> Batch:
        """These rows as a batch, augmented; images of bytes become numbers in [0, 1]."""
        own = self.own(rows) if self.ranks > 1 else rows
        batch = tuple(t.index_select(0, own) for t in self.arrays)
        batch = (*map(unit_range, batch[: self.inputs]), *batch[self.inputs :])
        if self.augment is not None:
            batch = (self.augment(batch[0]), *batch[1:])
        return Batch(batch[: self.inputs], batch[self.inputs :], rows.shape[0])

    def rows(self, settings: Settings, model: nn.Module) -> int:
        return self.work(settings) * places(self.arrays[0], model)

    def share(self, rank: int, ranks: int) -> "Rows | None":
        drawn = self.augment is not None or type(self).gather is not Rows.gather
        return None if drawn else shared(self, rank, ranks)

    def evaluate(self, model: nn.Module, task: Task) -> dict[str, float]:
        return evaluate_arrays(model, self.arrays, task)

    def check(self, model: nn.Module, task: Task, settings: Settings, name: str) -> None:
        check_split(self.arrays, self.inputs, name)
        arrays = task.targets(self.arrays)
        loss = task.minimized if name == "training" else task.loss
        compared = task.target is not unchanged
        output, losses = check_model(model, loss, arrays, self.inputs, name, compared)
        if name == "training":
            check_label_settings(settings, output, losses, arrays[self.inputs])
            check_batches(model, len(self), len(self) if self.whole else settings.batch_size)

    def prepared(self, task: Task, device: torch.device, training: bool) -> "Rows":
        arrays = task.targets(self.arrays)
        return self.with_arrays(devices.resident(arrays, device) if training else arrays)

    def with_arrays(self, arrays: Arrays) -> "Rows":
        """The same way of taking batches, from other arrays."""
        return type(self)(arrays, self.inputs, self.augment)


class RowsWithReplacement(Rows):
    """Each batch is drawn independently: the stochastic gradient of the theory. Notes: L 7."""

    unsupported: Mapping[str, str] = {}

    def order(self, settings: Settings, epoch: int) -> Tensor:
        return with_replacement(len(self), settings.seed, epoch)


class WholeBatch(Rows):
    """All examples in every step: gradient descent proper."""

    whole = True

    def steps(self, settings: Settings) -> int:
        return 1

    def epoch(self, settings: Settings, epoch: int) -> Callable[[int], Batch]:
        rows = torch.arange(len(self), device=self.arrays[0].device)
        return lambda step: self.gather(rows)

    def work(self, settings: Settings) -> int:
        return len(self)


class BucketedSequences(Rows):
    """Padded sequences; those of similar length share a batch, so that little padding is computed.

    Args:
        lengths: of every sequence, or any number by which to bucket.
    """

    def __init__(
        self,
        arrays: Arrays,
        inputs: int = 1,
        augment: Augment | None = None,
        lengths: Tensor | None = None,
    ):
        super().__init__(arrays, inputs, augment)
        if lengths is None or len(lengths) != len(arrays[0]):
            got = "none" if lengths is None else len(lengths)
            raise InputError(f"expected {len(arrays[0])} `lengths`, one a sequence, got {got}")
        self.lengths = lengths

    def order(self, settings: Settings, epoch: int) -> Tensor:
        order = super().order(settings, epoch)
        return bucketed(order, self.lengths, settings.batch_size, settings.seed, epoch)

    def with_arrays(self, arrays: Arrays) -> "BucketedSequences":
        return BucketedSequences(arrays, self.inputs, self.augment, self.lengths)


class MemoryMappedRows(Rows):
    """Arrays that stay on the disk: only the rows of a batch are read.

    `chainrule.data.memory_mapped` opens .npy files as such tensors. Not all of them are scanned
    for NaN beforehand; a bad batch ends the run with a sentence.
    """

    def check(self, model: nn.Module, task: Task, settings: Settings, name: str) -> None:
        few = Rows(tuple(t[:1024] for t in self.arrays), self.inputs)
        few.check(model, task, settings, name)

    def prepared(self, task: Task, device: torch.device, training: bool) -> "Rows":
        return self.with_arrays(task.targets(self.arrays))


class MirroredRows(Rows):
    """Images with a class for every pixel; half of a training batch is mirrored, masks and all."""

    def gather(self, rows: Tensor) -> Batch:
        batch = super().gather(rows)
        mirrored = torch.rand(len(rows)).to(rows.device) < 0.5
        both = (*batch.inputs, *batch.targets)
        turned = [torch.where(mirrored.view(-1, *[1] * (t.ndim - 1)), t.flip(-1), t) for t in both]
        return Batch(tuple(turned[: self.inputs]), tuple(turned[self.inputs :]), batch.size)
