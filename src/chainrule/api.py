"""The functions of the front door: `chainrule.fit`, `train`, `load` and their like.

They join rooms that do not know each other: the engine with the progress bar, records with curves.
"""

import sys
from collections.abc import Callable, Generator, Iterator
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from chainrule.learning.metrics import format_metric
from chainrule.learning.tasks import Task
from chainrule.training import History as Records
from chainrule.training import Progress
from chainrule.training import evaluate as _evaluate
from chainrule.training import fit as _fit
from chainrule.training import iterate as _iterate
from chainrule.training import predict as _predict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from chainrule.nn.profile import LayerProfile
    from chainrule.runs.run import Run

Loss = Callable[..., Tensor]


class History(Records):
    """One record per epoch; `plot()` draws learning curves, and a notebook shows them."""

    def plot(self) -> "Figure":
        """Loss and metrics against the epoch."""
        from chainrule.plots.curves import learning_curves

        return learning_curves(self.records, None, self.kept, self.higher_is_better, format_metric)

    def _repr_png_(self) -> bytes:
        content = BytesIO()
        self.plot().savefig(content, format="png", dpi=100)
        return content.getvalue()


def fit(
    model: nn.Module,
    data: Any,
    validation: Any = None,
    *,
    task: Task | Loss | None = None,
    progress: bool | None = None,
    **options: Any,
) -> History:
    """Train a model in place to the end, with a progress bar; returns one record per epoch.

    >>> import chainrule as cr
    >>> history = cr.fit(cr.models.MLP(64, [32], 10), cr.data.digits(), epochs=2, progress=False)
    >>> len(history)
    2

    Args:
        model: any module.
        data: splits, a tuple (input …, target) of tensors, a Dataset, a DataLoader or a batch
            source.
        validation: what to validate on, where `data` is no splits.
        task: a Task, or a loss (output, target …) of your own; by default what the targets suggest.
        progress: show a bar; by default on a terminal and in a notebook.
        options: `settings`, `folder`, `device`, or single settings such as epochs=5,
            learning_rate=1e-2, optimizer="adamw", patience=3.
    """
    found = _fit(model, data, validation, task=task, watch=watcher(progress), **options)
    return History(found.records, found.stopped, found.kept, found.metrics)


def iterate(
    model: nn.Module,
    data: Any,
    validation: Any = None,
    *,
    task: Task | Loss | None = None,
    **options: Any,
) -> Generator[Progress]:
    """Train a model step by step: a generator of progress, which may be stopped at any time.

    >>> import chainrule as cr
    >>> model = cr.models.MLP(64, [32], 10)
    >>> for progress in cr.iterate(model, cr.data.digits(), epochs=2):
    ...     if progress.record:
    ...         print(progress.epoch)
    1
    2

    Args:
        model: any module.
        data: as for `fit`.
        validation: as for `fit`.
        task: as for `fit`.
        options: as for `fit`.
    """
    return _iterate(model, data, validation, task=task, **options)


def evaluate(model: nn.Module, data: Any, task: Task | Loss | None = None) -> dict[str, float]:
    """Loss and every metric of one split.

    Args:
        model: a trained module.
        data: a split, a tuple (input …, target), a Dataset or a DataLoader.
        task: as for `fit`.
    """
    return _evaluate(model, data, task)


def predict(model: nn.Module, *inputs: Any, batch_size: int = 4096) -> Tensor:
    """The model's outputs in evaluation mode, computed batch by batch.

    Args:
        model: a trained module.
        inputs: tensors or arrays, one for each argument of the model, batch first.
        batch_size: examples in one forward pass.
    """
    return _predict(model, *inputs, batch_size=batch_size)


def train(
    recipe: str | Path,
    *,
    out: str | Path | None = None,
    data: str | Path | None = None,
    device: str = "auto",
    pictures: bool = True,
    progress: bool | None = None,
    **settings: Any,
) -> "Run":
    """Train a recipe of the course, or your own recipe file, and leave a run folder.

    Args:
        recipe: its name, as `chainrule list recipes` shows, or the path of a recipe file.
        out: the run folder; by default runs/RECIPE-1, -2, …
        data: folder of the data sets; by default $CHAINRULE_DATA, else the user's cache.
        device: cpu, cuda, mps, or auto for the best one present.
        pictures: draw pictures of the result.
        progress: show a bar; by default on a terminal and in a notebook.
        settings: the recipe's flags, such as epochs=3 or members=5.
    """
    from chainrule.runs.configuration import configure
    from chainrule.runs.run import Run, recipe_entry

    entry = recipe_entry(recipe)
    configuration = configure(entry.load().Recipe, settings)
    folder, source = (None if path is None else Path(path) for path in (out, data))
    run = Run.create(entry, configuration, folder, source, device)
    for _ in watcher(progress)(run.train(device, pictures)):
        pass
    return run


def load(folder: str | Path) -> "Run":
    """A run from before: its model, result, history and predictions.

    Args:
        folder: of the run.
    """
    from chainrule.runs.run import Run

    return Run.load(folder)


def summary(model: nn.Module, *inputs: Tensor) -> "list[LayerProfile]":
    """Output shape, parameters and multiply-adds of every layer, for these inputs.

    Args:
        model: any module.
        inputs: a batch for each argument of the model.
    """
    from chainrule.nn.profile import profile

    return profile(model, *inputs)


def watcher(progress: bool | None) -> Callable[[Iterator[Progress]], Iterator[Progress]]:
    """What shows progress, where somebody looks."""
    from chainrule.console.output import watch

    interactive = sys.stderr.isatty() or "ipykernel" in sys.modules
    quiet = not (interactive if progress is None else progress)
    return lambda steps: watch(steps, quiet, format_metric)
