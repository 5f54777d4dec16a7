"""The engine: one loop over batch sources, which trains any module and yields its progress."""

from chainrule.training.batched.loop import fit_many, iterate_many
from chainrule.training.evaluation import outputs
from chainrule.training.fit import evaluate, fit, iterate, predict
from chainrule.training.progress import History, Progress, Record
from chainrule.training.settings import Settings

__all__ = [
    "History",
    "Progress",
    "Record",
    "Settings",
    "evaluate",
    "fit",
    "fit_many",
    "iterate",
    "iterate_many",
    "outputs",
    "predict",
]
