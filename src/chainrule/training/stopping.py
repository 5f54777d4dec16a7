"""Early stopping: the one rule that decides which weights are kept and when to give up.

The epoch with the lowest cost so far is kept; after `patience` epochs without a lower one training
ends. Notes: J 8.3.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass
class EarlyStopping:
    """The best cost so far and its epoch, counted from 1; patience 0 never ends training."""

    patience: int = 0
    best: float = math.inf
    best_epoch: int = 0

    def update(self, epoch: int, cost: float) -> bool:
        """Add an epoch's cost; whether it is the best so far and patience has not run out."""
        if self.exhausted(epoch - 1) or (self.best_epoch and not cost < self.best):
            return False
        self.best, self.best_epoch = cost, epoch
        return True

    def exhausted(self, epoch: int) -> bool:
        """Whether `patience` epochs have passed without a better one."""
        return bool(self.patience) and epoch - self.best_epoch >= self.patience


def last_epoch(costs: Iterable[float], patience: int) -> tuple[int, int]:
    """(epoch whose weights are kept, epoch in which training ends) for these costs."""
    rule, epoch = EarlyStopping(patience), 0
    for epoch, cost in enumerate(costs, 1):
        rule.update(epoch, cost)
        if rule.exhausted(epoch):
            break
    return rule.best_epoch, epoch
