"""The engine: it trains any module on tensors and yields its progress."""

from chainrule.training.batched.loop import fit_many
from chainrule.training.evaluation import evaluate, outputs
from chainrule.training.loop import Progress, fit, train
from chainrule.training.settings import Settings
from chainrule.training.tbptt import fit_stream

__all__ = ["Progress", "Settings", "evaluate", "fit", "fit_many", "fit_stream", "outputs", "train"]
