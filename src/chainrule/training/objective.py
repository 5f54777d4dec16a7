"""What a run minimizes and measures: a task, or a loss and metrics of the user's own.

fit(model, data)                                      what the targets suggest
fit(model, data, loss=f)                              f(output, target …)
fit(model, data, metrics=["mae", Metric(name, f, higher_is_better)])
fit(model, data, task=Task(…))                        everything at once
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset, default_collate

from chainrule.errors import InputError
from chainrule.learning.metrics import METRICS, Metric, measured_elsewhere
from chainrule.learning.tasks import LANGUAGE_MODELING, Task, task_for
from chainrule.registry import unknown
from chainrule.training.settings import Settings
from chainrule.training.sources.base import BatchSource
from chainrule.training.sources.blocks import Blocks
from chainrule.training.sources.convert import as_source
from chainrule.training.sources.loaders import CollatedSource, LoaderSource, flattened
from chainrule.training.sources.rows import Rows
from chainrule.training.sources.text import TextSource

Loss = Callable[..., Any]
Metrics = Sequence[str | Metric | Callable[..., Any]]
COMPUTED = [m.name for m in METRICS.values() if m.function is not measured_elsewhere]


def parts_of(data: Any, validation: Any) -> tuple[Any, Any]:
    """(train, validation) of splits, or as given."""
    if not (hasattr(data, "train") and hasattr(data, "validation")) or isinstance(data, nn.Module):
        return data, validation
    if validation is not None:
        raise InputError("`data` has a validation split already; leave `validation` out")
    train = getattr(data, "blocks", data.train)  # all training rows, where they are on the disk
    return train, data.validation if len(flattened(data.validation)[0]) else None


def objective(
    data: Any,
    task: Task | Loss | None = None,
    loss: Loss | None = None,
    metrics: Metrics | None = None,
) -> Task:
    """The task of a run on this data, from what the user gave of it."""
    if loss is not None and task is not None:
        raise InputError("`task` holds a loss of its own; give `loss` or `task`, not both")
    chosen = chosen_task(task if loss is None else loss, data, parts_of(data, None)[0])
    return chosen if metrics is None else replace(chosen, metrics=named_metrics(metrics))


def named_metrics(metrics: Metrics) -> tuple[Metric, ...]:
    """Metrics by name, as a Metric, or as a function that says its better direction."""
    found = tuple(map(as_metric, metrics))
    names = [metric.name for metric in found]
    twice = next((name for name in names if names.count(name) > 1 or name == "loss"), None)
    if twice is not None:
        raise InputError(f"two `metrics` are called {twice}; give one of them another name")
    return found


def as_metric(metric: Any) -> Metric:
    """A Metric; torchmetrics and functions with an attribute `higher_is_better` become one."""
    if isinstance(metric, Metric):
        return metric
    if isinstance(metric, str):
        if metric not in COMPUTED:
            raise InputError(unknown("metric", metric, COMPUTED))
        return METRICS[metric]
    name = getattr(metric, "__name__", type(metric).__name__)
    direction = getattr(metric, "higher_is_better", None)
    if not callable(metric) or not isinstance(direction, bool):
        raise InputError(
            f"is a higher {name} better? expected `metrics` as names, or as "
            f"Metric({name!r}, function, higher_is_better) with True or False"
        )
    return Metric(name, metric, direction)


def chosen_task(task: Task | Loss | None, data: Any, train: Any) -> Task:
    """The given task, a user's loss as a task, or what the targets suggest."""
    if isinstance(task, Task):
        return task
    if task is not None and not callable(task):
        raise InputError(
            "expected `task` as a Task, such as chainrule.learning.tasks.REGRESSION, or a loss "
            f"function, got {task!r}"
        )
    if isinstance(train, TextSource):
        return LANGUAGE_MODELING if task is None else custom_task(task, 1)
    tensors, inputs = sample(train)
    if task is not None:
        return custom_task(task, inputs)
    classes = getattr(data, "classes", None)
    found = task_for(tensors[inputs], None if classes is None else len(classes))
    return found if inputs == 1 else replace(found, inputs=inputs)


def custom_task(loss: Loss, inputs: int) -> Task:
    """A task without metrics around a user's loss."""
    return Task(getattr(loss, "__name__", "custom loss"), PerExample(loss), inputs=inputs)


class PerExample:
    """A user's loss whose values (n, 1) are taken as (n,), as `reduction="none"` of torch gives.

    Args:
        loss: (output, target …) ↦ one value per example, or one for the batch.
    """

    of_the_user = True

    def __init__(self, loss: Loss):
        self.loss = loss
        self.__name__ = getattr(loss, "__name__", type(loss).__name__)

    def __call__(self, output: Any, *targets: Tensor) -> Any:
        found = self.loss(output, *targets)
        column = getattr(found, "ndim", 0) == 2 and found.shape[1] == 1
        return found[:, 0] if column else found


def sample(data: Any) -> tuple[tuple[Tensor, ...], int]:
    """Some examples as (input …, target …), and how many of the tensors are inputs."""
    if isinstance(data, Rows):
        return data.arrays, data.inputs
    if isinstance(data, CollatedSource):
        return flattened(next(data.all(), ())), data.inputs
    if isinstance(data, BatchSource):
        raise InputError(f"expected a `task` for batches of {type(data).__name__}, got none")
    data = first_examples(data)
    arrays = flattened(data) if isinstance(data, tuple | list) else ()
    if len(arrays) < 2 or not all(isinstance(t, Tensor) for t in arrays):
        kinds = ", ".join(type(part).__name__ for part in arrays[:8]) or type(data).__name__
        raise InputError(
            "expected splits, or (input, target) as tensors, a Dataset or a DataLoader, got "
            f"{kinds}; several inputs may be a tuple or a dictionary, ({{'x': x}}, y), and several "
            "targets a tuple, (x, (y, z))"
        )
    targets = data[-1]
    return arrays, len(arrays) - (len(targets) if type(targets) in (tuple, list) else 1)


def first_examples(data: Any) -> Any:
    """(inputs, target …) as the data gives them: some rows of a data set, all of a tuple."""
    if isinstance(data, TensorDataset):
        return data.tensors
    if isinstance(data, IterableDataset | Blocks):
        data = as_source(data, Settings())
    if isinstance(data, DataLoader):
        data = LoaderSource(data)
    if isinstance(data, CollatedSource):
        return next(data.all(), ())
    return default_collate([data[0]]) if isinstance(data, Dataset) else data
