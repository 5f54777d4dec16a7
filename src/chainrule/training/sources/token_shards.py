"""Random windows of a text that lies in many files of tokens."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.learning.tasks import Task
from chainrule.training.checks import check_learnable, check_text
from chainrule.training.settings import Settings
from chainrule.training.sources.base import Batch
from chainrule.training.sources.random_windows import RandomWindows


class TokenShards(RandomWindows):
    """Random windows of tokens in shards, which may be memory-mapped and larger than memory.

        step t draws B of all windows of T + 1 tokens that lie within a shard, each equally likely

    The windows of step t follow from (seed, t). Only their tokens are read.

    Args:
        shards: tokens of shape (length,) each, of any type of whole numbers, such as
            `chainrule.data.memory_mapped("tokens-0.npy")`.
        context_length: T, tokens of a window.
        epoch_steps: updates per epoch; an epoch is not a pass over the text.
    """

    def __init__(self, shards: Sequence[Tensor], context_length: int = 64, epoch_steps: int = 250):
        if not shards or not all(isinstance(t, Tensor) and t.ndim == 1 for t in shards):
            raise InputError("expected `shards` as one tensor of tokens or more, of one dimension")
        super().__init__((shards[0][:-1], shards[0][1:]), context_length, epoch_steps)
        self.shards = tuple(shards)

    def __len__(self) -> int:
        return sum(map(len, self.shards))

    def prepared(self, task: Task, device: torch.device, training: bool) -> "TokenShards":
        return self

    def epoch(self, settings: Settings, epoch: int) -> Callable[[int], Batch]:
        T, size = self.context_length, settings.batch_size
        ends = torch.tensor([len(shard) - T for shard in self.shards]).cumsum(0)

        def batch(step: int) -> Batch:
            drawn = self.own(torch.randint(int(ends[-1]), (size,)))
            shard = torch.searchsorted(ends, drawn, right=True)
            start = drawn - ends[shard] + torch.tensor([len(self.shards[k]) - T for k in shard])
            pairs = zip(shard.tolist(), start.tolist(), strict=True)
            windows = torch.stack([self.shards[k][s : s + T + 1].long() for k, s in pairs])
            return Batch((windows[:, :-1],), (windows[:, 1:],), size)

        return batch

    def evaluate(self, model: nn.Module, task: Task) -> dict[str, float]:
        """Mean loss per token, of every shard as `RandomWindows` measures it."""
        weights = [(len(shard) - 1) // self.context_length for shard in self.shards]
        texts = ((shard[:-1], shard[1:]) for shard in self.shards)
        losses = [self.on(text).evaluate(model, task)["loss"] for text in texts]
        total = sum(w * loss for w, loss in zip(weights, losses, strict=True))
        return {"loss": total / sum(weights)}

    def check(self, model: nn.Module, task: Task, settings: Settings, name: str) -> None:
        for shard in self.shards:
            check_text((shard[:-1], shard[1:]), name, self.context_length, "longer shards")
        if name == "training":
            check_learnable(model)

    def describe(self) -> dict[str, Any]:
        return super().describe() | {"shards": len(self.shards)}
