"""chainrule: a deep-learning course as working software.

    import chainrule as cr
    data = cr.data.digits()
    model = cr.models.MLP(64, [128], 10)
    history = cr.fit(model, data, epochs=5)
    cr.evaluate(model, data.test)
    run = cr.train("digits-mlp", epochs=3)
    cr.check("novikoff").plot()

Everything is imported when it is first used: `import chainrule` itself takes milliseconds.
"""

import os
import sys
from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Threads that wait for each other turn in a loop before they sleep. With libgomp's 300,000 turns an
# epoch takes many times as long while other programs keep the cores busy; 5,000 cost nothing on a
# quiet machine. libgomp reads this when torch loads it, so a torch imported earlier keeps its own.
if "OMP_WAIT_POLICY" not in os.environ:
    os.environ.setdefault("GOMP_SPINCOUNT", "5000")

_FUNCTIONS = {
    "fit": "chainrule.api",
    "iterate": "chainrule.api",
    "evaluate": "chainrule.api",
    "predict": "chainrule.api",
    "train": "chainrule.api",
    "load": "chainrule.api",
    "summary": "chainrule.api",
    "check": "chainrule.lab",
    "fit_many": "chainrule.api",
    "Settings": "chainrule.training",
    "Task": "chainrule.learning.tasks",
    "Metric": "chainrule.learning.metrics",
    "Log": "chainrule.runs.logs",
    "InputError": "chainrule.errors",
    "StopTraining": "chainrule.errors",
}
_MODULES = (
    "autodiff",
    "data",
    "environments",
    "estimators",
    "graphs",
    "lab",
    "learning",
    "models",
    "nn",
    "plots",
    "pretrained",
    "recipes",
    "runs",
    "training",
    "tuning",
)

__all__ = [*_FUNCTIONS, *_MODULES]


def __getattr__(name: str) -> Any:
    """A function or a room of the library, imported when it is first asked for."""
    if name in _FUNCTIONS:
        return getattr(import_module(_FUNCTIONS[name]), name)
    if name in _MODULES:
        return import_module(f"chainrule.{name}")
    raise AttributeError(f"chainrule has no {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


if "IPython" in sys.modules:
    from chainrule.notebook import show_results

    show_results()
