"""The engine: it trains any module on tensors and yields its progress."""

from chainrule.training.evaluate import evaluate, outputs
from chainrule.training.fit import Progress, fit, train
from chainrule.training.settings import Settings

__all__ = ["Progress", "Settings", "evaluate", "fit", "outputs", "train"]
