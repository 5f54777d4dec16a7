"""The functions of the front door, such as `chainrule.fit`; they join rooms that do not know each
other: the engine with the progress bar, records with curves.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from chainrule.arguments import checked
from chainrule.errors import InputError
from chainrule.familiar import as_given
from chainrule.learning.metrics import Metric, format_metric
from chainrule.learning.tasks import Task
from chainrule.training import History as Records
from chainrule.training import Progress, Settings
from chainrule.training import evaluate as _evaluate
from chainrule.training import fit as _fit
from chainrule.training import fit_many as _fit_many
from chainrule.training import iterate as _iterate
from chainrule.training import predict as _predict
from chainrule.training.batched.settings import NAMES, settings_of_each
from chainrule.training.distributed.group import by_script
from chainrule.training.fit import Callback
from chainrule.training.objective import Loss, Metrics, objective, parts_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from chainrule.nn.profile import LayerProfile
    from chainrule.runs.run import Run


class History(Records):
    """One record per epoch; `plot()` draws learning curves, and a notebook shows them.

    >>> import chainrule as cr
    >>> history = cr.fit(cr.models.MLP(2, [4], 2), cr.data.moons(), epochs=1, progress=False)
    >>> sorted(history[0])[:2]
    ['epoch', 'seconds']
    """

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
        data: splits, a tuple (input, target) of tensors, arrays or frames, a Dataset, a DataLoader
            or a batch source; ({"x": x, "mask": mask}, y) and (x, (y, z)) are possible too.
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
    data, validation = as_given(model, data, validation, options)
    whole = objective(data, task, loss, metrics)
    watch = watcher(progress if by_script(options) else False, whole.metrics)
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
    >>> [now.epoch for now in cr.iterate(model, cr.data.digits(), epochs=2) if now.record]
    [1, 2]

    Args:
        model: any module.
        data: as for `fit`.
        validation: as for `fit`.
        loss: as for `fit`.
        metrics: as for `fit`.
        task: as for `fit`.
        options: as for `fit`.
    """
    data, validation = as_given(model, data, validation, options)
    whole = objective(data, task, loss, metrics)
    by_script(options)
    return _iterate(model, data, validation, task=whole, **options)


@checked
def fit_many(
    models: Sequence[nn.Module],
    data: Any,
    validation: Any = None,
    *,
    settings: Sequence[Settings] = (),
    task: Task | None = None,
    **options: Any,
) -> list[History]:
    """Train models of one architecture in place, all in one program; one history for each.

    >>> import chainrule as cr
    >>> models = [cr.models.MLP(64, [32], 10) for _ in range(3)]
    >>> rates = [0.001, 0.01, 0.1]
    >>> histories = cr.fit_many(models, cr.data.digits(), epochs=2, learning_rate=rates)
    >>> len(histories)
    3

    Args:
        models: they may differ in dropout.
        data: splits, or a tuple (input, target) of tensors.
        validation: a tuple of the same kind, where `data` is no splits.
        settings: one for each model, in place of single ones.
        task: by default what the targets suggest.
        options: single settings such as epochs=5, or a list with one value for each model, which
            seed, learning_rate, weight_decay and label_smoothing allow; seeds are 0, 1, 2, … by
            default. Further `folds`, `folder` and `augment` of `chainrule.training.iterate_many`.
    """
    single = {name: options.pop(name) for name in list(options) if name in NAMES}
    if single and settings:
        raise InputError("give `settings` or single ones such as `epochs`, not both")
    train, held = parts_of(data, validation)
    each = settings or settings_of_each(len(models), single)
    found = _fit_many(models, tuple(train), held and tuple(held), each, task, **options)
    return [History(one.records, one.stopped, one.kept, one.metrics) for one in found]


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

    >>> import chainrule as cr
    >>> sorted(cr.evaluate(cr.models.MLP(64, [32], 10), cr.data.digits().test))
    ['accuracy', 'error', 'loss']
    """
    data, _ = as_given(model, data)
    given = loss is not None or metrics is not None
    return _evaluate(model, data, objective(data, task, loss, metrics) if given else task)


def predict(model: nn.Module, *inputs: Any, batch_size: int = 4096) -> Any:
    """The model's outputs in evaluation mode, computed batch by batch.

    Args:
        model: a trained module.
        inputs: tensors or arrays, one for each argument of the model, batch first, or a dictionary
            of them by argument name.
        batch_size: examples in one forward pass.

    >>> import chainrule as cr
    >>> cr.predict(cr.models.MLP(64, [32], 10), cr.data.digits().test.x[:3]).shape
    torch.Size([3, 10])
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
    log: str | Sequence[str] = (),
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
        log: csv, tensorboard, mlflow, wandb, or several of them, which receive every epoch too.
        settings: the recipe's flags, such as epochs=3 or processes=2; also sharded and elastic.

    >>> import chainrule as cr
    >>> from tempfile import mkdtemp
    >>> folder = f"{mkdtemp()}/xor"
    >>> run = cr.train("xor-mlp", epochs=2, out=folder, pictures=False, progress=False)
    >>> len(run.history)
    2
    """
    from chainrule.runs.configuration import configure
    from chainrule.runs.processes import Processes, create, trained
    from chainrule.runs.run import recipe_entry

    kind = Processes.taken_from(settings)
    entry = recipe_entry(recipe)
    configuration = configure(entry.load().Recipe, settings)
    folder, source = (None if path is None else Path(path) for path in (out, data))
    kinds = (log,) if isinstance(log, str) else tuple(log)
    several = kind.many(configuration.options.processes)
    run = create(entry, configuration, several, folder, source, device, kinds)
    return trained(run, several, device, pictures, progress, watcher(progress))


def load(folder: str | Path) -> "Run":
    """A run from before: its model, result, history and predictions.

    Args:
        folder: of the run.

    >>> import chainrule as cr
    >>> from tempfile import mkdtemp
    >>> folder = f"{mkdtemp()}/xor"
    >>> run = cr.train("xor-mlp", epochs=2, out=folder, pictures=False, progress=False)
    >>> len(cr.load(folder).history)
    2
    """
    from chainrule.runs.run import Run

    return Run.load(folder)


def summary(model: nn.Module, *inputs: Tensor) -> "list[LayerProfile]":
    """Output shape, parameters and multiply-adds of every layer, for these inputs.

    Args:
        model: any module.
        inputs: a batch for each argument of the model.

    >>> import torch
    >>> import chainrule as cr
    >>> print(cr.summary(cr.models.MLP(64, [32], 10), torch.zeros(1, 64))[0].parameters)
    2080
    """
    from chainrule.nn.profile import profile

    return profile(model, *inputs)


def watcher(
    progress: bool | None, metrics: Sequence[Metric] = ()
) -> Callable[[Iterator[Progress]], Iterator[Progress]]:
    """What shows progress, where somebody looks; it prints a user's own metrics as they say."""
    from chainrule.console.output import shown, watch

    return lambda steps: watch(steps, not shown(progress), partial(format_metric, own=metrics))
