"""One long text as a source of batches: what its kinds share."""

from abc import abstractmethod

import torch
import torch.nn.functional as F
from torch import Tensor

from chainrule.learning.tasks import Task
from chainrule.training import devices
from chainrule.training.evaluation import as_float
from chainrule.training.sources.base import Arrays, BatchSource

REASON = "a text has no separate examples"


class TextSource(BatchSource):
    """A text as (tokens, next tokens), each of shape (length,).

    Tokens of a smaller type than int64 stay as they are, maybe on the disk, until a batch is taken.
    """

    unsupported = dict.fromkeys(
        ("accumulate", "class_weights", "label_smoothing", "sampling"), REASON
    )

    def __init__(self, text: Arrays):
        self.text = tuple(text)

    def __len__(self) -> int:
        return len(self.text[0])

    @abstractmethod
    def on(self, text: Arrays) -> "TextSource":
        """The same kind of source for another text."""

    def prepared(self, task: Task, device: torch.device, training: bool) -> "TextSource":
        compact = self.text[0].dtype != torch.int64
        text = self.text if compact else task.targets(self.text)
        return self.on(devices.resident(text, device) if training else text)


def summed_loss(logits: Tensor, y: Tensor) -> float:
    """Σ -log p of all tokens."""
    flat = as_float(logits).flatten(0, 1), y.flatten()
    return F.cross_entropy(*flat, reduction="sum").item()
