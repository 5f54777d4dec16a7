"""The functions of the front door: `chainrule.fit`, `train`, `load` and their like.

They join rooms that do not know each other: the engine with the progress bar, records with curves.
"""

import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from chainrule.arguments import checked
from chainrule.learning.metrics import Metric, format_metric
from chainrule.learning.tasks import Task
from chainrule.training import History as Records
from chainrule.training import Progress
from chainrule.training import evaluate as _evaluate
from chainrule.training import fit as _fit
from chainrule.training import iterate as _iterate
from chainrule.training import predict as _predict
from chainrule.training.fit import Callback
from chainrule.training.objective import Loss, Metrics, objective

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from chainrule.nn.profile import LayerProfile
    from chainrule.runs.run import Run


class History(Records):
    """One record per epoch; `plot()` draws learning curves, and a notebook shows them."""

    def plot(self) -> "Figure":
        """Loss and metrics against the epoch."""
        from chainrule.plots.curves import learning_curves

        return learning_curves(self.records, None, self.kept, self.higher_is_better, self.format)

    def _repr_png_(self) -> bytes:
        content = BytesIO()
        self.plot().savefig(content, format="png", dpi=100)
        return content.getvalue()


@checked
def fit(
    model: nn.Module,
    data: Any,
    validation: Any = None,
    *,
    loss: Loss | None = None,
    metrics: Metrics | None = None,
    task: Task | Loss | None = None,
    callbacks: Sequence[Callback] = (),
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
            source. Several inputs may be a tuple, or a dictionary by argument name.
        validation: what to validate on, where `data` is no splits.
        loss: (output, target …) ↦ one value per example, or one for the batch; by default what the
            targets suggest.
        metrics: names such as "accuracy", or Metric(name, function, higher_is_better).
        task: loss, metrics and the form of a target in one, in place of `loss`.
        callbacks: called with the progress at the end of every epoch; one that returns False or
            raises StopTraining ends the run. A resumed run calls them for past epochs first.
        progress: show a bar; by default on a terminal and in a notebook.
        options: `settings`, `folder`, `device`, or single settings such as epochs=5,
            learning_rate=1e-2, optimizer="adamw" or torch.optim.NAdam, patience=3,
            schedule="cosine" or a function (step, steps) ↦ factor.
    """
    whole = objective(data, task, loss, metrics)
    watch = watcher(progress, whole.metrics)
    found = _fit(model, data, validation, task=whole, callbacks=callbacks, watch=watch, **options)
    return History(found.records, found.stopped, found.kept, found.metrics)


@checked
def iterate(
    model: nn.Module,
    data: Any,
    validation: Any = None,
    *,
    loss: Loss | None = None,
    metrics: Metrics | None = None,
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
        loss: as for `fit`.
        metrics: as for `fit`.
        task: as for `fit`.
        options: as for `fit`.
    """
    whole = objective(data, task, loss, metrics)
    return _iterate(model, data, validation, task=whole, **options)


@checked
def evaluate(
    model: nn.Module,
    data: Any,
    task: Task | Loss | None = None,
    *,
    loss: Loss | None = None,
    metrics: Metrics | None = None,
) -> dict[str, float]:
    """Loss and every metric of one split.

    Args:
        model: a trained module.
        data: a split, a tuple (input …, target), a Dataset or a DataLoader.
        task: as for `fit`.
        loss: as for `fit`.
        metrics: as for `fit`.
    """
    given = loss is not None or metrics is not None
    return _evaluate(model, data, objective(data, task, loss, metrics) if given else task)


def predict(model: nn.Module, *inputs: Any, batch_size: int = 4096) -> Tensor:
    """The model's outputs in evaluation mode, computed batch by batch.

    Args:
        model: a trained module.
        inputs: tensors or arrays, one for each argument of the model, batch first, or a dictionary
            of them by argument name.
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


def watcher(
    progress: bool | None, metrics: Sequence[Metric] = ()
) -> Callable[[Iterator[Progress]], Iterator[Progress]]:
    """What shows progress, where somebody looks; it prints a user's own metrics as they say."""
    from chainrule.console.output import watch

    interactive = sys.stderr.isatty() or "ipykernel" in sys.modules
    quiet = not (interactive if progress is None else progress)
    return lambda steps: watch(steps, quiet, partial(format_metric, own=metrics))
